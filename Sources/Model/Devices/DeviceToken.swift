import Foundation
import Text

/// A provider's address of one app on one device.
///
/// For APNs the bytes of the hexadecimal digits, for FCM and JPush the text as UTF-8. Opaque; Apple: "Don't make
/// assumptions about device token size". APNs tokens may have 32 to 200 bytes (docs/protocols.md §2).
package struct DeviceToken: Sendable, Hashable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Lower case, as in APNs' path.
  package var hexadecimal: String {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x61 + value - 10 }
    return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
      for (index, byte) in bytes.enumerated() {
        text[index * 2] = digit(byte >> 4)
        text[index * 2 + 1] = digit(byte & 15)
      }
      return bytes.count * 2
    }
  }

  /// Recognisable, but not enough to send to: `77366f0d…832c0113`.
  package var abbreviated: String {
    let text = text
    return text.count <= 20 ? text : "\(text.prefix(8))…\(text.suffix(8))"
  }
}

extension DeviceToken {
  /// The notation of a given token.
  package enum Notation: String, Sendable, CaseIterable {
    /// In any case, with blanks, colons, or `0x` before them.
    case hexadecimal
    /// `<77366f0d c4a4f2f4 …>`, as NSData printed it up to iOS 12.
    case description
    /// The 32 bytes in Base64 or Base64URL.
    case base64
    /// `[119, 54, 111, …]`, as Swift prints the bytes.
    case list
    /// A Firebase registration token, or a registration ID of JPush.
    case text
  }

  /// APNs tokens have 32 bytes today, those of Live Activities more. "Don't make assumptions about device token size"
  /// (Apple, Sending notification requests to APNs), so these are plausible bounds.
  package static let hexadecimalDigits = 64...400
  /// Firebase: about 140 to 200 characters today; the limit is not documented.
  package static let firebaseCharacters = 20...4096

  /// Parses a token copied from a log, a database, or a debugger.
  ///
  /// - Parameter provider: the service that reaches the device; nil: the platform's own.
  package init(parsing text: String, platform: Platform, provider: ProviderKind? = nil) throws(Problem) {
    guard provider == .jpush else {
      // FCM's tokens look alike on both platforms.
      self = try Self.reading(text, platform: provider == .fcm ? .android : platform).token
      return
    }
    let id = Self.unwrapped(text)
    guard !id.isEmpty else { throw Problem("", TokenMessage.empty) }
    if let problem = RegistrationID.problem(with: id) { throw problem }
    guard id.utf8.count <= Self.jpushCharacters else {
      throw Problem("", TokenMessage.notJPush, ["limit": String(Self.jpushCharacters)])
    }
    bytes = Array(id.utf8)
  }

  /// JPush's registration IDs have 11 or 19 characters. What is longer is most likely a token of Apple's or Firebase's.
  private static let jpushCharacters = 31
  private static let jpushLengths = [11, 19]

  /// Parses a token of a device of one of `platforms`. For Android it may be a registration ID of JPush.
  package init(parsing text: String, platforms: Set<Platform>) throws(Problem) {
    do {
      self = try Self.reading(text, platform: .ios).token
    } catch {
      // An iPhone may have one, too.
      if error.code == TokenMessage.looksLikeFCM.code {
        self = try Self.reading(text, platform: .android).token
        return
      }
      guard platforms.contains(.android) else { throw error }
      let id = DeviceToken(bytes: Array(Self.unwrapped(text).utf8))
      if id.isRegistrationID, Self.jpushLengths.contains(id.bytes.count) {
        self = id
        return
      }
      do {
        self = try Self.reading(text, platform: .android).token
      } catch let other {
        throw platforms.contains(.ios) ? error : other
      }
    }
  }

  /// Like ``init(parsing:platform:)``, and also returns the notation, for a form that confirms it.
  package static func reading(
    _ text: String, platform: Platform
  ) throws(Problem) -> (token: DeviceToken, notation: Notation) {
    if platform == .ios, let bytes = plainDigits(text) { return (DeviceToken(bytes: bytes), .hexadecimal) }
    let text = unwrapped(text)
    guard !text.isEmpty else { throw Problem("", TokenMessage.empty) }
    return switch platform {
    case .ios: try readingAPNs(text)
    case .android: (try readingFirebase(text), .text)
    }
  }

