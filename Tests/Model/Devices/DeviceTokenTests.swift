import Foundation
import Testing

@testable import Model

@Suite("Device tokens")
struct DeviceTokenTests {
  static let hex = "77366f0dc4a4f2f474fe24de5db46132c725ee1a8e41b1fca9a511bc832c0113"
  static let base64 = "dzZvDcSk8vR0/iTeXbRhMscl7hqOQbH8qaURvIMsARM="
  static let firebase = "cX1aB2c3D4e5:APA91b" + String(repeating: "Hy_-9", count: 26)

  @Test(
    "every notation of one token gives the same bytes",
    arguments: [
      (hex, DeviceToken.Notation.hexadecimal),
      (hex.uppercased(), .hexadecimal),
      ("0x" + hex, .hexadecimal),
      (" \n" + hex + "\t\n", .hexadecimal),
      ("\"\(hex)\"", .hexadecimal),
      ("77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113", .hexadecimal),
      ("77366f0d c4a4f2f4 74fe24de 5db46132\nc725ee1a 8e41b1fc a9a511bc 832c0113", .hexadecimal),
      (stride(from: 0, to: 64, by: 2).map { hex.dropFirst($0).prefix(2) }.joined(separator: ":"), .hexadecimal),
      ("<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>", .description),
      ("deviceToken=<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>", .description),
      ("Optional(<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>)", .description),
      ("{length = 32, bytes = 0x\(hex)}", .description),
      ("token: \(hex)", .hexadecimal), ("Device Token=0x\(hex)", .hexadecimal),
      ("\(stride(from: 0, to: 64, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) })", .list),
      (base64, .base64),
      (String(base64.dropLast()), .base64),
      (base64.replacing("/", with: "_").replacing("+", with: "-"), .base64),
    ])
  func notations(text: String, notation: DeviceToken.Notation) throws {
    let reading = try DeviceToken.reading(text, platform: .ios)
    #expect(reading.token.hexadecimal == Self.hex)
    #expect(reading.notation == notation)
  }

  @Test(
    "what is no token is refused with its reason",
    arguments: [
      ("", TokenMessage.empty), ("  ", .empty), ("<>", .tooShort),
      ("{length = 32, bytes = 0x965b251c 6cb1926d e3cb366f dfb16ddd ... 5f857679 376eab7c }", .lossy),
      ("{length = 32, bytes = 0x965b251c 6cb1926d e3cb366f dfb16ddd … 5f857679 376eab7c }", .lossy),
      ("Optional({length = 32, bytes = 0x965b251c 6cb1926d ... 376eab7c })", .lossy),
      ("{length = 33, bytes = 0x\(hex)}", .wrongLength),
      ("32 bytes", .noBytes), ("Optional(32 bytes)", .noBytes),
      ("77366f0d…832c0113", .abbreviated), ("77366f0d...832c0113", .abbreviated),
      (String(hex.dropLast()), .oddLength), (hex + "0", .oddLength),
      (String(hex.dropLast(2)), .tooShort), ("00", .tooShort),
      (String(repeating: "ab", count: 201), .tooLong),
      (hex.replacing("f", with: "g"), .notHexadecimal),
      (firebase, .looksLikeFCM),
    ])
  func refusals(text: String, message: TokenMessage) {
    let problem = #expect(throws: Problem.self) { try DeviceToken(parsing: text, platform: .ios) }
    #expect(problem?.code == message.code)
    expectFilled(problem)
  }

