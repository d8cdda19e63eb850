/// Writes HPACK's primitive forms (RFC 7541 §5 and §6) to the end of an array.
struct HPACKWriter {
  private(set) var bytes: [UInt8] = []

  /// The first byte of each form; its zero bits hold the number.
  enum Form: UInt8 {
    /// §6.1: name and value are in a table.
    case indexed = 0x80
    /// §6.2.1: the peer adds it to its table.
    case addedToTable = 0x40
    /// §6.3: the table's size changes.
    case tableSize = 0x20
    /// §6.2.3: intermediaries must not index it.
    case neverIndexed = 0x10
    /// §6.2.2: not added to the table.
    case notIndexed = 0x00

    var prefixBits: Int {
      switch self {
      case .indexed: 7
      case .addedToTable: 6
      case .tableSize: 5
      case .neverIndexed, .notIndexed: 4
      }
    }
  }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// A form with its number (§5.1): an index, or a size.
  mutating func number(_ value: Int, _ form: Form) {
    let most = 1 << form.prefixBits - 1
    guard value >= most else { return bytes.append(form.rawValue | UInt8(value)) }
    bytes.append(form.rawValue | UInt8(most))
    var rest = value - most
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// The start of a literal: its name, by index or, at 0, spelled out.
  mutating func name(_ name: [UInt8], index: Int, _ form: Form) {
    number(index, form)
    if index == 0 { string(name) }
  }

  /// A string without Huffman coding (§5.2), which would save a fifth of it and cost more than sending it.
  mutating func string(_ text: [UInt8]) {
    length(text.count)
    bytes += text
  }

  private mutating func length(_ count: Int) {
    guard count >= 127 else { return bytes.append(UInt8(count)) }
    bytes.append(127)
    var rest = count - 127
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Writes the same length to memory; at most six bytes.
  @inline(__always)
  static func length(_ count: Int, to start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    guard count >= 127 else {
      start.pointee = UInt8(truncatingIfNeeded: count)
      return start + 1
    }
    start.pointee = 127
    var next = start + 1
    var rest = count - 127
    while rest >= 128 {
      next.pointee = UInt8(truncatingIfNeeded: rest & 127) | 128
      next += 1
      rest >>= 7
    }
    next.pointee = UInt8(truncatingIfNeeded: rest)
    return next + 1
  }
}
