import Foundation
import JSON
import Text

// Files as people have them: pasted from a variable, a settings file, a spreadsheet or another program's JSON.
extension FileText {
  /// Whether it is a Google service account's JSON, or a part of one.
  var isOfServiceAccount: Bool {
    ["service_account", "\"private_key_id", "gserviceaccount.com"].contains { head.contains($0) }
  }

  /// The file within the text, without one layer of what is around it: quotes, a variable's name, the escapes of a JSON
  /// string or of a URL, Base64. Nil if there is none.
  var unwrapped: Data? { object ?? base64 ?? decodedPercents }

  /// The JSON of a service account with other text around it, or with its quotes escaped.
  private var object: Data? {
    guard isOfServiceAccount, bytes.count <= 1 << 18 else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let begin = text.firstIndex(of: "{"), let end = text.lastIndex(of: "}"), begin < end else { return nil }
    let inner = text[begin...end]
    let isPart = inner.utf8.count < text.trimmingCharacters(in: .whitespacesAndNewlines).utf8.count
    // `{\"type\": …}`: the content of a JSON string, or of a shell's quotes. `{""type"": …}`: a cell of CSV.
    let first = inner.dropFirst().drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    if first.hasPrefix("\"\"") { return Data(inner.replacing("\"\"", with: "\"").utf8) }
    if first.hasPrefix("\\") { return Self.unescaped(inner).map { Data($0.utf8) } }
    return isPart ? Data(inner.utf8) : nil
  }

  /// The content of a JSON string; nil if it is none.
  private static func unescaped(_ text: Substring) -> String? {
    let lines = text.replacing("\r\n", with: "\\n").replacing("\n", with: "\\n").replacing("\t", with: "\\t")
    let whole = "\"\(lines)\""
    if let content = (try? JSONValue(parsing: Data(whole.utf8)))?.string { return content }  // nil: tried differently
    // A shell's quotes escape the quotation marks alone.
    let content = text.replacing("\\\"", with: "\"")
    return content.hasPrefix("{\\") ? nil : String(content)
  }

  /// The decoded bytes of a file saved as Base64, in the alphabet of MIME or of URLs, with or without a variable's name,
  /// quotes, or `data:…;base64,` in front. Nil if they are no file that is known here.
  private var base64: Data? {
    var rest = Substring(String(decoding: bytes, as: UTF8.self))
    let start = rest.prefix(100)
    if let comma = start.range(of: ";base64,") {
      rest = rest[comma.upperBound...]
    } else if let sign = start.firstIndex(where: { "=:".contains($0) }),
      start[..<sign].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-.$ ".contains($0)) }),
      // Else it is the padding at the end.
      start[sign...].contains(where: { $0.isLetter })
    {
      rest = rest[sign...].dropFirst()
    }
    rest = rest.drop { Self.frame.contains($0) }
    // A text that begins with a hyphen would be Base64 of URLs, too.
    guard let first = rest.utf8.first, ASCII.isAlphanumeric(first) || "/_+".utf8.contains(first) else { return nil }
    // Most long texts are not decoded as a whole.
    guard let beginning = Self.decoded(Array(rest.utf8.prefix(60)).filter { $0 > 0x20 }.prefix(16)),
      rest.hasPrefix("MI") || FileText(beginning) != nil
    else { return nil }
    while let last = rest.last, Self.frame.contains(last) || last == "=" { rest.removeLast() }
    let hasEscapes = rest.utf8.contains(UInt8(ascii: "\\"))
    let digits = Array((hasEscapes ? Self.withoutEscapes(String(rest)) : String(rest)).utf8).filter { $0 > 0x20 }
    guard digits.count >= 32, let decoded = Self.decoded(digits[...]) else { return nil }
    // Every binary format is a SEQUENCE with a long length.
    guard let text = FileText(decoded) else { return rest.hasPrefix("MI") ? decoded : nil }
    let isKnown =
      ["{", "[", "-----BEGIN "].contains { text.head.hasPrefix($0) } || text.isOfServiceAccount || text.unwrapped != nil
    return isKnown ? decoded : nil
  }

