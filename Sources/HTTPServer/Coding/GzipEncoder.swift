import CZlib

/// Compresses bytes into the gzip format (RFC 1952) piece by piece; reused for one body after another.
final class GzipEncoder {
  /// Half the time of the best level for 2 % more bytes: for bodies made for each answer.
  static let quick: Int32 = 6
  /// For what is compressed once and sent often.
  static let best: Int32 = 9

  private let stream: UnsafeMutablePointer<z_stream>

  /// - Returns: nil if there is no memory.
  init?(level: Int32) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard czlib_begin_gzip(stream, level) == Z_OK else {
      stream.deallocate()
      return nil
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Appends the compressed bytes available so far to `output`; with the last piece, the end of the format.
  func compress(_ piece: ArraySlice<UInt8>, isLast: Bool, into output: inout [UInt8]) {
    piece.withUnsafeBufferPointer { input in
      // zlib only reads from it.
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.pointee.avail_in = UInt32(input.count)
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16 * 1024) { room in
        repeat {
          stream.pointee.next_out = room.baseAddress
          stream.pointee.avail_out = UInt32(room.count)
          deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
          output.append(contentsOf: room[..<(room.count - Int(stream.pointee.avail_out))])
        } while stream.pointee.avail_out == 0
      }
    }
    if isLast { deflateReset(stream) }
  }

  /// Compresses all bytes; nil if there is no memory.
  static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
    guard let encoder = GzipEncoder(level: level) else { return nil }
    var output: [UInt8] = []
    encoder.compress(bytes[...], isLast: true, into: &output)
    return output
  }
}
