package import Reactor

/// A request whose head has arrived; its body comes when it is asked for.
package struct Request: Sendable {
  /// The method.
  package let method: Method
  /// The path split at its slashes and then percent-decoded: `/a/b%2Fc` is `["a", "b/c"]`, `/` is `[]`,
  /// `/a/` is `["a", ""]`. Never `.` or `..`, never with NUL.
  package let pathSegments: [String]
  /// Where the request came from. A middleware that trusts a proxy may set it anew.
  package var remoteAddress: SocketAddress?
  /// Whether it came over TLS. A middleware that trusts a proxy may set it anew.
  package var isSecure: Bool
  /// The values of the route's `:name` and `*rest` segments.
  package var parameters: Parameters
  /// The body.
  package let body: RequestBody
  /// The pattern of the route that was chosen, as `/pushes/:id`; nil if none was.
  package internal(set) var route: String?
  /// Things that middleware leaves for handlers, by type.
  package var context: RequestContext
  let head: RequestHead
  let number: UInt64
  /// Is told of failures that became an answer inside the router.
  var report: (@Sendable (Failure) -> Void)?

  init(
    head: RequestHead, body: RequestBody, remoteAddress: SocketAddress?, isSecure: Bool, number: UInt64
  ) {
    method = head.method
    pathSegments = head.segments
    self.head = head
    self.body = body
    self.remoteAddress = remoteAddress
    self.isSecure = isSecure
    self.number = number
    parameters = Parameters()
    context = RequestContext()
  }

  /// Makes a request without a connection, for tests of handlers.
  ///
  /// - Throws: an ``HTTPResponseError`` for a head that the server would refuse. `Host` is added if missing.
  package init(
    _ method: Method, _ target: String, headers: Headers = Headers(), body: [UInt8] = [],
    remoteAddress: SocketAddress? = nil, isSecure: Bool = false
  ) throws {
    var text = "\(method) \(target) HTTP/1.1\r\n"
    if !headers.contains("Host") { text += "Host: localhost\r\n" }
    for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
    text += "\r\n"
    var parser = RequestParser()
    var offset = 0
    let event = Array(text.utf8).withUnsafeBufferPointer { parser.next($0, &offset) }
    switch event {
    case .head(let head):
      if let problem = head.problem { throw problem }
      self.init(
        head: head, body: RequestBody(body), remoteAddress: remoteAddress, isSecure: isSecure,
        number: RequestNumber.random())
    case .failed(let error): throw error
    case .needsMore, .body, .end: throw HTTPError(.badRequest, "The request has no head.")
    }
  }

  /// The target as it was sent.
  package var target: String { head.text(head.target) }

  /// The path as it was sent, still percent-encoded; empty for `OPTIONS *`.
  package var path: String { head.text(head.path) }

  /// What follows `?`, still percent-encoded.
  package var query: String? { head.query.map(head.text) }

  /// The query's pairs, decoded.
  package var queryItems: URLEncodedForm {
    guard let query = head.query else { return URLEncodedForm() }
    // Wrong escapes are refused before a handler is asked, so that only the number of pairs can be too high: then the rest is cut.
    return URLEncodedForm(lenient: head.bytes[query])
  }

  /// The header fields.
  package var headers: Headers { Headers(received: head) }

  /// Host and port as the client named them.
  package var host: String? { head.host.map(head.text) }

  /// The first value of a header field.
  package func header(_ name: String) -> String? { head.first(named: name) }

  /// All cookies, in their order.
  package var cookies: [(name: String, value: String)] {
    headers.values(of: "Cookie").flatMap(Cookie.pairs)
  }

  /// The first cookie of that name.
  package func cookie(_ name: String) -> String? {
    head.first(named: "Cookie") == nil ? nil : cookies.first { $0.name == name }?.value
  }

  /// Names the request in logs and in the answer's `X-Request-Id`: the client's own id if it is at most 64
  /// letters, digits, `-`, `_` and `.`, else a random one.
  package var id: String { RequestNumber.accepted(head.first(named: "X-Request-Id")) ?? RequestNumber.text(number) }

  /// `Content-Type` without parameters, in small letters.
  package var mediaType: String? {
    header("Content-Type").map { String(($0.split(separator: ";").first ?? "").trimmedOfSpace).lowercased() }
  }

  /// A route's parameter as another type.
  ///
  /// - Throws: 404 if the text is no such value: an address that no resource can have.
  package func parameter<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type = Value.self) throws
    -> Value
  {
    guard let text = parameters[name], let value = Value(text) else { throw HTTPError(.notFound) }
    return value
  }

  /// Reads the whole body as a form.
  ///
  /// - Throws: 415 for another content type, 413 above the limit, 400 for wrong escapes.
  package func form(upTo limit: Int = 1 << 20) async throws -> URLEncodedForm {
    guard mediaType == "application/x-www-form-urlencoded" else {
      throw HTTPError(.unsupportedMediaType, "The body must be application/x-www-form-urlencoded.")
    }
    return try URLEncodedForm(try await body.collect(upTo: limit))
  }
}
