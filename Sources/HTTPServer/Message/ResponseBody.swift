package enum ResponseBody: Sendable {
  /// `Content-Length: 0`.
  case none
  case bytes([UInt8])
  /// A part of a file, sent by the kernel.
  case file(OpenFile, Range<Int>)
  /// With a length, exactly that many bytes; without, they are sent in chunks (HTTP/1.1) or end with the connection
  /// (1.0). Not called for HEAD.
  case stream(length: Int?, @Sendable (ResponseWriter) async throws -> Void)
  /// Server-Sent Events, see ``Response/events(_:)``.
  case events(@Sendable (EventStream) async throws -> Void)

  var isStreamed: Bool {
    switch self {
    case .stream, .events: true
    case .none, .bytes, .file: false
    }
  }

  /// The bytes, if they are in memory.
  package var bytes: [UInt8]? {
    switch self {
    case .bytes(let bytes): bytes
    case .file(let file, let range): file.bytes.map { Array($0[range]) }
    case .none, .stream, .events: nil
    }
  }
}

/// Writes a streamed body.
package struct ResponseWriter: Sendable {
  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// Sends bytes, and waits until the socket has taken them.
  ///
  /// - Throws: ``ClientGone`` if the connection has ended, `CancellationError` if the server stops an event stream.
  package func write(_ bytes: [UInt8]) async throws { try await exchange.write(bytes) }

  /// Sends text, like ``write(_:)-([UInt8])``.
  package func write(_ text: String) async throws { try await exchange.write(Array(text.utf8)) }
}
