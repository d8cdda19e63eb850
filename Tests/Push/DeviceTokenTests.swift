import Push
import Testing

@Suite("Device token")
struct DeviceTokenTests {
  static let digits = "77366f0dc4a4f2f474fe24de5db46132c725ee1a8e41b1fca9a511bc832c0113"

  @Test(
    "is understood in every notation that people paste",
    arguments: [
      digits, digits.uppercased(), "  \(digits)\n", "0x" + digits,
      "<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>",
      "77:36:6f:0d:c4:a4:f2:f4:74:fe:24:de:5d:b4:61:32:c7:25:ee:1a:8e:41:b1:fc:a9:a5:11:bc:83:2c:01:13",
    ])
  func notations(text: String) throws {
    #expect(try DeviceToken(parsing: text, platform: .ios).hexadecimal == Self.digits)
  }

  @Test(
    "is refused with the reason",
    arguments: refusals)
  func refused(text: String, code: String) {
    let problem = #expect(throws: Problem.self) { try DeviceToken(parsing: text, platform: .ios) }
    #expect(problem?.code == code)
  }

  static let refusals: [(String, String)] = [
    ("", "device_token.empty"), ("<>", "device_token.short"),
    (
      "{length = 32, bytes = 0x965b251c 6cb1926d e3cb366f dfb16ddd ... 5f857679 376eab7c }",
      "device_token.lossy"
    ),
    ("{length=32,bytes=0x965b251c}", "device_token.lossy"),
    (String(digits.dropLast()), "device_token.odd"), (String(digits.dropLast(2)), "device_token.short"),
    (String(digits.dropLast()) + "g", "device_token.not_hexadecimal"),
    (String(digits.dropLast()) + "٣", "device_token.not_hexadecimal"),
    (String(repeating: "ab", count: 201), "device_token.long"),
  ]

  @Test("a wrong character is named with its place")
  func position() {
    let problem = #expect(throws: Problem.self) { try DeviceToken(parsing: "77 z6", platform: .ios) }
    #expect(problem?.arguments == ["character": "z", "position": "4"])
  }

  @Test("an FCM token is kept as it is")
  func fcm() throws {
    let text = "fMEP0vJqS6:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx"
    #expect(try DeviceToken(parsing: text, platform: .android).text(on: .android) == text)
    #expect(throws: Problem.self) { try DeviceToken(parsing: "two words", platform: .android) }
  }
}
