/// The status code of a response (RFC 9110 section 15).
package struct Status: Sendable, Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  package let code: Int

  /// A code outside of 100...599 is a programming mistake.
  package init(_ code: Int) {
    precondition((100...599).contains(code), "a status code has three digits from 100 to 599")
    self.code = code
  }

  package init(integerLiteral value: Int) { self.init(value) }

  /// The registered phrase, `Unknown` for others.
  package var reason: String { Self.reasons[code] ?? "Unknown" }

  package var description: String { "\(code) \(reason)" }

  /// Whether such a response never has a body (RFC 9110 section 6.4.1).
  var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

  /// The encoded status line, such as `HTTP/1.1 200 OK`, with its line end.
  var line: [UInt8] { Self.lines[code - 100] }

  private static let lines: [[UInt8]] = (100...599).map { Array("HTTP/1.1 \(Status($0))\r\n".utf8) }

  private static let reasons: [Int: String] = [
    100: "Continue", 101: "Switching Protocols",
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
    301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
    415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
    421: "Misdirected Request", 422: "Unprocessable Content", 428: "Precondition Required",
    429: "Too Many Requests", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
  ]
}

extension Status {
  package static let ok: Status = 200
  package static let created: Status = 201
  package static let accepted: Status = 202
  package static let noContent: Status = 204
  package static let partialContent: Status = 206
  /// Continue at the given address with GET.
  package static let seeOther: Status = 303
  package static let notModified: Status = 304
  package static let badRequest: Status = 400
  package static let unauthorized: Status = 401
  package static let forbidden: Status = 403
  package static let notFound: Status = 404
  package static let methodNotAllowed: Status = 405
  package static let requestTimeout: Status = 408
  package static let conflict: Status = 409
  package static let lengthRequired: Status = 411
  package static let preconditionFailed: Status = 412
  package static let contentTooLarge: Status = 413
  package static let uriTooLong: Status = 414
  package static let unsupportedMediaType: Status = 415
  package static let rangeNotSatisfiable: Status = 416
  package static let expectationFailed: Status = 417
  /// The request is for another host.
  package static let misdirectedRequest: Status = 421
  package static let unprocessableContent: Status = 422
  package static let tooManyRequests: Status = 429
  package static let headerFieldsTooLarge: Status = 431
  package static let internalServerError: Status = 500
  package static let notImplemented: Status = 501
  package static let serviceUnavailable: Status = 503
  package static let versionNotSupported: Status = 505
  /// No space for what the request would store (RFC 4918 section 11.5).
  package static let insufficientStorage: Status = 507
}
