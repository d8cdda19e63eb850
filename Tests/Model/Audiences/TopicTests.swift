import Foundation
import JSON
import Testing

@testable import Model

@Suite("Pushes to topics of FCM")
struct TopicTests {
  private static let condition = "'news' in topics && ('en' in topics || 'de' in topics)"

  private static func draft(
    _ audience: JSONValue, platforms: JSONValue? = nil, notification: JSONValue = ["body": "x"]
  ) throws(Problems) -> PushDraft {
    var json: [String: JSONValue] = [
      "app": "com.example.app", "environment": "production", "audience": audience, "notification": notification,
    ]
    json["platforms"] = platforms
    return try PushDraft(json: .object(json))
  }

  @Test("a topic and a condition are audiences of their own, written as they are read, for Android alone")
  func audiences() throws {
    for (json, audience) in [
      (["topic": "news"], .topic("news")), (["condition": .string(Self.condition)], .condition(Self.condition)),
    ] as [(JSONValue, Audience)] {
      let draft = try Self.draft(json)
      #expect(draft.audience == audience && draft.audience.subscribers == .topic)
      #expect(draft.platforms == [.android] && draft.json["audience"] == json)
      #expect(try PushDraft(json: draft.json) == draft)
      #expect(Lint.findings(in: draft).filter { $0.severity == .error } == [])
    }
  }

  @Test(
    "wrong names, wrong conditions, and several audiences are refused",
    arguments: [
      (["topic": "/topics/news"], "topic.bad_name"), (["topic": "a b"], "topic.bad_name"),
      (["topic": "Nachrichtenübersicht"], "topic.bad_name"),
      (["condition": "'/topics/news' in topics && 'de' in topics"], "topic.prefixed"),
      (["condition": "/topics/news"], "topic.bad_condition"), (["condition": "news"], "topic.bad_condition"),
      (["condition": "'a' in topics &&"], "topic.bad_condition"),
      (
        ["condition": .string((1...6).map { "'t\($0)' in topics" }.joined(separator: " || "))], "topic.too_many"
      ),
      (["topic": "news", "tag": ["beta"]], "topic.alone"), (["topic": "a", "condition": "b"], "topic.alone"),
    ] as [(JSONValue, String)])
  func refused(audience: JSONValue, code: String) {
    let problems = #expect(throws: Problems.self) { try Self.draft(audience) }
    #expect(problems?.all.map(\.code) == [code])
  }

  @Test("the name has 1 to 900 characters of a-z, A-Z, 0-9 and - _ . ~ %")
  func names() {
    for name in ["a", "A-z_0.9~%", String(repeating: "x", count: 900)] { #expect(TopicCondition.isTopic(name)) }
    for name in ["", "a/b", "a b", "ä", "a\n", "a+b", String(repeating: "x", count: 901)] {
      #expect(!TopicCondition.isTopic(name), "\(name)")
    }
  }

  @Test("iOS beside it, a badge that counts, and more than 2048 bytes are errors")
  func findings() throws {
    func codes(_ draft: PushDraft) -> [String] {
      Lint.findings(in: draft).filter { $0.severity == .error }.map(\.problem.code)
    }
    let both = try Self.draft(["topic": "news"], platforms: ["ios", "android"])
    #expect(codes(both) == ["topic.platforms"])
    let fixed = Lint.findings(in: both).compactMap(\.fix).first
    #expect(fixed?.platforms == [.android])
    #expect(codes(try Self.draft(["topic": "news"], notification: ["body": "x", "badge": "+1"])) == ["topic.badge"])
    let long: JSONValue = ["body": .string(String(repeating: "x", count: 2045))]
    #expect(codes(try Self.draft(["topic": "news"], notification: long)) == ["fcm.too_large"])
    #expect(codes(try Self.draft(["tag": ["a"]], platforms: ["android"], notification: long)) == [])
  }

  @Test("a rule names the topic of a device; what a name cannot have is percent-encoded")
  func rules() {
    func topics(_ version: String?, _ zone: String?) -> [String?] {
      TopicRule.allCases.map { $0.topic(platform: .android, version: version, timeZone: zone) }
    }
    #expect(
      topics("2.4.1", "Asia/Shanghai") == [
        "common", "platform-android", "version-2.4.1", "timezone-Asia%2FShanghai",
      ])
    #expect(topics("2 (beta) ü", nil) == ["common", "platform-android", "version-2%20%28beta%29%20%C3%BC", nil])
    for name in topics("2 (beta) ü", "Etc/GMT+1").compactMap({ $0 }) { #expect(TopicCondition.isTopic(name)) }
    #expect(topics("", nil).compactMap { $0 }.count == 2)
  }
}
