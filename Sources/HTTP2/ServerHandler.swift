/// Answers the requests of an ``HTTP2Server``. Called on the server's loop only.
package protocol ServerHandler: AnyObject, Sendable {
  /// A whole request. Answer now or later, from any thread; a stream that is never answered stays open.
  func serve(_ request: ServerRequest, _ responder: ServerResponder)
  /// A request whose fields are longer than ``ServerSettings/maximumHeaderBytes``; it has those that fit.
  func refuseLongHeader(_ request: ServerRequest, _ responder: ServerResponder)
  /// A client has sent nothing for ``ServerSettings/idleTimeout`` and waits for no answer.
  func idled(_ connection: ServerConnection)
  /// A client has finished its handshake.
  func opened(_ connection: ServerConnection)
  /// A client is gone.
  func closed(_ connection: ServerConnection)
}

extension ServerHandler {
  /// Answers 431.
  package func refuseLongHeader(_ request: ServerRequest, _ responder: ServerResponder) {
    responder.respond(ServerResponse(status: 431))
  }
  /// Ends the connection with GOAWAY.
  package func idled(_ connection: ServerConnection) { connection.goAway() }
  /// Nothing.
  package func opened(_ connection: ServerConnection) {}
  /// Nothing.
  package func closed(_ connection: ServerConnection) {}
}