  private static func readingAPNs(_ text: String) throws(Problem) -> (DeviceToken, Notation) {
    if let bytes = list(text) { return (DeviceToken(bytes: bytes), .list) }
    if text.hasPrefix("{") || text.contains("length") { return (try readingData(text), .description) }
    if text.hasSuffix(" bytes"), Int(text.dropLast(6)) != nil {
      throw Problem("", TokenMessage.noBytes, ["remedy": TokenMessage.remedy])
    }
    if text.contains(":APA91") { throw Problem("", TokenMessage.looksLikeFCM) }
    if let bytes = base64(text) { return (DeviceToken(bytes: bytes), .base64) }
    let bytes = try hexadecimal(text)
    return (DeviceToken(bytes: bytes), text.hasPrefix("<") ? .description : .hexadecimal)
  }

  /// Plain digits, as programs write them: read byte by byte, because imports contain millions.
  private static func plainDigits(_ text: String) -> [UInt8]? {
    let count = text.utf8.count
    guard hexadecimalDigits.contains(count), count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count / 2)
    var high: UInt8?
    for byte in text.utf8 {
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46: digit = byte - 0x41 + 10
      case 0x61...0x66: digit = byte - 0x61 + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }

  /// `{length = 32, bytes = 0x965b251c 6cb1926d … }`: complete only for short data, which the length proves.
  private static func readingData(_ text: String) throws(Problem) -> DeviceToken {
    let lossy = Problem("", TokenMessage.lossy, ["remedy": TokenMessage.remedy])
    guard !text.contains("..."), !text.contains("…"), let start = text.range(of: "0x") else { throw lossy }
    let bytes = try hexadecimal(text[start.upperBound...].filter { $0 != "}" })
    let stated = text[..<start.lowerBound].filter { $0.isASCII && $0.isNumber }
    guard Int(stated) == bytes.count else {
      throw Problem("", TokenMessage.wrongLength, ["stated": String(stated), "count": String(bytes.count)])
    }
    return DeviceToken(bytes: bytes)
  }

  /// Nil for anything but as many bytes as a token has, in brackets.
  private static func list(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
    let numbers = text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
    let bytes = numbers.compactMap { UInt8($0.trimmingCharacters(in: .whitespaces)) }
    return bytes.count == numbers.count && hexadecimalDigits.contains(bytes.count * 2) ? bytes : nil
  }

