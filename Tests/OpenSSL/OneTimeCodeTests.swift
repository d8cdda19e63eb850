import Foundation
import OpenSSL
import Testing

@Suite("One-time codes")
struct OneTimeCodeTests {
  private static let secret = Array("12345678901234567890".utf8)

  /// RFC 6238 appendix B, SHA-1; the last six of eight digits.
  @Test(
    "the RFC's own examples",
    arguments: [
      (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
      (2_000_000_000, "279037"), (20_000_000_000, "353130"),
    ])
  func examples(time: Int, code: String) {
    let step = OneTimeCode.step(at: Date(timeIntervalSince1970: TimeInterval(time)))
    #expect(OneTimeCode.code(Self.secret, step: step) == code)
  }

  @Test("a code is good one step early or late, once, and never after a later one")
  func window() {
    let now = Date(timeIntervalSince1970: 1_111_111_111)
    let step = OneTimeCode.step(at: now)
    for (shift, isGood) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] as [(Int64, Bool)] {
      let code = OneTimeCode.code(Self.secret, step: step + shift)
      #expect(OneTimeCode.step(of: code, Self.secret, after: 0, now: now) == (isGood ? step + shift : nil))
    }
    let code = OneTimeCode.code(Self.secret, step: step)
    #expect(OneTimeCode.step(of: code, Self.secret, after: step, now: now) == nil)
    #expect(OneTimeCode.step(of: "", Self.secret, after: 0, now: now) == nil)
    #expect(OneTimeCode.newSecret() != OneTimeCode.newSecret() && OneTimeCode.newSecret().count == 20)
  }

  /// RFC 4648 §10, without the padding.
  @Test(
    "Base32",
    arguments: [
      ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
      ("foobar", "MZXW6YTBOI"),
    ])
  func base32(text: String, encoded: String) { #expect(Base32.encode(text.utf8) == encoded) }

  @Test("the address names product and account, escaped")
  func address() {
    #expect(
      OneTimeCode.address(Self.secret, issuer: "Signal box", account: "lin+a@example.com")
        == "otpauth://totp/Signal%20box:lin%2Ba@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Signal%20box"
    )
  }
}
