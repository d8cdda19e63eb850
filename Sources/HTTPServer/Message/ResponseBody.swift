/// What follows the head of a response.
package enum ResponseBody: Sendable {
  /// Nothing: `Content-Length: 0`.
  case none
  /// Bytes at hand.
  case bytes([UInt8])
  /// A part of a file, sent by the kernel.
  case file(OpenFile, Range<Int>)
  /// Bytes to come. With a length they must be that many; without, they are sent in chunks (HTTP/1.1) or end with
  /// the connection (1.0). Not called for HEAD.
  case stream(length: Int?, @Sendable (ResponseWriter) async throws -> Void)
  /// Server-Sent Events, see ``Response/events(_:)``.
  case events(@Sendable (EventStream) async throws -> Void)

  var isStreamed: Bool {
    switch self {
    case .stream, .events: true
    case .none, .bytes, .file: false
    }
  }

  /// The bytes, if they are at hand.
  package var bytes: [UInt8]? {
    switch self {
    case .bytes(let bytes): bytes
    case .file(let file, let range): file.bytes.map { Array($0[range]) }
    case .none, .stream, .events: nil
    }
  }
}
