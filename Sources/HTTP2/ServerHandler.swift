import Reactor

/// Answers the requests of an ``HTTP2Server``. Called on the server's loop only.
package protocol ServerHandler: AnyObject, Sendable {
  /// A complete request. Answer now or later, from any thread; a stream that is never answered stays open.
  func serve(_ request: ServerRequest, _ responder: ServerResponder)
  /// A request whose fields exceed ``ServerSettings/maximumHeaderBytes``; it has those that fit.
  func refuseLongHeader(_ request: ServerRequest, _ responder: ServerResponder)
  /// A client has sent nothing for ``ServerSettings/idleTimeout`` and waits for no answer.
  func idled(_ connection: ServerConnection)
  func opened(_ connection: ServerConnection)
  func closed(_ connection: ServerConnection)
}

extension ServerHandler {
  package func refuseLongHeader(_ request: ServerRequest, _ responder: ServerResponder) {
    responder.respond(ServerResponse(status: 431))
  }
  /// Ends the connection with GOAWAY.
  package func idled(_ connection: ServerConnection) { connection.goAway() }
  package func opened(_ connection: ServerConnection) {}
  package func closed(_ connection: ServerConnection) {}
}

/// A complete request.
package struct ServerRequest: Sendable {
  package let connection: ServerConnection
  /// Odd; increases with each request of a connection.
  package let streamID: Int32
  /// All fields in order, with repetitions and pseudo-fields.
  package let fields: HeaderList
  /// The first ``ServerSettings/maximumBodyBytes`` of the body.
  package let body: [UInt8]
  /// The length of the whole body.
  package let bodyByteCount: Int

  package var method: String { fields[":method"] ?? "" }
  package var path: String { fields[":path"] ?? "" }
  /// `:authority`, or `host` where a client sends that instead (RFC 9113 §8.3.1 allows it).
  package var authority: String { fields[":authority"] ?? fields["host"] ?? "" }
}

/// Takes the answer to one request. Usable later and from any thread; only the first answer counts.
package struct ServerResponder: Sendable {
  package let connection: ServerConnection
  package let streamID: Int32

  package func respond(_ response: ServerResponse) {
    connection.onLoop { [streamID] in $0.respond(response, on: streamID) }
  }

  /// Answers after a delay, unless the client is gone by then.
  package func respond(_ response: ServerResponse, after delay: Duration) {
    connection.onLoop { [streamID] connection in
      connection.loop.schedule(after: delay) { connection.respond(response, on: streamID) }
    }
  }

  /// Ends the stream without an answer (RST_STREAM).
  package func reset(_ code: ErrorCode) {
    connection.onLoop { [streamID] in $0.reset(streamID, code) }
  }
}

package struct ServerResponse: Sendable {
  /// 200 to 599.
  package var status: Int
  /// Without `:status`. No `content-length` is added: END_STREAM marks the end.
  package var fields: [HeaderField]
  /// Sent as one DATA frame where frame size and flow control allow it; none if empty.
  package var body: [UInt8]
  package init(status: Int, fields: [HeaderField] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}
