import HTTPServer

/// What every answer says to browsers about what it may do.
enum SecurityHeaders {
  /// Own files only: no inline script or style, no frames, no plug-ins, forms to ourselves.
  static let policy = """
    default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'
    """

  static func add(to response: inout Response, isSecure: Bool) {
    response.headers.setDefault("Content-Security-Policy", policy)
    response.headers.setDefault("X-Content-Type-Options", "nosniff")
    response.headers.setDefault("X-Frame-Options", "DENY")
    response.headers.setDefault("Referrer-Policy", "same-origin")
    response.headers.setDefault("Cross-Origin-Opener-Policy", "same-origin")
    response.headers.setDefault("Cross-Origin-Resource-Policy", "same-origin")
    if isSecure { response.headers.setDefault("Strict-Transport-Security", "max-age=31536000; includeSubDomains") }
  }
}
