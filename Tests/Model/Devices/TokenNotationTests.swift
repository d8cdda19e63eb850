import Foundation
import JSON
import Testing

@testable import Model

private let hex = DeviceTokenTests.hex
private let firebase = DeviceTokenTests.firebase
/// A token of GCM, which had no colon.
private let oldFirebase = "APA91bHx7_" + String(repeating: "Hx7_w", count: 26)
private let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }

@Suite("Notations of device tokens, as people copy them")
struct TokenNotationTests {
  private static func pairs(_ separator: String, upper: Bool = false) -> String {
    bytes.map { String(format: upper ? "%02X" : "%02x", $0) }.joined(separator: separator)
  }

  private static func numbers(_ form: (UInt8) -> String = { String($0) }) -> String {
    bytes.map(form).joined(separator: ",")
  }

  static let notations: [String] = {
    let cut = hex.index(hex.startIndex, offsetBy: 9)
    let (head, tail) = (String(hex[..<cut]), String(hex[cut...]))
    let map: String = bytes.enumerated().map { "\"\($0)\":\($1)" }.joined(separator: ",")
    let signed: String = numbers { String(Int8(bitPattern: $0)) }
    let prefixed: String = numbers { "0x" + String($0, radix: 16) }
    // Node.js: JSON of a Buffer and of a Uint8Array, and what the console prints of both.
    var forms = ["{\"type\":\"Buffer\",\"data\":[\(numbers())]}", "{ \"data\": [\(numbers())], \"type\": \"Buffer\" }"]
    forms += ["{\(map)}", "<Buffer \(pairs(" "))>", "Uint8Array(32) [ \(numbers()) ]"]
    // Java's signed bytes, C#, C, Python, Go.
    forms += ["[\(signed)]", pairs("-", upper: true), "{\(prefixed)}", "bytes([\(numbers())])"]
    forms += [pairs("-"), pairs(","), numbers()]
    // Databases.
    forms += ["\\x\(hex)", "X'\(hex)'", "\\x" + pairs("\\x")]
    // Text around it.
    forms += ["\"\(hex)\",", "'\(hex)';", "[\"\(hex)\"]", "%3C\(hex.prefix(32))%20\(hex.suffix(32))%3E"]
    // Signs without a shape: byte order mark, zero-width blank and joiner, no-break blank, marks of direction.
    forms += ["\u{FEFF}\(hex)", "\(hex)\u{200D}", "\u{A0}\(hex)\u{A0}", "\u{202A}\(hex)\u{202C}"]
    forms += ["\u{2068}\(hex)\u{2069}", "\u{200E}\(hex)\u{200F}"]
    forms += ["\u{200B}", "\u{AD}", "\u{2060}", "\u{A0}", "\u{200D}"].map { head + $0 + tail }
    return forms
  }()

  @Test("an APNs token is read from every notation", arguments: notations)
  func apns(text: String) throws {
    #expect(try DeviceToken(parsing: text, platform: .ios).hexadecimal == hex)
    #expect(try DeviceToken(parsing: text, platforms: [.ios, .android]).text == hex)
  }

