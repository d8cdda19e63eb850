import Glibc

/// A file that is open for reading, closed when nobody holds it any more.
public final class OpenFile: Sendable {
  let descriptor: Int32
  /// Bytes when it was opened.
  public let size: Int

  init(descriptor: Int32, size: Int) {
    self.descriptor = descriptor
    self.size = size
  }

  deinit { close(descriptor) }

  /// Reads a part; shorter only if the file is. Blocks.
  func read(_ range: Range<Int>) -> [UInt8]? {
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      while count < range.count {
        let got = pread(descriptor, buffer.baseAddress! + count, range.count - count, off_t(range.lowerBound + count))
        if got < 0, errno == EINTR { continue }
        failed = got < 0
        if got <= 0 { break }
        count += got
      }
    }
    return failed ? nil : bytes
  }
}
