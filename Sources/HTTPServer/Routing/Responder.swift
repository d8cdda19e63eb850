/// Answers a request.
package typealias Handler = @Sendable (Request) async throws -> Response

/// Stands before handlers: may answer itself, or call `next` and change what comes back.
///
/// `next` throws nothing that is not an answer: errors of what it calls are already error pages.
package typealias Middleware = @Sendable (_ request: Request, _ next: Handler) async throws -> Response

/// What a server asks about each request.
package protocol Responder: Sendable {
  /// Chooses who answers, before anything of the body is read. Called on the event loop: must not block.
  func resolve(_ request: inout Request) -> Resolution

  /// Makes the page for a failure: of a handler, or of a request that could not be read.
  func errorResponse(for failure: Failure) -> Response

  /// Whether ``resolve(_:)`` itself refuses a body that is declared longer than allowed, with a page of its own; if
  /// not, the server does.
  var refusesLongBodies: Bool { get }
}

extension Responder {
  /// The server does.
  package var refusesLongBodies: Bool { false }
}
