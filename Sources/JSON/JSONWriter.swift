import Glibc

/// Writes JSON (RFC 8259) into one buffer: members in order, no blanks, slashes not escaped.
///
/// The API's answers are written with it member by member, without dictionaries, and without strings for numbers and
/// times. By hand because Foundation's encoder doubles the cost of a small answer (docs/performance.md).
public struct JSONWriter: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// How many bytes are written.
  public private(set) var count = 0

  /// An empty buffer.
  public init(capacity: Int = 1024) {
    self.capacity = max(capacity, 64)
    base = .allocate(capacity: self.capacity)
  }

  deinit { base.deallocate() }

  /// What is written.
  public var bytes: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

  /// What is written, as a string.
  public var text: String { String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) }

  /// The JSON of one value.
  public static func bytes<Value: JSONWritable>(of value: Value) -> [UInt8] {
    var writer = JSONWriter()
    value.write(to: &writer)
    return writer.bytes
  }

  /// The JSON of one value, as a string.
  public static func text<Value: JSONWritable>(of value: Value) -> String {
    var writer = JSONWriter()
    value.write(to: &writer)
    return writer.text
  }

  // MARK: Objects and arrays

  /// Writes an object; `members` writes its members.
  @inlinable
  public mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
    append(UInt8(ascii: "{"))
    try members(&self)
    append(UInt8(ascii: "}"))
  }

  /// Writes an array; `elements` writes its elements with ``element(_:)``.
  @inlinable
  public mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
    append(UInt8(ascii: "["))
    try elements(&self)
    append(UInt8(ascii: "]"))
  }

  /// Writes a member; nil is `null`.
  @inlinable
  public mutating func member<Value: JSONWritable>(_ name: StaticString, _ value: Value) {
    key(name)
    value.write(to: &self)
  }

  /// Writes a member that is an object.
  @inlinable
  public mutating func object(_ name: StaticString, _ members: (inout JSONWriter) throws -> Void) rethrows {
    key(name)
    try object(members)
  }

  /// Writes a member that is an array.
  @inlinable
  public mutating func array<Elements: Sequence>(
    _ name: StaticString, _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) throws -> Void
  ) rethrows {
    key(name)
    try array { json in
      for element in elements {
        json.separate()
        try write(&json, element)
      }
    }
  }

  /// Writes a member that is an array of objects; `members` writes those of each.
  @inlinable
  public mutating func objects<Elements: Sequence>(
    _ name: StaticString, _ elements: Elements, _ members: (inout JSONWriter, Elements.Element) throws -> Void
  ) rethrows {
    try array(name, elements) { json, element in
      try json.object { json in try members(&json, element) }
    }
  }

  /// Writes an element of an array; nil is `null`.
  @inlinable
  public mutating func element<Value: JSONWritable>(_ value: Value) {
    separate()
    value.write(to: &self)
  }

  /// Writes the name of the following member. A static name needs no escape.
  public mutating func key(_ name: StaticString) {
    separate()
    let length = name.utf8CodeUnitCount
    reserve(length + 3)
    base[count] = UInt8(ascii: "\"")
    memcpy(base + count + 1, name.utf8Start, length)
    base[count + length + 1] = UInt8(ascii: "\"")
    base[count + length + 2] = UInt8(ascii: ":")
    count += length + 3
  }

  /// Writes the name of a member that is known only at run time.
  public mutating func key(dynamic name: String) {
    separate()
    string(name)
    append(UInt8(ascii: ":"))
  }

  /// Writes the members of an object, by their names; nothing for other values.
  public mutating func members(of value: JSONValue) {
    for (name, member) in (value.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      key(dynamic: name)
      member.write(to: &self)
    }
  }

  /// Writes the comma between members or elements, except before the first.
  public mutating func separate() {
    guard count > 0 else { return }
    let last = base[count - 1]
    if last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { append(UInt8(ascii: ",")) }
  }

  /// Ends a line of NDJSON.
  public mutating func endLine() { append(UInt8(ascii: "\n")) }

  // MARK: Values

  /// Writes `null`.
  public mutating func null() { literal("null") }

  /// Writes true or false.
  public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

  /// Writes a whole number.
  public mutating func integer(_ number: Int64) {
    reserve(20)
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    var end = count
    var left = rest
    repeat {
      end += 1
      left /= 10
    } while left > 0
    count = end
    repeat {
      end -= 1
      base[end] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
  }

  /// Writes a number; null for infinities and NaN, which JSON lacks.
  public mutating func double(_ number: Double) {
    guard number.isFinite else { return null() }
    let text = number.description
    append(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  /// Writes a string.
  public mutating func string(_ text: String) {
    var text = text
    text.withUTF8 { quoted($0) }
  }

  /// Writes a string.
  ///
  /// - Parameter bytes: its text as valid UTF-8, which is not checked.
  public mutating func string(utf8 bytes: [UInt8]) { bytes.withUnsafeBufferPointer { quoted($0) } }

  private mutating func quoted(_ source: UnsafeBufferPointer<UInt8>) {
    reserve(source.count + 2)
    append(UInt8(ascii: "\""))
    // Copies runs of plain bytes at once.
    var start = 0
    var index = Self.plainPrefix(source)
    while index < source.count {
      if Self.mustBeEscaped(source[index]) {
        append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: source[start..<index])))
        escape(source[index])
        start = index + 1
      }
      index += 1
    }
    append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: source[start...])))
    append(UInt8(ascii: "\""))
  }

  /// Writes a string of at most `limit` bytes that needs no escape.
  ///
  /// - Parameter fill: writes the bytes, and returns their number.
  public mutating func plainString(limit: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Int) {
    reserve(limit + 2)
    base[count] = UInt8(ascii: "\"")
    let length = fill(base + count + 1)
    precondition(length <= limit)
    base[count + length + 1] = UInt8(ascii: "\"")
    count += length + 2
  }

  /// Copies valid JSON.
  public mutating func raw(_ json: UnsafeRawBufferPointer) { append(json) }

  // MARK: Bytes

  /// How many bytes at the beginning need no escape, in steps of eight.
  private static func plainPrefix(_ source: UnsafeBufferPointer<UInt8>) -> Int {
    let bytes = UnsafeRawBufferPointer(source)
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var index = 0
    while index + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      // The top bit of a byte is set where a subtraction borrowed: below 0x20, or equal to the character.
      let found =
        ((word &- ones &* 0x20) & ~word) | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
      if found & tops != 0 { break }
      index += 8
    }
    return index
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func escape(_ byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0a: append(UInt8(ascii: "n"))
    case 0x0c: append(UInt8(ascii: "f"))
    case 0x0d: append(UInt8(ascii: "r"))
    case 0x00...0x1f:
      literal("u00")
      append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
      append(byte & 0xf < 10 ? 0x30 + byte & 0xf : 0x57 + byte & 0xf)
    default: append(byte)
    }
  }

  @usableFromInline
  mutating func append(_ byte: UInt8) {
    reserve(1)
    base[count] = byte
    count += 1
  }

  private mutating func literal(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  private mutating func append(_ source: UnsafeRawBufferPointer) {
    guard let start = source.baseAddress else { return }
    reserve(source.count)
    memcpy(base + count, start, source.count)
    count += source.count
  }

  private mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  private mutating func grow(_ more: Int) {
    capacity = max(capacity * 2, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    memcpy(larger, base, count)
    base.deallocate()
    base = larger
  }
}
