import Reactor

package typealias Handler = @Sendable (Request) async throws -> Response

/// Answers on the event loop without a task of its own, from what is in memory; nil leaves the request to the route's
/// handler. Must not block. Its answer is sent as it is: it negotiates the content coding itself.
package typealias QuickHandler = @Sendable (Request) throws -> Response?

/// Steps around all handlers. Both are synchronous, so that a quick answer passes them too.
package struct Middleware: Sendable {
  /// Before the handler: may change the request, or refuse it by an error, which becomes an answer.
  package var prepare: @Sendable (inout Request) throws -> Void
  /// After the handler, for answers and error pages. Not called if `prepare` has thrown.
  package var finish: @Sendable (inout Response, Request) -> Void
  package init(
    prepare: @escaping @Sendable (inout Request) throws -> Void = { _ in },
    finish: @escaping @Sendable (inout Response, Request) -> Void = { _, _ in }
  ) {
    self.prepare = prepare
    self.finish = finish
  }
}

/// Chooses and renders the answers of a server.
package protocol Responder: Sendable {
  /// Chooses the handler before any of the body is read. Called on the event loop: must not block.
  func resolve(_ request: inout Request) -> Resolution

  /// Renders a failure of a handler, or of a request that could not be read.
  func errorResponse(for failure: Failure) -> Response

  /// Whether ``resolve(_:)`` refuses a body that is declared too long with a page of its own; otherwise the server
  /// refuses it.
  var refusesLongBodies: Bool { get }
}

extension Responder {
  package var refusesLongBodies: Bool { false }
}

/// The handler of a request, and its limits.
package struct Resolution: Sendable {
  package var handler: Handler
  /// Tried first.
  package var quick: QuickHandler?
  /// The most bytes of a body; a longer one is answered with 413 before it is read.
  package var bodyLimit: Int
  /// Whether the handler is cancelled when the client closes its side.
  package var endsWithClient = false
  /// Whether the handler may wait for something to happen, and so does not count for ``ServerConfiguration/requestsOfClient``.
  package var mayWait = false
  /// The longest total wait for the pieces of the body; nil: the server's default.
  package var bodyTimeLimit: Duration?
  package init(bodyLimit: Int = 1 << 20, bodyTimeLimit: Duration? = nil, handler: @escaping Handler) {
    self.handler = handler
    self.bodyLimit = bodyLimit
    self.bodyTimeLimit = bodyTimeLimit
  }
}

/// An error that becomes an error page.
package struct Failure: Sendable {
  package let status: Status
  /// A sentence for the client; may be empty.
  package let message: String
  /// Fields that the answer must have.
  package let headers: Headers
  /// Nil if the request could not be read.
  package let request: Request?
  package let requestID: String
  /// The thrown error; never shown to clients.
  package let error: any Error

  init(_ error: any Error, request: Request?, requestID: String) {
    let known = error as? any HTTPResponseError
    // A shortage of descriptors is temporary and not the request's fault.
    let isShort = (error as? SystemError)?.isOutOfDescriptors ?? false
    status = known?.status ?? (isShort ? .serviceUnavailable : .internalServerError)
    message = known?.message ?? ""
    headers = known?.headers ?? (isShort ? ["Retry-After": ServerWarning.retryAfter] : Headers())
    self.request = request
    self.requestID = requestID
    self.error = error
  }

  /// The answer of a server without error pages: one or two lines of text.
  package var plainResponse: Response {
    var response = Response.text("\(status)\n" + (message.isEmpty ? "" : message + "\n"), status: status)
    for field in headers.fields { response.headers.append(field.name, field.value) }
    return response
  }
}
