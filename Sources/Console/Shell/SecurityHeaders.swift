import HTTPServer

/// The security headers of every answer.
enum SecurityHeaders {
  /// Only files of this origin: no inline scripts or styles, no frames, no plug-ins; forms post to this origin.
  static let policy = """
    default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'
    """

  private static let documents = HeaderBlock([
    .init(name: "Content-Security-Policy", value: policy), .init(name: "X-Content-Type-Options", value: "nosniff"),
    .init(name: "X-Frame-Options", value: "DENY"), .init(name: "Referrer-Policy", value: "same-origin"),
    .init(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
    .init(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
  ])
  /// Style sheets, scripts, fonts and photos. What a browser may do with them is the policy of the page that loads them:
  /// it ignores theirs, and what they would say of frames, referrers and openers. In an address bar they are text or a
  /// picture, and `nosniff` keeps them so. A script is run as a worker only by a page of this origin, and none does. SVG,
  /// JSON and every error are documents. On a first page this saves 300 bytes for each file.
  private static let parts = HeaderBlock([
    .init(name: "X-Content-Type-Options", value: "nosniff"),
    .init(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
  ])
  private static let overTLS = HeaderBlock([
    .init(name: "Strict-Transport-Security", value: "max-age=31536000; includeSubDomains")
  ])

  static func add(to response: inout Response, isSecure: Bool) {
    response.headers.setDefaults(response.isPart ? parts : documents)
    if isSecure { response.headers.setDefaults(overTLS) }
  }
}
