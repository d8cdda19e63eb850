/// Answers a request.
public typealias Handler = @Sendable (Request) async throws -> Response

/// Stands before handlers: may answer itself, or call `next` and change what comes back.
///
/// `next` throws nothing that is not an answer: errors of what it calls are already error pages.
public typealias Middleware = @Sendable (_ request: Request, _ next: Handler) async throws -> Response

/// What a server asks about each request.
public protocol Responder: Sendable {
  /// Chooses who answers, before anything of the body is read. Called on the event loop: must not block.
  func resolve(_ request: inout Request) -> Resolution

  /// Makes the page for a failure: of a handler, or of a request that could not be read.
  func errorResponse(for failure: Failure) -> Response
}

/// Who answers a request, and how much body it may have.
public struct Resolution: Sendable {
  /// Answers.
  public var handler: Handler
  /// The most bytes of a body; more is answered with 413 before it is read.
  public var bodyLimit: Int

  /// Creates a resolution.
  public init(bodyLimit: Int = 1 << 20, handler: @escaping Handler) {
    self.handler = handler
    self.bodyLimit = bodyLimit
  }
}

/// An error that is to become a page.
public struct Failure: Sendable {
  /// The status of the answer.
  public let status: Status
  /// A sentence for the person who sent the request; may be empty.
  public let message: String
  /// Fields that the answer must have.
  public let headers: Headers
  /// The request; nil if it could not be read.
  public let request: Request?
  /// Names the request in log and answer.
  public let requestID: String
  /// What was thrown; not for strangers' eyes.
  public let error: any Error

  init(_ error: any Error, request: Request?, requestID: String) {
    let known = error as? any HTTPResponseError
    status = known?.status ?? .internalServerError
    message = known?.message ?? ""
    headers = known?.headers ?? Headers()
    self.request = request
    self.requestID = requestID
    self.error = error
  }

  /// The answer of a server without pages: one or two lines of text.
  public var plainResponse: Response {
    var response = Response.text("\(status)\n" + (message.isEmpty ? "" : message + "\n"), status: status)
    for field in headers.fields { response.headers.append(field.name, field.value) }
    return response
  }
}

/// A responder that is one function.
public struct SingleResponder: Responder {
  private let handler: Handler

  /// Lets `handler` answer everything.
  public init(_ handler: @escaping Handler) { self.handler = handler }

  /// The function.
  public func resolve(_ request: inout Request) -> Resolution { Resolution(handler: handler) }

  /// Plain text.
  public func errorResponse(for failure: Failure) -> Response { failure.plainResponse }
}
