import Foundation
import JSON
import Testing

@testable import Model

@Suite("Pasted commands of every shell")
struct PastedCommandTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private static let token = String(repeating: "0f", count: 32)
  private static let address = "https://api.push.apple.com/3/device/\(token)"

  private static func read(_ text: String) throws -> DialectReading { try DialectReading(text, now: now) }

  @Test(
    "the suffix of a topic tells the push type, and is no part of the app",
    arguments: PushType.allCases.filter { !$0.topicSuffix.isEmpty })
  func suffixes(type: PushType) throws {
    let topic = "com.example.app" + type.topicSuffix
    let command = "curl --http2 -E voip.pem --header \"apns-topic: \(topic)\" -d \"{\\\"message\\\":\\\"Hello\\\"}\""
    for said in ["", " -H 'apns-push-type: \(type.rawValue)'"] {
      let reading = try Self.read("\(command)\(said) \(Self.address)")
      #expect(reading.missing == [] && reading.draft.app == "com.example.app")
      #expect(reading.draft.options.pushType == type && reading.draft.apns.headers == [:])
      #expect(APNsPayload(reading.draft).topic == topic)
    }
    let fcm = #"{"message":{"token":"x","apns":{"headers":{"apns-topic":"\#(topic)"},"payload":{"aps":{},"a":1}}}}"#
    let other = try Self.read(fcm)
    #expect(other.draft.app == "com.example.app" && other.draft.options.pushType == type)
  }

  @Test("a topic that contradicts the push type stays, and the checks say so")
  func contradiction() throws {
    let command = "curl -H 'apns-topic: com.example.app.voip' -H 'apns-push-type: alert'"
    let reading = try Self.read("\(command) -d '{\"aps\":{\"alert\":\"x\"}}' \(Self.address)")
    #expect(
      reading.draft.app == "com.example.app" && reading.draft.apns.headers == ["apns-topic": "com.example.app.voip"])
    #expect(Lint.findings(in: reading.draft).contains { $0.problem.code == PayloadMessage.topicSuffix.code })
  }

  /// One push as each shell takes it.
  static let commands: [(shell: String, text: String)] = [
    (
      "cmd.exe, as Chrome copies it",
      """
      curl ^"\(address)^" ^
        -X ^"POST^" ^
        -H ^"apns-topic: com.example.app^" ^
        --data-raw ^"^{^\\^"aps^\\^":^{^\\^"alert^\\^":^\\^"50^% ^& ^\\^\\^\\^"more^\\^\\^\\^"^\\^"^}^}^"
      """
    ),
    (
      "cmd.exe, written by hand",
      """
      curl.exe -H "apns-topic: com.example.app" ^
        -d "{\\"aps\\":{\\"alert\\":\\"50% & \\\\\\"more\\\\\\"\\"}}" ^
        \(address)
      """
    ),
    (
      "cmd.exe, with doubled quotes and its prompt",
      "C:\\Users\\Anna Lee>curl -H \"apns-topic: com.example.app\" "
        + "-d \"{\"\"aps\"\":{\"\"alert\"\":\"\"50% & \\\\\"\"more\\\\\"\"\"\"}}\" \(address)"
    ),
    (
      "PowerShell with single quotes",
      """
      PS C:\\> curl.exe -H 'apns-topic: com.example.app' `
        -d '{\\"aps\\":{\\"alert\\":\\"50% & \\\\\\"more\\\\\\"\\"}}' `
        \(address)
      """
    ),
    (
      "PowerShell 7",
      """
      curl -H "apns-topic: com.example.app" `
        -d '{"aps":{"alert":"50% & \\"more\\""}}' `
        \(address)
      """
    ),
    (
      "PowerShell with double quotes",
      """
      curl.exe -H "apns-topic: com.example.app" `
        -d "{`"aps`":{`"alert`":`"50% & \\`"more\\`"`"}}" `
        \(address)
      """
    ),
    (
      "bash, blanks behind the line ends",
      "anna@mac:~$ curl -H 'apns-topic: com.example.app' \\  \n -d '{\"aps\":{\"alert\":\"50% & \\\"more\\\"\"}}' \\\t\n\(address)"
    ),
    (
      "bash, as a browser copies a text with quotes",
      "curl \(address) \\\r\n -H 'apns-topic: com.example.app' \\\r\n"
        + " --data-raw $'{\"aps\":{\"alert\":\"50\\u0025 & \\\\\"more\\\\\"\"}}'"
    ),
  ]

  @Test("the same push is read from each", arguments: commands.map(\.text), [false, true])
  func shells(text: String, isWindows: Bool) throws {
    let text = isWindows ? text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n") : text
    let reading = try Self.read(text)
    #expect(reading.missing == [] && reading.draft.app == "com.example.app")
    #expect(reading.draft.environment == .production)
    #expect(reading.draft.audience.json == ["device_token": [.string(Self.token)]])
    #expect(reading.draft.notification.body == #"50% & "more""#)
  }

  @Test("an app's own carets, back-ticks and backslashes stay", arguments: ["a^b", "a`b", #"a\b"#, "^", "it's"])
  func signs(text: String) throws {
    let payload = JSONValue.object(["aps": ["alert": .string(text)]]).text()
    let quoted = payload.replacing("'", with: #"'\''"#)
    let reading = try Self.read("curl -H 'apns-topic: com.example.app' \\\n -d '\(quoted)' \(Self.address)")
    #expect(reading.draft.notification.body == text)
  }
}