  private static func hexadecimal(_ text: String) throws(Problem) -> [UInt8] {
    var text = text[...]
    var position = 0
    if text.hasPrefix("<"), text.hasSuffix(">") {
      text = text.dropFirst().dropLast()
      position = 1
    } else if text.hasPrefix("0x") || text.hasPrefix("0X") {
      text = text.dropFirst(2)
      position = 2
    }
    var digits: [UInt8] = []
    for character in text {
      position += 1
      if character.isWhitespace || character == ":" { continue }
      guard character.isASCII, let digit = character.hexDigitValue else {
        if character == "…" || character == "." { throw Problem("", TokenMessage.abbreviated) }
        let arguments = ["character": String(character), "position": String(position)]
        throw Problem("", TokenMessage.notHexadecimal, arguments)
      }
      digits.append(UInt8(digit))
    }
    let count = String(digits.count)
    if digits.count > hexadecimalDigits.upperBound {
      throw Problem("", TokenMessage.tooLong, ["limit": String(hexadecimalDigits.upperBound), "count": count])
    }
    if !digits.count.isMultiple(of: 2) { throw Problem("", TokenMessage.oddLength, ["count": count]) }
    if digits.count < hexadecimalDigits.lowerBound {
      throw Problem("", TokenMessage.tooShort, ["limit": String(hexadecimalDigits.lowerBound), "count": count])
    }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// 32 bytes in Base64: 43 characters with or without `=`. Not for mistyped hexadecimal text: of 43 random Base64
  /// characters some 28 are no hexadecimal digits, and eight are required.
  private static func base64(_ text: String) -> [UInt8]? {
    let bare = text.hasSuffix("=") ? text.dropLast() : text[...]
    guard bare.utf8.count == 43, bare.filter({ !$0.isHexDigit }).count >= 8 else { return nil }
    let standard = bare.replacing("-", with: "+").replacing("_", with: "/")
    guard let data = Data(base64Encoded: standard + "="), data.count == 32 else { return nil }
    return [UInt8](data)
  }

  private static func readingFirebase(_ text: String) throws(Problem) -> DeviceToken {
    if text.contains("...") || text.contains("…") { throw Problem("", TokenMessage.abbreviated) }
    if text.hasPrefix("<") || (text.utf8.count == 64 && text.allSatisfy(\.isHexDigit)) {
      throw Problem("", TokenMessage.looksLikeAPNs)
    }
    for (index, character) in text.enumerated() where !isFirebase(character) {
      let arguments = ["character": String(character), "position": String(index + 1)]
      throw Problem("", TokenMessage.notFCM, arguments)
    }
    guard firebaseCharacters.contains(text.utf8.count) else {
      throw Problem(
        "", TokenMessage.lengthFCM,
        [
          "low": String(firebaseCharacters.lowerBound), "high": String(firebaseCharacters.upperBound),
          "count": String(text.utf8.count),
        ])
    }
    return DeviceToken(bytes: Array(text.utf8))
  }

  private static func isFirebase(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "_-:.%~".contains(character))
  }

  /// Removes blanks and quotation marks around, and `deviceToken=`, `token: ` or `Optional(…)` from logs.
  private static func unwrapped(_ text: String) -> String {
    var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if let value = value(labeled: text) { text = String(value) }
    if text.hasPrefix("Optional("), text.hasSuffix(")") { text = String(text.dropFirst(9).dropLast()) }
    if let open = text.firstIndex(of: "<"), let close = text[open...].firstIndex(of: ">") {
      return String(text[open...close])
    }
    return text.trimmingCharacters(in: quotationMarks)
  }

  private static let quotationMarks = CharacterSet(charactersIn: "\"'“”")

  /// What stands behind `token:`, `deviceToken =` and the like; nil without such a label. Imports contain millions of
  /// tokens, and a `Regex` costs more than all the rest of one.
  private static func value(labeled text: String) -> Substring? {
    var rest = text.utf8[...]
    func skip(_ word: StaticString) -> Bool {
      let isThere = word.withUTF8Buffer { word in
        rest.count >= word.count && zip(rest, word).allSatisfy { $0 | 0x20 == $1 }
      }
      if isThere { rest = rest.dropFirst(word.utf8CodeUnitCount) }
      return isThere
    }
    if skip("device"), let next = rest.first, next == UInt8(ascii: " ") || next == UInt8(ascii: "_") {
      rest = rest.dropFirst()
    }
    guard skip("token") else { return nil }
    rest = rest.drop { $0 == UInt8(ascii: " ") }
    guard let sign = rest.first, sign == UInt8(ascii: ":") || sign == UInt8(ascii: "=") else { return nil }
    return Substring(rest.dropFirst().drop { $0 == UInt8(ascii: " ") })
  }
}

extension DeviceToken {
  /// Whether it is a registration ID of JPush: every other token is longer.
  package var isRegistrationID: Bool {
    (1...Self.jpushCharacters).contains(bytes.count) && bytes.allSatisfy(ASCII.isAlphanumeric)
  }

  /// The notation for people: Firebase's and JPush's text, otherwise hexadecimal digits. ``init(parsing:platforms:)``
  /// reads both.
  package var text: String {
    if isRegistrationID { return String(decoding: bytes, as: UTF8.self) }
    // 32 random bytes of an APNs token never contain this word by chance.
    guard let text = String(validating: bytes, as: UTF8.self), text.contains(":APA91"),
      text.allSatisfy(Self.isFirebase)
    else { return hexadecimal }
    return text
  }
}