  @Test("Base64 of 64 to 100 bytes is read, with and without =, in both alphabets, and over several lines")
  func base64() throws {
    for count in [32, 64, 65, 66, 80, 99, 100] {
      let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 250) })
      let token = DeviceToken(bytes: [UInt8](data))
      let text = data.base64EncodedString()
      let bare = text.replacing("=", with: "")
      let web = bare.replacing("+", with: "-").replacing("/", with: "_")
      for form in [text, bare, web, "\(text.prefix(40))\r\n\(text.dropFirst(40))"] {
        #expect(try DeviceToken(parsing: form, platform: .ios) == token, "\(form)")
      }
    }
    let mistyped = #expect(throws: Problem.self) {
      try DeviceToken(parsing: String(repeating: hex, count: 2).replacing("77", with: "7g"), platform: .ios)
    }
    #expect(mistyped?.code == TokenMessage.notHexadecimal.code)
  }

  @Test(
    "a Firebase token is read from every notation, and is the same for each audience",
    arguments: [
      firebase, oldFirebase, firebase.replacing(":", with: "%3A"), firebase.replacing(":", with: "%253a"),
      "\u{FEFF}\(firebase)\u{200B}", "\u{202A}\(firebase)\u{202C}", "\u{A0}\(firebase)", "[\"\(firebase)\"]",
      "\(firebase.prefix(30))\u{200D}\(firebase.dropFirst(30))",
      // As an earlier export wrote it.
      DeviceToken(text: firebase).hexadecimal, DeviceToken(text: oldFirebase).hexadecimal,
    ])
  func android(text: String) throws {
    let isOld = text.contains("APA91bHx7_") || text == DeviceToken(text: oldFirebase).hexadecimal
    let token = isOld ? oldFirebase : firebase
    #expect(try DeviceToken(parsing: text, platform: .android).text == token)
    for platforms in [[.android], [.ios, .android]] as [Set<Platform>] {
      #expect(try DeviceToken(parsing: text, platforms: platforms).text == token)
    }
  }

  @Test("a Firebase token without a colon is none of APNs in Base64", arguments: [86, 87, 100, 119, 136])
  func noColon(length: Int) throws {
    let token = String((String(repeating: "kZ9_x-Qw", count: 20)).prefix(length))
    #expect(try DeviceToken(parsing: token, platforms: [.ios, .android]).text == token)
    #expect(try DeviceToken(parsing: token, platform: .android).text == token)
  }

  @Test(
    "a token of another service is named as what it is, on each platform",
    arguments: [
      ("ExponentPushToken[0J23tlOl6Qz92gG9SM4ceI]", TokenMessage.expo),
      ("ExpoPushToken[0J23tlOl6Qz92gG9SM4ceI]", .expo),
      ("5fb6a1de-0d39-4e1d-9c7f-1e3a6f0a5b11", .uuid), ("5FB6A1DE-0D39-4E1D-9C7F-1E3A6F0A5B11", .uuid),
      ("https://fcm.googleapis.com/fcm/send/\(firebase)", .webPush),
      ("https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk", .webPush),
      ("https://web.push.apple.com/QGuQyavXutnMH", .webPush),
      (#"{"endpoint":"https://fcm.googleapis.com/fcm/send/x","keys":{"p256dh":"a","auth":"b"}}"#, .webPush),
      (#"{"keys":{}, "endpoint": "https://web.push.apple.com/x"}"#, .webPush),
      ("https://db5p.notify.windows.com/?token=AwYAAAD8sfbDrL", .windows),
      ("IQAAAACy0T43AADshvE4JWn5zbicfxAYnljrKzjiHyUytoK-V6U0zmrjsluIB1a0oSybQlTI7_39bHJ3cix_vI6Qn", .maker),
      ("MAMzLgIkEUVNJqEGIQ8AAAAjvAcDAwAAAAAAKJQw", .maker), ("OPPO_CN_8fa0618f178145d8c2a44091a1326411", .maker),
      ("amzn1.adm-registration.v2.Y29tLmFtYXpvbi5EZXZpY2VNZXNzYWdpbmc", .maker),
      ("arn:aws:sns:us-west-2:123456789012:endpoint/APNS/shop/5fb6a1de-0d39-4e1d-9c7f-1e3a6f0a5b11", .amazonEndpoint),
      ("/topics/news", .topic), ("13165ffa4e0b5fb6ba3", .looksLikeJPush), ("0207870f1b8", .looksLikeJPush),
    ])
  func foreign(text: String, message: TokenMessage) {
    for platform in Platform.allCases {
      let problem = #expect(throws: Problem.self) { try DeviceToken(parsing: text, platform: platform) }
      #expect(problem?.code == message.code, "\(platform)")
      expectFilled(problem)
    }
    // Of audiences, a registration ID is a token of JPush's devices.
    guard message != .looksLikeJPush else { return }
    for platforms in [[.ios], [.android], [.ios, .android]] as [Set<Platform>] {
      #expect(throws: Problem.self) { try DeviceToken(parsing: text, platforms: platforms) }
    }
    #expect(throws: Problem.self) { try DeviceToken(parsing: text, platform: .android, provider: .jpush) }
  }

  @Test(
    "several tokens in one text are refused by their number, not joined",
    arguments: [" ", "\n", ",", ", ", ";", "\",\""])
  func several(separator: String) {
    for (token, platform) in [(hex, Platform.ios), (firebase, .android)] {
      let problem = #expect(throws: Problem.self) {
        try DeviceToken(parsing: [token, token].joined(separator: separator), platform: platform)
      }
      #expect(problem?.code == TokenMessage.several.code && problem?.arguments["count"] == "2")
    }
  }

  @Test(
    "a sign without a shape is named by its number",
    arguments: [
      ("\u{0}", "U+0000"), ("\u{7}", "U+0007"), ("\u{2003}", "U+2003"), ("\u{85}", "U+0085"), (" ", " "),
      ("\u{A0}", "U+00A0"),
    ])
  func shapes(sign: String, shown: String) {
    let text = String(firebase.prefix(24)) + sign + firebase.dropFirst(24)
    let problem = #expect(throws: Problem.self) { try DeviceToken(parsing: text, platform: .android) }
    #expect(problem?.arguments["character"] == shown && problem?.code == TokenMessage.notFCM.code)
  }

  @Test(
    "a pasted list is taken apart, whatever program or database wrote it",
    arguments: [
      "[\"A\",\"B\"]", "[\n  \"A\",\n  \"B\"\n]\n", "['A', 'B']", "(\"A\", \"B\")", "{A,B}", "A B", "A\nB", "A,B",
      "A; B",
      "\"A\"\n\"B\"", "A,\nB,", "\u{FEFF}[\"A\",\"B\"]", "A，B",
    ])
  func lists(text: String) {
    for (one, other) in [
      (hex, String(hex.reversed())), (firebase, oldFirebase), ("13165ffa4e0b5fb6ba3", "0207870f1b8"),
    ] {
      let list = text.replacing("A", with: "\u{1}").replacing("B", with: "\u{2}")
        .replacing("\u{1}", with: one).replacing("\u{2}", with: other)
      #expect(TokenList.texts(list) == [one, other], "\(list)")
    }
  }

  @Test("blanks, commas and brackets that belong to a token stay")
  func whole() {
    let lossy = "{length = 32, bytes = 0x965b251c 6cb1926d ... 376eab7c }"
    let groups = "<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>"
    let list = "[\(Self.numbers())]"
    for text in [lossy, groups, list, String(groups.dropFirst().dropLast()), "{\"type\":\"Buffer\",\"data\":\(list)}"] {
      #expect(TokenList.texts(text) == [text])
      #expect(TokenList.texts("\(text)\n\(hex)") == [text, hex])
      #expect(TokenList.texts("\(text)\n\(text)") == [text, text])
    }
    #expect(TokenList.texts("[\(list),\(list)]").count == 2)
  }

  @Test("a token is written as its service writes it, whatever its bytes are")
  func written() {
    let letters = [UInt8](repeating: 0x55, count: 32)
    #expect(DeviceToken(bytes: letters, provider: .apns).text == String(repeating: "55", count: 32))
    #expect(DeviceToken(bytes: letters, provider: .fcm).text == String(repeating: "U", count: 32))
    #expect(DeviceToken(text: oldFirebase).abbreviated == "\(oldFirebase.prefix(8))…\(oldFirebase.suffix(8))")
    #expect(DeviceToken(bytes: letters, provider: .apns) == DeviceToken(bytes: letters, provider: .fcm))
    #expect(DeviceToken(text: oldFirebase).isFirebase && !DeviceToken(bytes: letters, provider: .apns).isFirebase)
  }

  @Test("a draft for a token without a colon has it as it was written")
  func draftText() throws {
    let draft: JSONValue = ["audience": ["device_token": [.string(oldFirebase)]], "platforms": ["ios", "android"]]
    let read = try #require(Audience(draft: draft))
    #expect(read.json == draft["audience"])
  }
}
