import Foundation
import Push
import Testing

@Suite("Push draft")
struct PushDraftTests {
  static func draft(_ text: String) throws -> PushDraft {
    try PushDraft(json: try JSONValue(parsing: Data(text.utf8)))
  }

  static func problems(_ text: String) throws -> [String: String] {
    do {
      _ = try draft(text)
      return [:]
    } catch let problems as Problems {
      return Dictionary(problems.all.map { ($0.field, $0.code) }) { first, _ in first }
    }
  }

  @Test("the whole of the API's body is read, and written again the same")
  func roundTrip() throws {
    let text = """
      { "app": "com.example.app", "environment": "development", "platforms": ["ios", "android"],
        "audience": { "tag": ["beta"], "tag_and": [], "tag_not": ["old"], "alias": ["usr_1"],
          "registration_id": ["13165ffa4e0b5fb6ba3"],
          "device_token": ["<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>"], "segment": [] },
        "notification": { "title": "t", "subtitle": "s", "body": "b", "badge": 1, "sound": "default",
          "category": "c", "thread_id": "x", "interruption_level": "active", "link": "comment",
          "extras": { "n": 12345678901234567, "f": 1.5, "z": null, "a": [true] } },
        "apns": { "headers": { "apns-priority": "5" } }, "android": { },
        "options": { "time_to_live": 86400, "priority": "high", "collapse_id": "k", "push_type": "alert",
          "rate": 500, "dry_run": false }, "send_at": "2026-12-01T09:00:00Z" }
      """
    let draft = try Self.draft(text)
    #expect(draft.platforms == [.ios, .android])
    #expect(draft.notification.extras["n"] == 12_345_678_901_234_567)
    #expect(draft.sendAt == Date(timeIntervalSince1970: 1_796_115_600))
    guard case .rule(let rule) = draft.audience else { throw Problems([Problem("", code: "", "not a rule")]) }
    #expect(rule.deviceToken.map(\.hexadecimal) == [DeviceTokenTests.digits])
    #expect(try PushDraft(json: draft.json) == draft)
  }

  static let minimum = #""app":"a.b","environment":"production","platforms":["ios"]"#

  @Test(
    "what is wrong is named with its path",
    arguments: wrong)
  func paths(text: String, field: String, code: String) throws {
    #expect(try Self.problems(text)[field] == code)
  }

  static let wrong: [(String, String, String)] = [
    ("[]", "", "json.object"), ("{}", "environment", "environment.required"), ("{}", "audience", "audience.required"),
    ("{}", "platforms", "platforms.required"), ("{}", "app", "required"),
    ("{\(minimum),\"audience\":{}}", "audience", "audience.empty"),
    ("{\(minimum),\"audience\":\"everyone\"}", "audience", "audience.word"),
    ("{\(minimum),\"audience\":{\"tag\":[\"a b\"]}}", "audience.tag[0]", "tag.characters"),
    ("{\(minimum),\"audience\":{\"tags\":[\"a\"]}}", "audience.tags", "json.unknown_offer"),
    ("{\(minimum),\"audience\":{\"segment\":[\"a\"]}}", "audience.segment", "segment.unavailable"),
    ("{\(minimum),\"audience\":{\"device_token\":[\"abc\"]}}", "audience.device_token[0]", "device_token.odd"),
    ("{\(minimum),\"audience\":\"all\",\"x\":1}", "x", "json.unknown"),
    ("{\(minimum),\"audience\":\"all\",\"notification\":{\"badge\":\"+1\"}}", "notification.badge", "json.integer"),
    ("{\(minimum),\"audience\":\"all\",\"notification\":{\"badge\":-1}}", "notification.badge", "number.range"),
    ("{\(minimum),\"audience\":\"all\",\"notification\":{\"title\":1}}", "notification.title", "json.string"),
    (
      "{\(minimum),\"audience\":\"all\",\"notification\":{\"extras\":{\"aps\":1}}}", "notification.extras.aps",
      "extras.aps"
    ),
    ("{\(minimum),\"audience\":\"all\",\"apns\":{\"headers\":{\"x\":\"1\"}}}", "apns.headers.x", "apns.header"),
    ("{\(minimum),\"audience\":\"all\",\"options\":{\"push_type\":\"loud\"}}", "options.push_type", "choice"),
    ("{\(minimum),\"audience\":\"all\",\"options\":{\"ttl\":1}}", "options.ttl", "json.unknown"),
    ("{\(minimum),\"audience\":\"all\",\"send_at\":\"tomorrow\"}", "send_at", "time.form"),
  ]

