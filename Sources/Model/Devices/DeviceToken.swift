import Foundation
import Text

/// A provider's address of one app on one device.
///
/// For APNs the bytes of the hexadecimal digits, for FCM and JPush the text as UTF-8. Opaque; Apple: "Don't make
/// assumptions about device token size". APNs tokens may have 32 to 200 bytes (docs/protocols.md §2).
package struct DeviceToken: Sendable, Hashable {
  package let bytes: [UInt8]
  /// Whether its service writes it as the text of its bytes, as FCM and JPush do; APNs writes hexadecimal digits. The
  /// bytes alone do not say so: those of an APNs token may all be letters.
  package let isText: Bool

  /// A token of APNs.
  package init(bytes: [UInt8]) { self.init(bytes: bytes, isText: false) }

  /// A token of FCM, or a registration ID of JPush.
  package init(text: String) { self.init(bytes: Array(text.utf8), isText: true) }

  /// A stored token of a device that a service reaches.
  package init(bytes: [UInt8], provider: ProviderKind) { self.init(bytes: bytes, isText: provider != .apns) }

  package init(bytes: [UInt8], isText: Bool) { (self.bytes, self.isText) = (bytes, isText) }

  package static func == (one: Self, other: Self) -> Bool { one.bytes == other.bytes }
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

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

  /// As its service writes it, and as it was registered: FCM's and JPush's text, otherwise hexadecimal digits.
  /// ``init(parsing:platforms:)`` reads both.
  package var text: String { isText || isRegistrationID ? String(decoding: bytes, as: UTF8.self) : hexadecimal }

  /// Recognisable, but not enough to send to: `77366f0d…832c0113`.
  package var abbreviated: String {
    let text = text
    return text.count <= 20 ? text : "\(text.prefix(8))…\(text.suffix(8))"
  }

  /// Whether it is a registration ID of JPush: every other token is longer.
  package var isRegistrationID: Bool {
    (1...Self.jpushCharacters).contains(bytes.count) && bytes.allSatisfy(ASCII.isAlphanumeric)
  }
}

extension DeviceToken {
  /// The notation of a given token.
  package enum Notation: String, Sendable, CaseIterable {
    /// In any case, with blanks, colons, or dashes between, or `0x` before them.
    case hexadecimal
    /// `<77366f0d c4a4f2f4 …>`, as NSData printed it up to iOS 12.
    case description
    /// The bytes in Base64 or Base64URL.
    case base64
    /// `[119, 54, 111, …]`, as Swift prints the bytes, or `{"type":"Buffer","data":[119, …]}`, as Node.js does.
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
    let id = TokenText.unwrapped(text)
    guard !id.isEmpty else { throw Problem("", TokenMessage.empty) }
    if let problem = ForeignToken.problem(with: id) { throw problem }
    if let problem = RegistrationID.problem(with: id) { throw problem }
    guard id.utf8.count <= Self.jpushCharacters else {
      throw Problem("", TokenMessage.notJPush, ["limit": String(Self.jpushCharacters)])
    }
    self.init(text: id)
  }

  /// JPush's registration IDs have 11 or 19 characters. What is longer is most likely a token of Apple's or Firebase's.
  private static let jpushCharacters = 31

  /// Parses a token of a device of one of `platforms`. For Android it may be a registration ID of JPush.
  package init(parsing text: String, platforms: Set<Platform>) throws(Problem) {
    do {
      let (token, notation) = try Self.reading(text, platform: .ios)
      self = platforms.contains(.android) ? Self.firebase(text, readAs: token, notation) ?? token : token
    } catch {
      // An iPhone may have one, too.
      if error.code == TokenMessage.looksLikeFCM.code {
        self = try Self.reading(text, platform: .android).token
        return
      }
      guard platforms.contains(.android) else { throw error }
      let id = TokenText.unwrapped(text)
      if RegistrationID.isJPush(id) {
        self.init(text: id)
        return
      }
      do {
        self = try Self.reading(text, platform: .android).token
      } catch let other {
        throw platforms.contains(.ios) ? error : other
      }
    }
  }

