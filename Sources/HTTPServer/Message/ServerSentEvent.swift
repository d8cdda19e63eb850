/// One event (HTML standard, section 9.2).
package struct ServerSentEvent: Sendable, Equatable {
  /// Sent back by the client as `Last-Event-ID` when it reconnects.
  package var id: String?
  /// `message` if nil.
  package var event: String?
  /// May have several lines.
  package var data: String
  /// Milliseconds after which the client should reconnect.
  package var retry: Int?
  package init(data: String, event: String? = nil, id: String? = nil, retry: Int? = nil) {
    self.data = data
    self.event = event
    self.id = id
    self.retry = retry
  }

  /// The encoded event. Line ends and NUL in id and event, which would begin another field, are removed.
  package var encoded: String {
    var text = ""
    if let id { text += "id: \(Self.oneLine(id))\n" }
    if let event { text += "event: \(Self.oneLine(event))\n" }
    if let retry { text += "retry: \(retry)\n" }
    return text + Self.lines("data: ", data) + "\n"
  }

  private static func oneLine(_ text: String) -> String {
    String(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" && $0 != "\0" })
  }

  /// Prefixes each line of a text. CR LF, CR and LF all end a line for the client.
  static func lines(_ prefix: String, _ text: String) -> String {
    // "\\r\\n" is one Character in Swift.
    text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }
      .map { prefix + $0 + "\n" }.joined()
  }
}

/// Sends Server-Sent Events to one client (HTML standard, section 9.2).
///
/// While nothing is sent, the server sends a comment now and then, so that proxies keep the connection and a lost
/// client is noticed: then the stream's task is cancelled.
package struct EventStream: Sendable {
  private let writer: ResponseWriter

  init(_ writer: ResponseWriter) { self.writer = writer }

  /// Sends an event, and waits until the socket has taken it.
  ///
  /// - Throws: as ``ResponseWriter/write(_:)-([UInt8])``.
  package func send(_ event: ServerSentEvent) async throws { try await writer.write(event.encoded) }

  /// Sends an event that is already encoded (``ServerSentEvent/encoded``): the same bytes for many streams.
  package func send(encoded bytes: [UInt8]) async throws { try await writer.write(bytes) }
}