  @Test("every problem is told at once")
  func all() throws {
    let text = #"{"app":"","environment":"dev","platforms":["web"],"audience":{"tag":[1,"ok","a b"]},"foo":1}"#
    #expect(
      Set(try Self.problems(text).keys) == [
        "app", "environment", "platforms[0]", "audience.tag[0]", "audience.tag[2]", "foo",
      ])
  }
}

@Suite("APNs request")
struct APNsRequestTests {
  private func draft(_ change: (inout PushDraft) -> Void) -> PushDraft {
    var draft = PushDraft(
      app: "com.example.app", environment: .development, platforms: [.ios], audience: .all,
      notification: Notification())
    change(&draft)
    return draft
  }

  private let now = Date(timeIntervalSince1970: 1_000)

  @Test("an alert has priority 10, a background push 5, never 10")
  func priority() {
    #expect(APNsHeaders(draft { $0.notification.body = "b" }, created: now).priority == 10)
    let silent = APNsHeaders(draft { $0.notification.contentAvailable = true }, created: now)
    #expect(silent.pushType == .background)
    #expect(silent.priority == 5)
  }

  @Test("the topic gets the suffix of the push type")
  func topic() {
    let headers = APNsHeaders(draft { $0.options.pushType = .voip }, created: now)
    #expect(headers.topic == "com.example.app.voip")
  }

  @Test("a time to live counts from the creation; 0 stays 0; none is no header")
  func expiration() {
    #expect(APNsHeaders(draft { $0.options.timeToLive = 60 }, created: now).expiration == 1_060)
    #expect(APNsHeaders(draft { $0.options.timeToLive = 0 }, created: now).expiration == 0)
    let names = APNsHeaders(draft { _ in }, created: now).fields.map(\.name)
    #expect(names == ["apns-topic", "apns-push-type", "apns-priority"])
  }

  @Test("overrides win")
  func overrides() {
    let headers = APNsHeaders(
      draft { $0.apns.headers = ["apns-topic": "x.y", "apns-priority": "1", "apns-expiration": "7"] }, created: now)
    #expect(headers.topic == "x.y" && headers.priority == 1 && headers.expiration == 7)
  }

  @Test("the payload has Apple's names, sorted")
  func payload() {
    let payload = APNsPayload(
      draft {
        $0.notification.title = "T"
        $0.notification.body = "a/b"
        $0.notification.badge = 0
        $0.notification.threadID = "x"
        $0.notification.link = "comment"
        $0.notification.extras = ["uid": "9"]
      }, uniqueID: "p1")
    #expect(
      String(decoding: payload.bytes, as: UTF8.self)
        == #"{"aps":{"alert":{"body":"a/b","title":"T"},"badge":0,"thread-id":"x"},"link":"comment","signalbox-id":"p1","uid":"9"}"#
    )
  }

  @Test("a raw payload is sent as it is")
  func raw() {
    let payload = APNsPayload(draft { $0.apns.payload = ["aps": ["alert": "x"]] }, uniqueID: "p1")
    #expect(String(decoding: payload.bytes, as: UTF8.self) == #"{"aps":{"alert":"x"}}"#)
  }

  @Test("4096 bytes pass, 4097 do not, voip has 5120")
  func limit() throws {
    let frame = APNsPayload(draft { $0.notification.body = "" }).bytes.count
    let exact = APNsPayload(draft { $0.notification.body = String(repeating: "a", count: 4096 - frame) })
    try exact.check(for: .alert)
    let over = APNsPayload(draft { $0.notification.body = String(repeating: "a", count: 4097 - frame) })
    #expect(throws: Problem.self) { try over.check(for: .alert) }
    try over.check(for: .voip)
  }
}
