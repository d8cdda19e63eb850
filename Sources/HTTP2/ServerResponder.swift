import Reactor

/// Where the answer to one request goes. May be kept, and used from any thread; only the first answer counts.
package struct ServerResponder: Sendable {
  /// The connection of the request.
  package let connection: ServerConnection
  /// The stream of the request.
  package let streamID: Int32

  /// Answers.
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
