internal import Foundation

/// Encodes a text in lines of 76 ASCII characters (RFC 2045 section 6).
enum TransferEncoding: String {
  /// For mostly ASCII texts: stays readable.
  case quotedPrintable = "quoted-printable"
  /// For other texts: quoted-printable would triple Chinese.
  case base64

  static func best(for text: String) -> TransferEncoding {
    let (all, plain) = (text.utf8.count, text.utf8.count { $0 < 0x80 })
    return (all - plain) * 6 > all ? .base64 : .quotedPrintable
  }

  func encoded(_ text: String) -> String {
    let text = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    switch self {
    case .quotedPrintable:
      return text.split(separator: "\n", omittingEmptySubsequences: false).map(Self.quoted).joined(separator: "\r\n")
    case .base64:
      return Data(text.replacing("\n", with: "\r\n").utf8).base64EncodedString(
        options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
    }
  }

  /// One line, with soft line breaks.
  private static func quoted(_ line: Substring) -> String {
    var result = ""
    var length = 0
    let bytes = Array(line.utf8)
    for (index, byte) in bytes.enumerated() {
      // A blank at the end of a line can be lost in transit (RFC 2045 section 6.7, rule 3).
      let isLastBlank = (byte == 0x20 || byte == 0x09) && index == bytes.count - 1
      let isPlain = ((0x20...0x7e).contains(byte) || byte == 0x09) && byte != UInt8(ascii: "=") && !isLastBlank
      let digits = String(byte, radix: 16, uppercase: true)
      let part = isPlain ? String(Unicode.Scalar(byte)) : "=" + (byte < 16 ? "0" : "") + digits
      // One column is reserved for the soft break.
      if length + part.utf8.count > 75 {
        result += "=\r\n"
        length = 0
      }
      result += part
      length += part.utf8.count
    }
    return result
  }
}
