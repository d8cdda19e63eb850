/// JSON kept as text and written unchanged, such as a column of the database.
///
/// Finds its members without parsing values. Text that was strictly parsed before it was stored is reproduced exactly;
/// of other text only the frame is checked: one object with closed strings and brackets.
public struct RawJSON: JSONWritable, Sendable {
  private let text: String
  private let members: [Member]

  private struct Member {
    let name: Range<Int>
    let value: Range<Int>
  }

  /// - Returns: nil if the text is no object.
  public init?(object text: String) {
    var text = text
    guard let members = text.withUTF8({ Scanner(bytes: $0).members() }) else { return nil }
    self.text = text
    self.members = members.map { Member(name: $0.name, value: $0.value) }
  }

  /// Writes the text as it is.
  public func write(to json: inout JSONWriter) {
    var text = text
    text.withUTF8 { json.raw(UnsafeRawBufferPointer($0)) }
  }

  /// The JSON of one member's value; nil if there is none.
  public func member(_ name: StaticString) -> String? {
    withMember(name) { $0.map { String(decoding: $0, as: UTF8.self) } }
  }

  /// Writes the value of one member, or `absent`.
  public func writeMember(_ name: StaticString, absent: JSONValue = .null, to json: inout JSONWriter) {
    withMember(name) { found in
      if let found { json.raw(UnsafeRawBufferPointer(found)) } else { absent.write(to: &json) }
    }
  }

  private func withMember<Result>(_ name: StaticString, _ body: (UnsafeBufferPointer<UInt8>?) -> Result) -> Result {
    let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    var text = text
    return text.withUTF8 { bytes in
      let found = members.first { $0.name.count == wanted.count && bytes[$0.name].elementsEqual(wanted) }
      return body(found.map { UnsafeBufferPointer(rebasing: bytes[$0.value]) })
    }
  }

  private struct Scanner {
    let bytes: UnsafeBufferPointer<UInt8>
    var index = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    consuming func members() -> [(name: Range<Int>, value: Range<Int>)]? {
      var found: [(name: Range<Int>, value: Range<Int>)] = []
      guard next() == UInt8(ascii: "{") else { return nil }
      index += 1
      guard var first = next() else { return nil }
      while first != UInt8(ascii: "}") {
        guard first == UInt8(ascii: "\""), let name = string(), next() == UInt8(ascii: ":") else { return nil }
        index += 1
        guard next() != nil, let value = value() else { return nil }
        found.append((name, value))
        guard let mark = next(), mark == UInt8(ascii: ",") || mark == UInt8(ascii: "}") else { return nil }
        if mark == UInt8(ascii: "}") { break }
        index += 1
        guard let following = next(), following == UInt8(ascii: "\"") else { return nil }
        first = following
      }
      index += 1
      return next() == nil ? found : nil
    }

    /// The next byte after blanks, nil at the end.
    private mutating func next() -> UInt8? {
      while index < bytes.count {
        switch bytes[index] {
        case 0x20, 0x0a, 0x0d, 0x09: index += 1
        default: return bytes[index]
        }
      }
      return nil
    }

    /// The range between the quotes.
    private mutating func string() -> Range<Int>? {
      let start = index + 1
      index = start
      while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "\""):
          index += 1
          return start..<index - 1
        case UInt8(ascii: "\\"): index += 2
        default: index += 1
        }
      }
      return nil
    }

    private mutating func value() -> Range<Int>? {
      let start = index
      var depth = 0
      while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "\""):
          guard string() != nil else { return nil }
          if depth == 0 { return start..<index }
          continue
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          // The end of the object, after a number or a word.
          if depth == 0 { return start < index ? start..<index : nil }
          depth -= 1
          if depth == 0 {
            index += 1
            return start..<index
          }
        case UInt8(ascii: ","), 0x20, 0x0a, 0x0d, 0x09:
          if depth == 0 { return start < index ? start..<index : nil }
        default: break
        }
        index += 1
      }
      return nil
    }
  }
}
