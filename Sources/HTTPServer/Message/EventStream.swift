/// Sends Server-Sent Events to one client (HTML standard, section 9.2).
///
/// While nothing is sent, the server sends a comment now and then, so that proxies keep the connection and a
/// client that has gone is noticed: then the stream's task is cancelled.
package struct EventStream: Sendable {
  private let writer: ResponseWriter

  init(_ writer: ResponseWriter) { self.writer = writer }

  /// Sends an event, and waits until the socket has taken it.
  ///
  /// - Throws: as ``ResponseWriter/write(_:)-([UInt8])``.
  package func send(_ event: ServerSentEvent) async throws { try await writer.write(event.encoded) }

  /// Sends an event that is encoded already, as ``ServerSentEvent/encoded``: the same bytes for many streams.
  package func send(encoded bytes: [UInt8]) async throws { try await writer.write(bytes) }
}