  /// A token of Firebase that can be read as one of APNs as well: its characters as digits, or, without a colon, all of
  /// them characters of Base64.
  private static func firebase(_ text: String, readAs token: DeviceToken, _ notation: Notation) -> DeviceToken? {
    switch notation {
    case .hexadecimal: return TokenText.letters(token.bytes).map { DeviceToken(text: $0) }
    case .base64 where token.bytes.count > 32:
      let text = TokenText.unwrapped(text)
      return text.allSatisfy(TokenText.isFirebase) ? DeviceToken(text: text) : nil
    default: return nil
    }
  }

  /// Like ``init(parsing:platform:)``, and also returns the notation, for a form that confirms it.
  package static func reading(
    _ text: String, platform: Platform
  ) throws(Problem) -> (token: DeviceToken, notation: Notation) {
    if platform == .ios, let bytes = plainDigits(text) { return (DeviceToken(bytes: bytes), .hexadecimal) }
    let text = TokenText.unwrapped(text)
    guard !text.isEmpty else { throw Problem("", TokenMessage.empty) }
    return switch platform {
    case .ios: try readingAPNs(text)
    case .android: (try readingFirebase(text), .text)
    }
  }

  private static func readingAPNs(_ text: String) throws(Problem) -> (DeviceToken, Notation) {
    if let bytes = TokenText.list(text) { return (DeviceToken(bytes: bytes), .list) }
    if text.contains("length") { return (try readingData(text), .description) }
    if text.hasSuffix(" bytes"), Int(text.dropLast(6)) != nil {
      throw Problem("", TokenMessage.noBytes, ["remedy": TokenMessage.remedy])
    }
    if let problem = ForeignToken.problem(with: text) { throw problem }
    if text.contains(":APA91") || text.hasPrefix("APA91") { throw Problem("", TokenMessage.looksLikeFCM) }
    if let bytes = TokenText.base64(text) { return (DeviceToken(bytes: bytes), .base64) }
    try refuseSeveral(text)
    if RegistrationID.isJPush(text) { throw Problem("", TokenMessage.looksLikeJPush) }
    let bytes = try hexadecimal(text)
    return (DeviceToken(bytes: bytes), text.hasPrefix("<") ? .description : .hexadecimal)
  }

  /// Blanks may stand within a token, so that two tokens would become one that no device has.
  private static func refuseSeveral(_ text: String) throws(Problem) {
    let texts = TokenList.texts(text)
    guard texts.count > 1, texts.allSatisfy(TokenList.isWhole) else { return }
    throw Problem("", TokenMessage.several, ["count": String(texts.count)])
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

  private static func hexadecimal(_ text: String) throws(Problem) -> [UInt8] {
    var (text, position) = TokenText.digits(text)
    var digits: [UInt8] = []
    for character in text {
      position += 1
      if character.isWhitespace || ":-".contains(character) { continue }
      guard character.isASCII, let digit = character.hexDigitValue else {
        if character == "…" || character == "." { throw Problem("", TokenMessage.abbreviated) }
        let arguments = ["character": TokenText.shown(character), "position": String(position)]
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

  private static func readingFirebase(_ text: String) throws(Problem) -> DeviceToken {
    if text.contains("...") || text.contains("…") { throw Problem("", TokenMessage.abbreviated) }
    if let problem = ForeignToken.problem(with: text) { throw problem }
    if RegistrationID.isJPush(text) { throw Problem("", TokenMessage.looksLikeJPush) }
    if let bytes = TokenText.list(text) ?? plainDigits(text), let letters = TokenText.letters(bytes) {
      return DeviceToken(text: letters)
    }
    if text.hasPrefix("<") || TokenText.list(text) != nil || (text.utf8.count == 64 && text.allSatisfy(\.isHexDigit)) {
      throw Problem("", TokenMessage.looksLikeAPNs)
    }
    for (index, character) in text.enumerated() where !TokenText.isFirebase(character) {
      try refuseSeveral(text)
      let arguments = ["character": TokenText.shown(character), "position": String(index + 1)]
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
    return DeviceToken(text: text)
  }
}
