import Foundation

extension DeviceToken {
  /// Reads a token in any notation that people paste.
  ///
  /// For iOS: hexadecimal digits in either case, with blanks, colons or `0x`, or as `NSData` prints them
  /// (`<77366f0d c4a4f2f4 …>`). For Android: the FCM token as it is.
  ///
  /// - Throws: ``Problem`` with an empty field; `device_token.lossy` for iOS 13's description of `Data`, which has
  ///   lost bytes and so can never be a token again.
  public init(parsing text: String, platform: Platform) throws(Problem) {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !trimmed.isEmpty else {
      throw Problem("", code: "device_token.empty", "Enter a device token.")
    }
    switch platform {
    case .ios: try self.init(apns: trimmed)
    case .android: try self.init(fcm: trimmed)
    }
  }

  private init(apns text: String) throws(Problem) {
    if text.contains("...") || text.contains("…") || (text.contains("length") && text.contains("bytes")) {
      throw Problem(
        "", code: "device_token.lossy",
        "This is how iOS 13 and later describe Data: the middle of the token is missing, so it cannot be used. Log it with deviceToken.map { String(format: \"%02x\", $0) }.joined() and paste that."
      )
    }
    var digits = text[...]
    if digits.hasPrefix("<"), digits.hasSuffix(">") { digits = digits.dropFirst().dropLast() }
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") { digits = digits.dropFirst(2) }
    var bytes: [UInt8] = []
    var high: UInt8?
    for (offset, scalar) in digits.unicodeScalars.enumerated() {
      if scalar.properties.isWhitespace || scalar == ":" { continue }
      guard scalar.isASCII, let digit = Character(scalar).hexDigitValue else {
        throw Problem(
          "", code: "device_token.not_hexadecimal",
          "A device token of APNs has only the digits 0–9 and a–f; the character “{character}” at position {position} is neither.",
          ["character": String(Character(scalar)), "position": String(offset + 1)])
      }
      if let first = high {
        bytes.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    if high != nil {
      throw Problem(
        "", code: "device_token.odd", "The token has {digits} hexadecimal digits, an odd number: a digit is missing.",
        ["digits": String(bytes.count * 2 + 1)])
    }
    guard bytes.count >= 32 else {
      throw Problem(
        "", code: "device_token.short",
        "The token has {digits} hexadecimal digits; APNs tokens have at least 64. Part of it may be missing.",
        ["digits": String(bytes.count * 2)])
    }
    guard bytes.count <= 200 else {
      throw Problem(
        "", code: "device_token.long", "The token has {digits} hexadecimal digits; at most 400 are taken.",
        ["digits": String(bytes.count * 2)])
    }
    self.init(bytes: bytes)
  }

  private init(fcm text: String) throws(Problem) {
    guard text.utf8.count <= 4096 else {
      throw Problem(
        "", code: "device_token.fcm_long", "The token has {bytes} bytes; at most 4096 are taken.",
        ["bytes": String(text.utf8.count)])
    }
    // FCM: "<fid>:APA91b…", URL-safe base64 and a colon (PROTOCOLS §2).
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw Problem(
        "", code: "device_token.fcm_characters",
        "An FCM token has no blanks and only ASCII characters: copy it again as one line.")
    }
    self.init(bytes: Array(text.utf8))
  }

  /// As people see it: hexadecimal digits for iOS, the text for Android.
  public func text(on platform: Platform) -> String {
    switch platform {
    case .ios: hexadecimal
    case .android: String(decoding: bytes, as: UTF8.self)
    }
  }
}