  @Test("a lossy token's refusal says what to log instead")
  func remedy() {
    let problem = #expect(throws: Problem.self) {
      try DeviceToken(parsing: "{length = 32, bytes = 0x965b251c ... 376eab7c }", platform: .ios)
    }
    #expect(problem?.text.contains(#"deviceToken.map { String(format: "%02x", $0) }.joined()"#) == true)
  }

  @Test("a slip is named with its place")
  func position() {
    let problem = #expect(throws: Problem.self) {
      try DeviceToken(
        parsing: "<77366f0d c4a4x2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>", platform: .ios)
    }
    #expect(problem?.arguments == ["character": "x", "position": "15"])
  }

  @Test("32 to 200 bytes are taken", arguments: [32, 33, 80, 199, 200])
  func lengths(count: Int) throws {
    let text = String(repeating: "5a", count: count)
    #expect(try DeviceToken(parsing: text, platform: .ios).bytes.count == count)
  }

  @Test("of all bytes only hexadecimal digits, blanks, colons, dashes and the soft hyphen pass", arguments: 0...255)
  func bytes(byte: Int) {
    let scalar = Unicode.Scalar(UInt8(byte))
    let text = Self.hex.prefix(32) + String(Character(scalar)) + Self.hex.suffix(32)
    let parsed = try? DeviceToken(parsing: String(text), platform: .ios)
    let harmless = Character(scalar).isWhitespace || ":-\u{AD}".unicodeScalars.contains(scalar)
    #expect((parsed?.hexadecimal == Self.hex) == harmless)
    if !harmless { #expect(parsed == nil) }
  }

  @Test("Firebase's tokens are kept as text")
  func firebaseToken() throws {
    let token = try DeviceToken(parsing: Self.firebase, platform: .android)
    #expect(token.bytes == Array(Self.firebase.utf8))
    #expect(token.text == Self.firebase)
    #expect(try DeviceToken(parsing: token.text, platforms: [.ios, .android]) == token)
    #expect(token.abbreviated == "\(Self.firebase.prefix(8))…\(Self.firebase.suffix(8))")
    let long = Self.firebase + String(repeating: "x", count: 4096 - Self.firebase.count)
    #expect(try DeviceToken(parsing: long, platform: .android).text == long)
    let longer = #expect(throws: Problem.self) { try DeviceToken(parsing: long + "x", platform: .android) }
    #expect(longer?.code == TokenMessage.lengthFCM.code)
  }

  @Test(
    "what is no Firebase token is refused with its reason",
    arguments: [
      (hex, TokenMessage.looksLikeAPNs), ("<77366f0d c4a4f2f4>", .looksLikeAPNs), ("short", .lengthFCM),
      (firebase + "!", .notFCM), (String(firebase.prefix(20)) + "…", .abbreviated), ("", .empty),
    ])
  func firebaseRefusals(text: String, message: TokenMessage) {
    let problem = #expect(throws: Problem.self) { try DeviceToken(parsing: text, platform: .android) }
    #expect(problem?.code == message.code)
    expectFilled(problem)
  }

  @Test("an audience accepts tokens of either kind, according to its platforms")
  func either() throws {
    let both: Set<Platform> = [.ios, .android]
    #expect(try DeviceToken(parsing: Self.hex, platforms: both).hexadecimal == Self.hex)
    #expect(try DeviceToken(parsing: Self.firebase, platforms: both).text == Self.firebase)
    #expect(try DeviceToken(parsing: "1a0018970a8c1f3b2d7", platforms: [.android]).text == "1a0018970a8c1f3b2d7")
    #expect(throws: Problem.self) { try DeviceToken(parsing: "1a0018970a8c1f3b2d7", platforms: [.ios]) }
    #expect(try DeviceToken(parsing: Self.firebase, platforms: [.ios]).text == Self.firebase, "of a Flutter app")
    let odd = #expect(throws: Problem.self) { try DeviceToken(parsing: "abc", platforms: both) }
    #expect(odd?.code == TokenMessage.oddLength.code)
    let android = #expect(throws: Problem.self) { try DeviceToken(parsing: "abc", platforms: [.android]) }
    #expect(android?.code == TokenMessage.lengthFCM.code)
  }

  @Test("an APNs token is never shown as text, even if its bytes are letters")
  func textOfLetters() {
    #expect(DeviceToken(bytes: Array(repeating: 0x70, count: 32)).text == String(repeating: "70", count: 32))
  }

  @Test("an iPhone's service shows in its token: Firebase's is FCM's, unless another service is named")
  func services() throws {
    func service(_ text: String, _ provider: ProviderKind? = nil, _ platform: Platform = .ios) -> ProviderKind? {
      (try? DeviceToken.reading(text, platform: platform, provider: provider))?.provider
    }
    let apns = String(repeating: "0f", count: 32)
    #expect(service(apns) == .apns && service(Self.firebase) == .fcm && service(Self.firebase, .fcm) == .fcm)
    #expect(service(Self.firebase, .apns) == nil && service(apns, .fcm) == nil && service(apns, nil, .android) == nil)
    #expect(service(Self.firebase, nil, .android) == .fcm && service("13165ffa4e0b5fb6ba3", .jpush) == .jpush)
    let token = try DeviceToken(parsing: Self.firebase, platforms: [.ios])
    #expect(token.isFirebase && token.text == Self.firebase)
    #expect(try !DeviceToken(parsing: apns, platforms: [.ios]).isFirebase)
    #expect(!DeviceToken(bytes: []).isFirebase && !DeviceToken(bytes: Array(":APA9".utf8)).isFirebase)
  }
}
