import Text

/// Reads JSON (RFC 8259) strictly and reports the place of an error.
///
/// By hand because Foundation's decoder takes trailing commas, keeps one of two equal keys, rounds large integers, and
/// does not report where an error is; input that decides who gets a push must not be ambiguous.
struct JSONParser {
  /// Levels of arrays and objects.
  static let depthLimit = 128

  private let bytes: [UInt8]
  private var index = 0
  private var depth = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // A byte order mark may be ignored (RFC 8259 §8.1).
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
  }

  mutating func document() throws(JSONError) -> JSONValue {
    let value = try value()
    skipBlanks()
    if index < bytes.count { throw error(.trailing) }
    return value
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    skipBlanks()
    switch try peek() {
    case UInt8(ascii: "{"): return try nested { parser throws(JSONError) in try parser.object() }
    case UInt8(ascii: "["): return try nested { parser throws(JSONError) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  /// - Parameter place: of the value in the one around it; made for an error only.
  private mutating func value(at place: @autoclosure () -> String) throws(JSONError) -> JSONValue {
    do throws(JSONError) {
      return try value()
    } catch {
      throw error.under(place())
    }
  }

  private mutating func nested(
    _ read: (inout JSONParser) throws(JSONError) -> JSONValue
  ) throws(JSONError) -> JSONValue {
    depth += 1
    if depth > Self.depthLimit { throw error(.tooDeep, String(Self.depthLimit)) }
    index += 1
    let value = try read(&self)
    depth -= 1
    return value
  }

  private mutating func object() throws(JSONError) -> JSONValue {
    var members: [String: JSONValue] = [:]
    skipBlanks()
    if take(UInt8(ascii: "}")) { return .object([:]) }
    repeat {
      skipBlanks()
      guard try peek() == UInt8(ascii: "\"") else { throw error(.unexpected) }
      let start = index
      let key = try string()
      skipBlanks()
      try expect(UInt8(ascii: ":"))
      if members.updateValue(try value(at: key), forKey: key) != nil {
        index = start
        throw error(.repeatedKey, key)
      }
      skipBlanks()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
    return .object(members)
  }

  private mutating func array() throws(JSONError) -> JSONValue {
    var elements: [JSONValue] = []
    skipBlanks()
    if take(UInt8(ascii: "]")) { return .array([]) }
    repeat {
      elements.append(try value(at: "[\(elements.count)]"))
      skipBlanks()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
    return .array(elements)
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    for byte in word.withUTF8Buffer({ Array($0) }) { try expect(byte) }
    return value
  }

  // MARK: Numbers

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = index
    _ = take(UInt8(ascii: "-"))
    let first = try peek()
    try digits()
    if first == UInt8(ascii: "0"), index - start > (bytes[start] == UInt8(ascii: "-") ? 2 : 1) {
      index = start
      throw error(.unexpected)
    }
    var isWhole = true
    if take(UInt8(ascii: ".")) {
      isWhole = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    // An integer beyond 64 bits would be rounded: ids among the extra data must not change.
    guard !isWhole, let double = Double(text), double.isFinite else {
      index = start
      throw error(.number)
    }
    // JSON has one kind of number: 1.0 is 1.
    return Int64(exactly: double).map(JSONValue.integer) ?? .double(double)
  }

  private mutating func digits() throws(JSONError) {
    guard ASCII.isDigit(try peek()) else { throw error(.unexpected) }
    while index < bytes.count, ASCII.isDigit(bytes[index]) { index += 1 }
  }

  // MARK: Strings

  private mutating func string() throws(JSONError) -> String {
    let start = index
    index += 1
    var text: [UInt8] = []
    var copied = index
    var seen: UInt8 = 0
    while true {
      let byte = try peek()
      if byte == UInt8(ascii: "\"") { break }
      if byte < 0x20 {
        throw error(.controlCharacter, "U+00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16, uppercase: true))")
      }
      seen |= byte
      if byte == UInt8(ascii: "\\") {
        text += bytes[copied..<index]
        text += Array(String(Character(try escape())).utf8)
        copied = index
      } else {
        index += 1
      }
    }
    let end = index
    index += 1
    // Most strings are plain ASCII, which needs no validation, or have no escape: no extra copy.
    let isWhole = copied == start + 1
    if isWhole, seen < 0x80 { return String(decoding: bytes[copied..<end], as: UTF8.self) }
    let validated =
      isWhole
      ? String(validating: bytes[copied..<end], as: UTF8.self)
      : String(validating: text + bytes[copied..<end], as: UTF8.self)
    guard let string = validated else {
      index = start
      throw error(.encoding)
    }
    return string
  }

  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    let start = index
    index += 1
    let letter = try peek()
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    default: break
    }
    guard letter == UInt8(ascii: "u") else {
      index = start
      throw error(.escape)
    }
    let unit = try hexadecimal(from: start)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xdc00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
      index = start
      throw error(.surrogate)
    }
    let low = try hexadecimal(from: start)
    guard (0xdc00...0xdfff).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xd800) << 10 + (UInt32(low) - 0xdc00))
    else {
      index = start
      throw error(.surrogate)
    }
    return scalar
  }

  private mutating func hexadecimal(from start: Int) throws(JSONError) -> UInt16 {
    guard index + 4 <= bytes.count, bytes[index..<index + 4].allSatisfy(ASCII.isHexDigit),
      let value = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
    else {
      index = start
      throw error(.escape)
    }
    index += 4
    return value
  }

  // MARK: Bytes

  private mutating func skipBlanks() {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x0a, 0x0d, 0x09: index += 1
      default: return
      }
    }
  }

  private func peek() throws(JSONError) -> UInt8 {
    guard index < bytes.count else { throw error(.ended) }
    return bytes[index]
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func expect(_ byte: UInt8) throws(JSONError) {
    guard try peek() == byte else { throw error(.unexpected) }
    index += 1
  }

  /// An error at the present position.
  private func error(_ fault: JSONError.Fault, _ detail: String? = nil) -> JSONError {
    let before = bytes[..<min(index, bytes.count)]
    let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    let character =
      index < bytes.count
      ? String(String(decoding: bytes[index..<min(index + 4, bytes.count)], as: UTF8.self).prefix(1)) : nil
    return JSONError(
      fault: fault, line: before.count { $0 == 0x0a } + 1,
      column: String(decoding: before[start...], as: UTF8.self).count + 1, character: character, detail: detail)
  }
}
