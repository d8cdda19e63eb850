/// Who answers a request, and how much body it may have.
public struct Resolution: Sendable {
  /// Answers.
  public var handler: Handler
  /// The most bytes of a body; more is answered with 413 before it is read.
  public var bodyLimit: Int
  /// Whether the handler is cancelled when the client closes its side.
  public var endsWithClient = false

  /// Creates a resolution.
  public init(bodyLimit: Int = 1 << 20, handler: @escaping Handler) {
    self.handler = handler
    self.bodyLimit = bodyLimit
  }
}
