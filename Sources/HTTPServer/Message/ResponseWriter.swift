/// Takes the bytes of a streamed body.
package struct ResponseWriter: Sendable {
  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Sends bytes, and waits until the socket has taken them.
  ///
  /// - Throws: ``ClientGone`` if the connection has ended, `CancellationError` if the server stops an event stream.
  package func write(_ bytes: [UInt8]) async throws { try await exchange.write(bytes) }

  /// Sends text, as ``write(_:)-([UInt8])``.
  package func write(_ text: String) async throws { try await exchange.write(Array(text.utf8)) }
}
