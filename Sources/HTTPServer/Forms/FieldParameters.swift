/// A field value with parameters: `form-data; name="file"; filename="a.p12"` (RFC 9110 section 5.6.6).
struct FieldParameters {
  /// The text before the first semicolon, in lower case.
  let value: String
  private var parameters: [(name: String, value: String)] = []

  /// - Returns: nil if the text is malformed.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
    let first = rest.prefix { $0 != UInt8(ascii: ";") }
    value = String(decoding: first, as: UTF8.self).trimmedOfSpace.lowercased()
    rest = rest.dropFirst(first.count)
    while rest.first == UInt8(ascii: ";") {
      rest = rest.dropFirst()
      skipSpace()
      if rest.isEmpty { return }
      let name = rest.prefix(while: ByteClass.isToken)
      rest = rest.dropFirst(name.count)
      guard !name.isEmpty, rest.first == UInt8(ascii: "=") else { return nil }
      rest = rest.dropFirst()
      guard let value = Self.takeValue(&rest) else { return nil }
      parameters.append((String(decoding: name, as: UTF8.self).lowercased(), value))
      skipSpace()
    }
    guard rest.isEmpty else { return nil }
  }

  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.first == UInt8(ascii: "\"") else {
      let token = rest.prefix(while: ByteClass.isToken)
      rest = rest.dropFirst(token.count)
      return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }
    rest = rest.dropFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
      case UInt8(ascii: "\\") where rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "\\"):
        // Other backslashes stay: old browsers send Windows paths.
        value.append(rest.removeFirst())
      default: value.append(byte)
      }
    }
    return nil
  }
}
