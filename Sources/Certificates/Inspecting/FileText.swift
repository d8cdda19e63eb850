import Foundation
import OpenSSL
import Text

/// A text file, converted to UTF-8 and to line ends that OpenSSL understands.
struct FileText {
  /// UTF-8 without a byte order mark.
  let bytes: Data
  /// The trimmed text; only the beginning of a long one.
  let head: String

  /// Nil if the data is not text: it has control characters, or no Unicode encoding.
  init?(_ data: Data) {
    guard let bytes = Self.decoded(data) else { return nil }
    // Classic Mac line ends: PEM readers would see a single line.
    let lines = bytes.holds(0x0A) || !bytes.holds(0x0D) ? bytes : Data(bytes.map { $0 == 0x0D ? 0x0A : $0 })
    self.bytes = lines
    head = String(decoding: lines.prefix(8192), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func decoded(_ data: Data) -> Data? {
    if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) { return utf16(data) }
    // UTF-16 without a byte order mark: every second byte of ASCII text is zero.
    if data.count >= 8, data.count.isMultiple(of: 2) {
      let head = Array(data.prefix(8))
      if head.enumerated().allSatisfy({ ($0.element == 0) == ($0.offset % 2 == 1) }) {
        return utf16(Data([0xFF, 0xFE]) + data)
      }
      if head.enumerated().allSatisfy({ ($0.element == 0) == ($0.offset % 2 == 0) }) {
        return utf16(Data([0xFE, 0xFF]) + data)
      }
    }
    let bytes = data.starts(with: [0xEF, 0xBB, 0xBF]) ? Data(data.dropFirst(3)) : data
    // A single byte is not enough to tell.
    guard bytes.count > 1 || data.first != 0x30, bytes.isPlainText, String(validating: bytes, as: UTF8.self) != nil
    else {
      return nil
    }
    return bytes
  }

  private static func utf16(_ data: Data) -> Data? {
    guard let text = String(data: data, encoding: .utf16) else { return nil }
    let bytes = Data(text.utf8)
    return bytes.isPlainText ? bytes : nil
  }

  /// The text with the line ends of PEM blocks restored: blocks pasted into one line, indented, or with `\n` as two
  /// characters, as in environment variables and JSON. The rest is unchanged.
  var repaired: Data {
    let (opening, dashes) = (Array("-----BEGIN ".utf8), Array("-----".utf8))
    var result = Data()
    var position = 0
    while let begin = bytes.offset(of: opening, from: position),
      let labelEnd = bytes.offset(of: dashes, from: begin + opening.count), labelEnd - begin <= 71
    {
      let end = Array("-----END ".utf8) + part(begin + opening.count, labelEnd) + dashes
      let start = labelEnd + dashes.count
      guard let last = bytes.offset(of: end, from: start) else { break }
      result += [0x0A] + part(begin, start) + [0x0A]
      result += Self.body(part(start, last))
      result += [0x0A] + end + [0x0A]
      position = last + end.count
    }
    return result + part(position, bytes.count)
  }

  /// Whether every BEGIN line has its END line.
  var endsEveryBlock: Bool {
    let (opening, dashes) = (Array("-----BEGIN ".utf8), Array("-----".utf8))
    var position = 0
    while let begin = bytes.offset(of: opening, from: position) {
      guard let labelEnd = bytes.offset(of: dashes, from: begin + opening.count) else { return false }
      let end = Array("-----END ".utf8) + part(begin + opening.count, labelEnd) + dashes
      guard let last = bytes.offset(of: end, from: labelEnd + dashes.count) else { return false }
      position = last + end.count
    }
    // A dash after the last block may start another BEGIN line.
    return !part(position, bytes.count).holds(UInt8(ascii: "-"))
  }

  private func part(_ start: Int, _ end: Int) -> Data { bytes[bytes.startIndex + start..<bytes.startIndex + end] }

  private static func body(_ body: Data) -> Data {
    // Headers such as DEK-Info, and line ends written as two characters or in Unicode, need more than wrapping.
    let isPlain = body.withUnsafeBytes { $0.allSatisfy { $0 < 0x80 } }
    guard !isPlain || body.holds(UInt8(ascii: ":")) || body.holds(UInt8(ascii: "\\")) else { return wrapped(body) }
    let text = withoutEscapes(String(decoding: body, as: UTF8.self))
    let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
    // An empty line ends the headers.
    let headers = lines.filter { $0.contains(":") }
    let head = headers.isEmpty ? "" : headers.joined(separator: "\n") + "\n\n"
    return Data(head.utf8) + wrapped(Data(lines.filter { !$0.contains(":") }.joined().utf8))
  }

  /// Without blanks, in lines of 64 characters.
  private static func wrapped(_ body: Data) -> Data {
    var result: [UInt8] = []
    result.reserveCapacity(body.count + body.count / 64)
    var column = 0
    body.withUnsafeBytes { bytes in
      for byte in bytes where byte > 0x20 {
        if column == 64 {
          result.append(0x0A)
          column = 0
        }
        result.append(byte)
        column += 1
      }
    }
    return Data(result)
  }
}
