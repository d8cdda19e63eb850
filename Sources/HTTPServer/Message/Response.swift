/// An answer. The server adds `Date`, `Content-Length` or `Transfer-Encoding`, `Connection` and `X-Request-Id`;
/// whatever stands under these names in `headers` is left out.
package struct Response: Sendable {
  /// The status.
  package var status: Status
  /// The fields.
  package var headers: Headers
  /// The body; not sent for HEAD, 204 and 304.
  package var body: ResponseBody
  package init(_ status: Status = .ok, headers: Headers = Headers(), body: ResponseBody = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A body of UTF-8 text.
  package static func text(_ text: String, status: Status = .ok) -> Response {
    Response(status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array(text.utf8)))
  }

  /// A page.
  package static func html(_ page: String, status: Status = .ok) -> Response {
    Response(status, headers: ["Content-Type": "text/html; charset=utf-8"], body: .bytes(Array(page.utf8)))
  }

  /// A body of JSON.
  package static func json(_ bytes: [UInt8], status: Status = .ok, type: String = "application/json") -> Response {
    Response(status, headers: ["Content-Type": type], body: .bytes(bytes))
  }

  /// Sends the browser elsewhere; 303 asks there with GET.
  ///
  /// - Parameter location: a path or an address, percent-encoded.
  package static func redirect(to location: String, status: Status = .seeOther) -> Response {
    Response(status, headers: ["Location": location])
  }

  /// A stream of events: the connection stays open until `body` returns, the client goes or the server stops.
  package static func events(
    _ body: @escaping @Sendable (EventStream) async throws -> Void
  ) -> Response {
    Response(
      headers: [
        "Content-Type": "text/event-stream", "Cache-Control": "no-store",
        // For nginx in front, which else would gather the events.
        "X-Accel-Buffering": "no",
      ], body: .events(body))
  }

  /// Adds a `Set-Cookie` field.
  package mutating func setCookie(_ cookie: Cookie) { headers.append("Set-Cookie", cookie.fieldValue) }
}
