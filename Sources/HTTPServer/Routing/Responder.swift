import Reactor

package typealias Handler = @Sendable (Request) async throws -> Response

/// Wraps handlers: may answer by itself, or call `next` and change the answer.
///
/// `next` throws only errors that become answers: others are already error pages.
package typealias Middleware = @Sendable (_ request: Request, _ next: Handler) async throws -> Response

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
  /// The most bytes of a body; a longer one is answered with 413 before it is read.
  package var bodyLimit: Int
  /// Whether the handler is cancelled when the client closes its side.
  package var endsWithClient = false
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
