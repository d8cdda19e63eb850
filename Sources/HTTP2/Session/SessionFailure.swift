/// The peer broke HTTP/2 in a way that ends the connection (RFC 9113 §5.4.1).
struct SessionFailure: Error, Equatable {
  /// What the peer is told in GOAWAY.
  let code: ErrorCode
  /// What it did, as the rest of a sentence that begins with its name.
  let message: String

  init(_ code: ErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }
}
