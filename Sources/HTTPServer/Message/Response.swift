package import Reactor

/// An answer. The server adds `Date`, `Content-Length` or `Transfer-Encoding`, `Connection` and `X-Request-Id`, and
/// ignores those in `headers`.
package struct Response: Sendable {
  package var status: Status
  package var headers: Headers
  /// Not sent for HEAD, 204 and 304.
  package var body: ResponseBody
  /// Who asked, for the access log; not sent.
  package var actor: String?
  /// Whether it is a file that browsers only use within a page, such as a style sheet; not sent.
  package var isPart = false
  /// Where the request came from as the middleware sees it, for the access log; nil: as the connection has it.
  package var remoteAddress: SocketAddress?

  package init(
    _ status: Status = .ok, headers: Headers = Headers(), body: ResponseBody = .none, isPart: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isPart = isPart
  }

  package static func text(_ text: String, status: Status = .ok) -> Response {
    Response(status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array(text.utf8)))
  }

  package static func json(_ bytes: [UInt8], status: Status = .ok, type: String = "application/json") -> Response {
    Response(status, headers: ["Content-Type": type], body: .bytes(bytes))
  }

  /// Redirects the browser; 303 makes it use GET.
  ///
  /// - Parameter location: a path or an address, percent-encoded.
  package static func redirect(to location: String, status: Status = .seeOther) -> Response {
    Response(status, headers: ["Location": location])
  }

  /// A stream of events: the connection stays open until `body` returns, the client disconnects or the server stops.
  package static func events(
    _ body: @escaping @Sendable (EventStream) async throws -> Void
  ) -> Response {
    Response(
      headers: [
        "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store",
        // Stops nginx from buffering the events.
        "X-Accel-Buffering": "no",
      ], body: .events(body))
  }

  package mutating func setCookie(_ cookie: Cookie) { headers.append("Set-Cookie", cookie.fieldValue) }
}
