internal import COpenSSL
package import Foundation

/// One-time codes of authenticator apps (TOTP, RFC 6238), as all of them know: HMAC-SHA-1, six digits, a new one each 30
/// seconds.
package enum OneTimeCode {
  /// Seconds that a code is shown.
  private static let period: TimeInterval = 30
  /// Bytes of a secret: the length of the digest (RFC 4226 §4, R6).
  private static let secretLength = 20

  package static func newSecret() -> [UInt8] { Random.bytes(secretLength) }

  /// The number of the step at a moment.
  package static func step(at date: Date) -> Int64 { Int64((date.timeIntervalSince1970 / period).rounded(.down)) }

  /// The code of a step (RFC 4226 §5.3).
  package static func code(_ secret: [UInt8], step: Int64) -> String {
    let message = withUnsafeBytes(of: step.bigEndian) { Array($0) }
    var digest = [UInt8](repeating: 0, count: 20)
    // HMAC of memory can fail only for lack of memory.
    precondition(
      COpenSSL.HMAC(EVP_sha1(), secret, Int32(secret.count), message, message.count, &digest, nil) != nil, "HMAC failed"
    )
    let offset = Int(digest[19] & 0x0F)
    let number = digest[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    let digits = String(number % 1_000_000)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The step that a code belongs to: the current one, or its neighbors because clocks differ (RFC 6238 §5.2).
  ///
  /// - Parameter used: the step of the last accepted code; its code and older ones are refused.
  package static func step(of code: String, _ secret: [UInt8], after used: Int64, now: Date) -> Int64? {
    let current = step(at: now)
    return [current, current - 1, current + 1].first { step in
      step > used && constantTimeEqual(Array(code.utf8), Array(Self.code(secret, step: step).utf8))
    }
  }

  /// The address that authenticator apps read from a QR code.
  package static func address(_ secret: [UInt8], issuer: String, account: String) -> String {
    let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~@"))
    func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
    return
      "otpauth://totp/\(escaped(issuer)):\(escaped(account))?secret=\(Base32.encode(secret))&issuer=\(escaped(issuer))"
  }
}

/// Base32 (RFC 4648 §6), without padding.
package enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var (text, bits, count) = ("", 0, 0)
    for byte in bytes {
      (bits, count) = (bits << 8 | Int(byte), count + 8)
      while count >= 5 {
        count -= 5
        text.append(alphabet[bits >> count & 31])
      }
      bits &= 1 << count - 1
    }
    if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
    return text
  }
}
