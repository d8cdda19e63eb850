import HTTPServer

/// The security headers of every answer.
enum SecurityHeaders {
  /// Only files of this origin: no inline scripts or styles, no frames, no plug-ins; forms post to this origin.
  static let policy = """
    default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'
    """

  private static let everywhere = HeaderBlock([
    .init(name: "Content-Security-Policy", value: policy), .init(name: "X-Content-Type-Options", value: "nosniff"),
    .init(name: "X-Frame-Options", value: "DENY"), .init(name: "Referrer-Policy", value: "same-origin"),
    .init(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
    .init(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
  ])
  private static let overTLS = HeaderBlock([
    .init(name: "Strict-Transport-Security", value: "max-age=31536000; includeSubDomains")
  ])

  static func add(to response: inout Response, isSecure: Bool) {
    response.headers.setDefaults(everywhere)
    if isSecure { response.headers.setDefaults(overTLS) }
  }
}