  /// The bytes of Base64 in either alphabet, with or without padding.
  private static func decoded(_ digits: ArraySlice<UInt8>) -> Data? {
    var digits = Array(digits)
    for index in digits.indices {
      if digits[index] == UInt8(ascii: "-") { digits[index] = UInt8(ascii: "+") }
      if digits[index] == UInt8(ascii: "_") { digits[index] = UInt8(ascii: "/") }
    }
    digits += [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
    return Data(base64Encoded: Data(digits))
  }

  /// What stands around a value.
  private static let frame: Set<Character> = [
    "\"", "'", "`", "“", "”", "‘", "’", ",", ";", " ", "\t", "\r", "\n", "\r\n",
  ]

  /// The text of a form or a URL: `%7B%22type%22…`, `-----BEGIN%20PRIVATE%20KEY-----%0A`.
  private var decodedPercents: Data? {
    guard head.contains("%"), bytes.count <= 1 << 18,
      ["service_account%22", "-----BEGIN%20", "-----BEGIN+"].contains(where: { head.contains($0) })
    else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    // Forms write a blank as `+`, and a `+` as `%2B`.
    let isForm = text.contains("BEGIN+")
    return (isForm ? text.replacing("+", with: " ") : text).removingPercentEncoding.map { Data($0.utf8) }
  }

  /// JSON with what people and programs break in it repaired: line breaks inside of texts, typographic or single quotation
  /// marks, and a comma after the last member.
  var mendedJSON: Data {
    var text = String(decoding: bytes, as: UTF8.self)
    for mark in ["“", "”", "„", "″"] { text = text.replacing(mark, with: "\"") }
    if !text.contains("\"") { text = text.replacing("'", with: "\"") }
    var mended: [UInt8] = []
    var isInside = false
    var isEscaped = false
    for byte in text.replacing("\r\n", with: "\n").utf8 {
      switch byte {
      case UInt8(ascii: "\n") where isEscaped:
        // A line that goes on, in a shell or a source file.
        mended.removeLast()
      case 0x0A where isInside, 0x0D where isInside: mended += Array("\\n".utf8)
      case 0x09 where isInside: mended += Array("\\t".utf8)
      case UInt8(ascii: "}") where !isInside, UInt8(ascii: "]") where !isInside:
        let last = mended.lastIndex { $0 > 0x20 }
        if let last, mended[last] == UInt8(ascii: ",") { mended.remove(at: last) }
        mended.append(byte)
      default:
        if byte == UInt8(ascii: "\""), !isEscaped { isInside.toggle() }
        mended.append(byte)
      }
      isEscaped = isInside && byte == UInt8(ascii: "\\") && !isEscaped
    }
    return Data(mended)
  }

  /// The body of a PEM block without the escapes that one or more rounds through JSON or a shell put into it.
  static func withoutEscapes(_ body: String) -> String {
    var result = ""
    var rest = body[...]
    while let slash = rest.firstIndex(of: "\\") {
      result += rest[..<slash]
      rest = rest[slash...].drop { $0 == "\\" }
      switch rest.first {
      case "n": result += "\n"
      case "r", "t": break
      case "/", "\n", "\r\n":
        result += rest.prefix(1)
      case "u" where rest.hasPrefix("u003d"), "u" where rest.hasPrefix("u003D"): result += "="
      case "u" where rest.hasPrefix("u002b"), "u" where rest.hasPrefix("u002B"): result += "+"
      case "u" where rest.hasPrefix("u002f"), "u" where rest.hasPrefix("u002F"): result += "/"
      default:
        // No escape of a line end or a Base64 digit: the block stays unreadable.
        result += "\\"
        continue
      }
      rest = rest.dropFirst(rest.first == "u" ? 5 : 1)
    }
    return result + rest
  }
}
