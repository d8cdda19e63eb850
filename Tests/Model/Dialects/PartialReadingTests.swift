import Foundation
import JSON
import Testing

@testable import Model

@Suite("A pasted push of which a part cannot be taken over")
struct PartialReadingTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private static func read(_ text: String) throws -> DialectReading { try DialectReading(text, now: now) }

  @Test(
    "what is wrong is left out and named, and the rest is taken over",
    arguments: [
      // Signalbox
      (
        #"{"app":"com.example.app","audience":"all","environment":"staging","notification":{"titel":"x","body":"b"}}"#,
        ["environment", "notification.titel"], ["environment"]
      ),
      (#"{"app":"com.example.app","environment":"production","audience":"all"}"#, [], []),
      (
        #"{"app":"com.example.app","audience":{"tag":["vip",7]},"notification":{"body":"b"},"template":"x"}"#,
        ["audience.tag[1]", "template"], ["environment", "audience"]
      ),
      // APNs, Apple's Simulator
      (#"{"aps":{"alert":"x","badge":100000}}"#, ["notification.badge"], ["app", "environment", "audience"]),
      (
        #"{"Simulator Target Bundle":"no bundle id!","aps":{"alert":"x"}}"#, ["app"],
        ["app", "environment", "audience"]
      ),
      // JPush
      (
        #"{"platform":["ios","winphone"],"audience":"all","notification":{"alert":"x","winphone":{"alert":"y"}}}"#,
        ["platform.winphone", "notification.winphone"], ["app", "environment"]
      ),
      (
        #"{"platform":"ios","audience":{"tag":["vip"],"abtest":["a"]},"notification":{"alert":"x"},"options":{"time_to_live":-1}}"#,
        ["audience.abtest", "options.time_to_live"], ["app", "environment", "audience"]
      ),
      (
        #"{"platform":"ios","audience":{"tag":["vip"]},"options":{"apns_production":true}}"#, ["notification"], ["app"]
      ),
      // FCM
      (
        #"{"message":{"topic":"news","notification":{"title":"t","colour":"blue"},"android":{"ttl":"long"},"data":{"n":1}}}"#,
        ["message.android.ttl", "message.data[n]", "message.notification.colour"], ["app", "environment"]
      ),
      (
        #"{"message":{"topic":"no topic","notification":{"title":"t"}}}"#, ["audience.topic"],
        ["app", "environment", "audience"]
      ),
    ] as [(String, [String], [String])])
  func partly(text: String, lost: [String], missing: [String]) throws {
    let reading = try Self.read(text)
    #expect(reading.losses.map(\.field).sorted() == lost.sorted(), "\(reading.losses)")
    #expect(reading.missing == missing)
    #expect(reading.losses.allSatisfy { !$0.text.isEmpty && !$0.text.hasPrefix($0.field) })
    // What is read is a body of the API, once what is missing is chosen.
    var members = reading.json.object ?? [:]
    members.merge(["app": "com.example.app", "environment": "development", "audience": "all"]) { old, _ in old }
    if members["notification"] == nil { members["notification"] = [:] }
    #expect(throws: Never.self) { try PushDraft(json: .object(members)) }
  }

  @Test(
    "an expiration that no push can have is left out",
    arguments: ["-9223372036854775808", "9223372036854775807", "-1", "1800000000", "1e9", "soon"])
  func expiration(value: String) throws {
    let command = "curl -H 'apns-expiration: \(value)' -d '{\"aps\":{\"alert\":\"x\"}}' https://\(Self.place)"
    let reading = try Self.read(command)
    #expect(reading.losses.map(\.field) == ["apns-expiration"] && reading.draft.options.timeToLive == nil)
  }

  @Test("a command of a megabyte is read at once", .timeLimit(.minutes(1)))
  func longCommand() throws {
    let title = String(repeating: "x", count: 500_000)
    let command = try CurlCommand("curl -d \(title.map { "\\\($0)" }.joined()) https://\(Self.place)")
    #expect(command.body == title && command.address == "https://\(Self.place)")
  }

  private static let place = "api.push.apple.com/3/device/$TOKEN"

  @Test("an audience with a part that is wrong is left open as a whole: without that part others would get the push")
  func audience() throws {
    let text = #"{"platform":"all","audience":{"tag":["vip"],"tag_not":[7]},"notification":{"alert":"x"}}"#
    let reading = try Self.read(text)
    #expect(reading.missing.contains("audience") && reading.json["audience"] == nil)
    #expect(reading.draft.notification.body == "x")
  }

  @Test("of a command whose body is in a file, the address and the headers are taken over")
  func file() throws {
    let token = String(repeating: "0f", count: 32)
    let reading = try Self.read(
      "curl -d @push.json -H 'apns-topic: com.example.app' https://api.push.apple.com/3/device/\(token)")
    #expect(reading.missing.isEmpty && reading.draft.app == "com.example.app")
    #expect(reading.draft.environment == .production)
    #expect(reading.losses.map(\.code) == [DialectMessage.curlFile.code])
  }

  @Test("the legacy protocol: tokens, topics and conditions, and what is wrong in it")
  func legacy() throws {
    let token = String(repeating: "c", count: 22) + ":APA91b" + String(repeating: "A", count: 134)
    let one = try Self.read(
      #"""
      {"to":"\#(token)","priority":"urgent","data":{"k":"v"},
       "notification":{"title":"t","body":"b","badge":"x","lights":1}}
      """#)
    #expect(one.dialect == .legacy && one.missing == ["app", "environment"])
    #expect(one.draft.audience.json == ["device_token": [.string(token)]])
    let lost = ["priority", "notification.badge", "notification.lights"]
    #expect(one.losses.map(\.field) == lost)
    #expect(one.draft.notification.title == "t" && one.draft.notification.extras == ["k": "v"])
    #expect(!one.draft.options.allowEmptyAudience)
    let topic = try Self.read(
      #"""
      curl -X POST -H "Authorization: key=x" https://fcm.googleapis.com/fcm/send \
        -d '{"to":"/topics/news","data":{"a":"b"}}'
      """#)
    #expect(topic.draft.audience == .topic("news") && topic.draft.platforms == [.android])
    #expect(topic.losses.map(\.field) == ["authorization"])
    let both = try Self.read(#"{"to":"x","registration_ids":["y"],"notification":{"title":"t"}}"#)
    #expect(both.missing.contains("audience") && both.losses.map(\.field) == ["to", "registration_ids"])
  }
}
