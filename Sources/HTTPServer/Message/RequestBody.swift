/// The body of a request: an asynchronous sequence of pieces, read once, or collected.
///
/// Bytes are taken from the socket only as fast as they are requested. The first read sends `100 Continue` to a client
/// that waits for it.
package struct RequestBody: AsyncSequence, Sendable {
  /// Never empty.
  package typealias Element = [UInt8]

  fileprivate enum Source: Sendable {
    case bytes([UInt8])
    case exchange(Exchange)
  }

  fileprivate let source: Source

  /// A body in memory.
  package init(_ bytes: [UInt8]) { source = .bytes(bytes) }

  init(_ exchange: Exchange) { source = .exchange(exchange) }

  static let empty = RequestBody([])

  /// Reads the whole body. Later calls return the same bytes.
  ///
  /// - Throws: 413 if it is longer than `limit` bytes, 400 if it is malformed, 408 if it stalls, ``ClientGone``.
  package func collect(upTo limit: Int) async throws -> [UInt8] {
    switch source {
    case .bytes(let bytes):
      guard bytes.count <= limit else { throw HTTPError(.contentTooLarge, "The body is longer than \(limit) bytes.") }
      return bytes
    case .exchange(let exchange): return try await exchange.collect(upTo: limit)
    }
  }

  package func makeAsyncIterator() -> Iterator { Iterator(source: source) }

  package struct Iterator: AsyncIteratorProtocol, Sendable {
    private var source: Source

    fileprivate init(source: Source) { self.source = source }

    /// The next piece; nil at the end.
    ///
    /// - Throws: as ``RequestBody/collect(upTo:)``; 413 at the route's limit.
    package mutating func next() async throws -> [UInt8]? {
      switch source {
      case .bytes(let bytes):
        source = .bytes([])
        return bytes.isEmpty ? nil : bytes
      case .exchange(let exchange): return try await exchange.nextPiece()
      }
    }
  }
}
