/// The buffer of an answer being written; it grows, and becomes an array once.
///
/// An array would check uniqueness and bounds at each of a page's thousands of appends.
public struct Output: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<UInt8>
  @usableFromInline var capacity: Int
  /// How many bytes were written.
  public private(set) var count = 0
  /// The language of the page, for members whose form depends on it, such as dates; empty if there is none.
  public var language = ""

  /// An empty buffer with room for `capacity` bytes.
  public init(capacity: Int = 16_384) {
    self.capacity = max(capacity, 64)
    base = .allocate(capacity: self.capacity)
  }

  deinit { base.deallocate() }

  /// What was written.
  public var array: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

  private mutating func reserve(_ more: Int) {
    guard capacity - count < more else { return }
    let grown = max(capacity * 2, count + more)
    let other = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
    other.update(from: base, count: count)
    base.deallocate()
    base = other
    capacity = grown
  }

  /// What was written since there were `start` bytes; until the next change.
  func written(from start: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: base + start, count: count - start)
  }

  /// Writes text before what was written since there were `start` bytes.
  mutating func insert(_ text: StaticString, at start: Int) {
    let more = text.utf8CodeUnitCount
    reserve(more)
    // From its end, because the places overlap.
    for index in stride(from: count - 1, through: start, by: -1) { base[index + more] = base[index] }
    (base + start).update(from: text.utf8Start, count: more)
    count += more
  }

  /// Takes back what was written since there were `count` bytes.
  mutating func cut(to count: Int) { self.count = min(count, self.count) }

  /// Writes bytes as they are.
  public mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    reserve(bytes.count)
    (base + count).update(from: start, count: bytes.count)
    count += bytes.count
  }

  /// Writes one byte.
  public mutating func write(byte: UInt8) {
    reserve(1)
    base[count] = byte
    count += 1
  }

  /// Writes text unescaped: only for text without HTML's special characters.
  public mutating func write(_ text: StaticString) {
    write(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Writes HTML unescaped.
  public mutating func write(html text: String) {
    var text = text
    text.withUTF8 { write($0) }
  }

  /// Writes text with `& < > " '` escaped.
  public mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { write(escaping: $0) }
  }

  /// Writes bytes of text with `& < > " '` escaped.
  public mutating func write(escaping bytes: UnsafeBufferPointer<UInt8>) {
    // The longest entity has six bytes.
    reserve(bytes.count * 6)
    var end = base + count
    for byte in bytes {
      let entity: StaticString
      switch byte {
      case UInt8(ascii: "&"): entity = "&amp;"
      case UInt8(ascii: "<"): entity = "&lt;"
      case UInt8(ascii: ">"): entity = "&gt;"
      case UInt8(ascii: "\""): entity = "&quot;"
      case UInt8(ascii: "'"): entity = "&#39;"
      default:
        end.pointee = byte
        end += 1
        continue
      }
      end.update(from: entity.utf8Start, count: entity.utf8CodeUnitCount)
      end += entity.utf8CodeUnitCount
    }
    count = end - base
  }

  /// Writes an integer without groups, such as `12480`.
  public mutating func write(_ number: Int) {
    reserve(20)
    if number < 0 { write(byte: UInt8(ascii: "-")) }
    var rest = number.magnitude
    let width = Self.width(rest)
    var position = base + count + width
    repeat {
      position -= 1
      position.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    count += width
  }

  /// Writes an integer with comma groups, such as `12,480`.
  public mutating func write(grouped number: Int) {
    reserve(28)
    if number < 0 { write("\u{2212}") }
    var rest = number.magnitude
    let digits = Self.width(rest)
    let width = digits + (digits - 1) / 3
    var position = base + count + width
    var written = 0
    repeat {
      if written > 0, written % 3 == 0 {
        position -= 1
        position.pointee = UInt8(ascii: ",")
      }
      position -= 1
      position.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
      written += 1
    } while rest > 0
    count += width
  }

  private static func width(_ number: UInt) -> Int {
    var (width, rest) = (1, number)
    while rest >= 10 {
      rest /= 10
      width += 1
    }
    return width
  }
}
