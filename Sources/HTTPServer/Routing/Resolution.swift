/// Who answers a request, and how much body it may have.
public struct Resolution: Sendable {
  /// Answers.
  public var handler: Handler
  /// The most bytes of a body; more is answered with 413 before it is read.
  public var bodyLimit: Int
  /// Whether the handler is cancelled when the client closes its side.
  public var endsWithClient = false
  /// The most that is waited for all pieces of the body together; nil: as the server is configured.
  public var bodyTimeLimit: Duration?

  /// Creates a resolution.
  public init(bodyLimit: Int = 1 << 20, bodyTimeLimit: Duration? = nil, handler: @escaping Handler) {
    self.handler = handler
    self.bodyLimit = bodyLimit
    self.bodyTimeLimit = bodyTimeLimit
  }
}
