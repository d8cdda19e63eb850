/// Answers the requests of an ``HTTP2Server``. Called on the server's loop only.
public protocol ServerHandler: AnyObject, Sendable {
  /// A whole request. Answer now or later, from any thread; a stream that is never answered stays open.
  func serve(_ request: ServerRequest, _ responder: ServerResponder)
  /// A client has finished its handshake.
  func opened(_ connection: ServerConnection)
  /// A client is gone.
  func closed(_ connection: ServerConnection)
}

extension ServerHandler {
  /// Nothing.
  public func opened(_ connection: ServerConnection) {}
  /// Nothing.
  public func closed(_ connection: ServerConnection) {}
}
