import Glibc

/// Bytes between a socket and the server. A worker lends buffers only to connections that have bytes.
final class Buffer {
  /// The initial capacity.
  static let usualCapacity = 16 * 1024

  private(set) var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  private(set) var start = 0
  private(set) var end = 0

  init() {
    capacity = Self.usualCapacity
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  var count: Int { end - start }
  var isEmpty: Bool { end == start }

  var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: (base + start).assumingMemoryBound(to: UInt8.self), count: count)
  }

  /// The free space after the bytes.
  var room: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end) }

  func filled(_ count: Int) { end += count }

  func consume(_ count: Int) {
    start += count
    if start == end {
      start = 0
      end = 0
    }
  }

  func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    memcpy(base + end, source, bytes.count)
    end += bytes.count
  }

  @inline(__always)
  func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes(append) }

  func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends a literal, which needs no counting of references.
  func append(literal text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a number in digits.
  func append(_ number: Int, radix: Int = 10) {
    precondition(number >= 0)
    reserve(20)
    var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
    withUnsafeMutableBytes(of: &digits) { digits in
      var position = digits.count
      var rest = number
      repeat {
        position -= 1
        let digit = UInt8(truncatingIfNeeded: rest % radix)
        digits[position] = digit < 10 ? 0x30 + digit : 0x57 + digit
        rest /= radix
      } while rest > 0
      append(UnsafeRawBufferPointer(rebasing: digits[position...]))
    }
  }

  func reserve(_ count: Int) {
    guard capacity - end < count else { return }
    let size = self.count
    if capacity - size >= count, start >= size {
      memcpy(base, base + start, size)
    } else {
      capacity = max(capacity * 2, size + count)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
      memcpy(larger, base + start, size)
      base.deallocate()
      base = larger
    }
    start = 0
    end = size
  }
}
