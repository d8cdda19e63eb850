import Glibc
import Reactor

/// A file open for reading, closed with its last reference.
package final class OpenFile: Sendable {
  let descriptor: Int32
  /// Size when it was opened.
  package let size: Int
  /// The bytes of a small file: they are sent together with the head, and under TLS.
  let bytes: [UInt8]?

  /// Takes ownership of the descriptor.
  ///
  /// - Parameter keepsBytes: reads the whole file at once. Blocks.
  /// - Throws: ``SystemError`` if it cannot be read.
  init(descriptor: Int32, size: Int, keepsBytes: Bool) throws {
    self.descriptor = descriptor
    self.size = size
    guard keepsBytes else {
      bytes = nil
      return
    }
    guard let read = Self.read(descriptor, 0..<size) else {
      let error = SystemError("pread")
      close(descriptor)
      throw error
    }
    guard read.count == size else {
      close(descriptor)
      // It was cut short after its size was asked for.
      throw SystemError("pread", number: EIO)
    }
    bytes = read
  }

  deinit { close(descriptor) }

  /// Reads a part; shorter only if the file is. Blocks.
  func read(_ range: Range<Int>) -> [UInt8]? {
    if let bytes { return Array(bytes[range]) }
    return Self.read(descriptor, range)
  }

  private static func read(_ descriptor: Int32, _ range: Range<Int>) -> [UInt8]? {
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      // None for an empty range.
      while count < range.count, let start = buffer.baseAddress {
        let got = pread(descriptor, start + count, range.count - count, off_t(range.lowerBound + count))
        if got < 0, errno == EINTR { continue }
        failed = got < 0
        if got <= 0 { break }
        count += got
      }
    }
    return failed ? nil : bytes
  }
}
