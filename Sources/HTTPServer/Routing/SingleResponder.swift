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
