package import Foundation

/// Base64 with the alphabet for addresses and file names, without padding (RFC 4648 §5).
package enum Base64URL {
  /// The text of some bytes.
  package static func encode(_ bytes: some DataProtocol) -> String {
    String(
      Data(bytes).base64EncodedString().compactMap { character in
        switch character {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: character
        }
      })
  }

  /// The bytes of a text, nil if it holds anything but the alphabet: also for padding and blanks.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var standard = ""
    standard.reserveCapacity(text.utf8.count + 3)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "-"): standard.append("+")
      case UInt8(ascii: "_"): standard.append("/")
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        standard.append(Character(UnicodeScalar(byte)))
      default: return nil
      }
    }
    guard standard.utf8.count % 4 != 1 else { return nil }
    standard.append(String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    return Data(base64Encoded: standard).map(Array.init)
  }
}
