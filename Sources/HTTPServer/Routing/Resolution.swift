/// Who answers a request, and how much body it may have.
package struct Resolution: Sendable {
  /// Answers.
  package var handler: Handler
  /// The most bytes of a body; more is answered with 413 before it is read.
  package var bodyLimit: Int
  /// Whether the handler is cancelled when the client closes its side.
  package var endsWithClient = false
  /// The most that is waited for all pieces of the body together; nil: as the server is configured.
  package var bodyTimeLimit: Duration?
  package init(bodyLimit: Int = 1 << 20, bodyTimeLimit: Duration? = nil, handler: @escaping Handler) {
    self.handler = handler
    self.bodyLimit = bodyLimit
    self.bodyTimeLimit = bodyTimeLimit
  }
}
