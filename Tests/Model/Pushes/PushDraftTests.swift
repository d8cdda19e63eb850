import Calendar
import Foundation
import JSON
import Testing

@testable import Model

@Suite("A push, read from JSON")
struct PushDraftTests {
  /// A push with every member filled in.
  static let whole = #"""
    { "app": "com.example.app", "environment": "development", "platforms": ["ios", "android"],
      "audience": { "tag": ["beta"], "tag_and": ["a"], "tag_not": ["b"], "alias": ["usr_1"],
        "registration_id": ["13165ffa4e0b5fb6ba3"],
        "device_token": ["<77366f0d c4a4f2f4 74fe24de 5db46132 c725ee1a 8e41b1fc a9a511bc 832c0113>"], "segment": [] },
      "notification": { "title": "T", "subtitle": "S", "body": "B", "badge": 1, "sound": "default", "category": "c",
        "thread_id": "t", "interruption_level": "time-sensitive", "image": "https://example.com/i.png",
        "link": "comment", "content_available": true, "mutable_content": true, "extras": { "n": 1, "x": [1.5, null] } },
      "apns": { "headers": { "APNS-Priority": 5 }, "payload": { } }, "android": { },
      "options": { "time_to_live": 86400, "priority": "high", "collapse_id": "k", "push_type": "alert", "rate": 500,
        "dry_run": true }, "send_at": "2026-12-01T09:00:00Z" }
    """#

  static let least: JSONValue = [
    "app": "com.example.app", "environment": "production", "audience": "all", "notification": ["body": "Hi"],
  ]

  static func read(_ change: (inout [String: JSONValue]) -> Void) throws(Problems) -> PushDraft {
    var members = least.object ?? [:]
    change(&members)
    return try PushDraft(json: .object(members))
  }

  @Test("the whole example is understood")
  func wholeExample() throws {
    let draft = try PushDraft(json: JSONValue(parsing: Data(Self.whole.utf8)))
    guard case .rule(let rule) = draft.audience else { throw Problem("", code: "", "no rule") }
    #expect(draft.app == "com.example.app")
    #expect(draft.environment == .development)
    #expect(draft.platforms == [.ios, .android])
    #expect((rule.tag, rule.tagAnd, rule.tagNot) == (["beta"], ["a"], ["b"]))
    #expect((rule.alias, rule.registrationID) == (["usr_1"], ["13165ffa4e0b5fb6ba3"]))
    #expect(rule.deviceToken.map(\.hexadecimal) == [DeviceTokenTests.hex])
    let notification = draft.notification
    #expect((notification.title, notification.subtitle, notification.body) == ("T", "S", "B"))
    #expect((notification.badge, notification.sound, notification.category) == (1, "default", "c"))
    #expect((notification.threadID, notification.interruptionLevel) == ("t", .timeSensitive))
    #expect((notification.image, notification.link) == ("https://example.com/i.png", "comment"))
    #expect((notification.contentAvailable, notification.mutableContent) == (true, true))
    #expect(notification.extras == ["n": 1, "x": [.double(1.5), .null]])
    #expect(draft.apns.headers == ["apns-priority": "5"])
    #expect(draft.apns.payload == nil)
    #expect((draft.options.timeToLive, draft.options.rate, draft.options.dryRun) == (86400, 500, true))
    #expect((draft.options.priority, draft.options.collapseID, draft.options.pushType) == (.high, "k", .alert))
    #expect(draft.sendAt == Date(timeIntervalSince1970: 1_796_115_600))
  }

  @Test("written JSON is read back and written equally")
  func roundTrip() throws {
    let texts = [
      Self.whole, Self.least.text(),
      #"{"app":"a.b","environment":"production","platforms":["android"],"audience":{"device_token":["\#(DeviceTokenTests.firebase)"]},"apns":{"payload":{"aps":{"alert":"x"}}}}"#,
    ]
    for text in texts {
      let draft = try PushDraft(json: JSONValue(parsing: Data(text.utf8)))
      #expect(try PushDraft(json: JSONValue(parsing: draft.json.data())) == draft)
      #expect(try Self.audience(draft.audience.json) == draft.audience)
    }
  }

  @Test("a time's zone is kept without effect; an occurrence has its rule's zone; a wrong name is reported")
  func zone() throws {
    let draft = try Self.read {
      $0["send_at"] = "2026-12-01T09:00:00Z"
      $0["time_zone"] = "Europe/Berlin"
    }
    #expect(draft.timeZone?.name == "Europe/Berlin" && draft.sendAt == Date(timeIntervalSince1970: 1_796_115_600))
    #expect(draft.json["time_zone"] == "Europe/Berlin")
    #expect(try PushDraft(json: draft.json) == draft)
    #expect(try Self.read { _ in }.json["time_zone"] == nil)
    let daily = try Self.read { $0["repeat"] = ["every": "day", "at": "09:00", "time_zone": "Asia/Shanghai"] }
    #expect(daily.occurrence(at: .distantPast).timeZone?.name == "Asia/Shanghai")
    let problems = #expect(throws: Problems.self) { try Self.read { $0["time_zone"] = "Berlin" } }
    #expect(lines(problems) == ["time_zone repeat.zone_similar"])
  }

  @Test("the least that is needed: app, environment, audience, and something to say")
  func least() throws {
    let draft = try PushDraft(json: Self.least)
    #expect(draft.audience == .all)
    #expect(draft.platforms == [.ios, .android])
    let problems = #expect(throws: Problems.self) { try PushDraft(json: [:]) }
    #expect(
      lines(problems) == [
        "app field.required", "environment field.choose", "audience audience.missing",
        "notification notification.missing",
      ])
  }

  @Test("all mistakes of a push are reported together, in the order of the fields")
  func together() {
    let json: JSONValue = [
      "app": "com example", "environment": "test", "platforms": ["ios", "windows"],
      "audience": ["tag": ["ok", ""], "device_token": ["zz"], "tags": ["x"]],
      "notification": ["title": 7, "badge": "+x", "contentAvailable": true],
      "options": ["ttl": 3, "time_to_live": -1, "rate": 0], "sendAt": "x", "send_at": "tomorrow",
    ]
    let problems = #expect(throws: Problems.self) { try PushDraft(json: json) }
    #expect(
      lines(problems) == [
        "app bundle_id.form", "environment field.not_a_choice", "platforms[1] field.not_a_choice",
        "audience.tag[1] field.empty", "audience.device_token[0] token.not_hexadecimal",
        "audience.tags field.unknown", "notification.title field.expected", "notification.badge badge.relative",
        "notification.contentAvailable field.unknown_similar", "options.time_to_live field.out_of_range",
        "options.rate field.out_of_range", "options.ttl field.unknown", "send_at field.not_a_time",
        "sendAt field.unknown",
      ])
  }

  @Test("no audience is chosen by accident")
  func audiences() {
    let table: [(JSONValue?, String)] = [
      (nil, "audience audience.missing"), (.null, "audience audience.missing"), ([:], "audience audience.empty"),
      (["tag": []], "audience audience.empty"), (["tag": .null], "audience audience.empty"),
      ("", "audience audience.form"), ("everybody", "audience audience.form"), ([], "audience audience.form"),
      (true, "audience audience.form"), (["segment": [" a"], "tag": ["b"]], "audience.segment[0] name.blank_edge"),
      (["tag": "beta"], "audience.tag field.expected"), (["alias": [1]], "audience.alias[0] field.expected"),
      (["alias": [" x"]], "audience.alias[0] name.blank_edge"),
      (["registration_id": ["a-b"]], "audience.registration_id[0] registration_id.form"),
    ]
    for (audience, line) in table {
      let problems = #expect(throws: Problems.self) { try Self.read { $0["audience"] = audience } }
      #expect(lines(problems) == [line])
    }
  }

  private static func audience(_ json: JSONValue) throws -> Audience? {
    let fields = JSONFields(["audience": json])
    let audience = Audience.read(fields, platforms: Set(Platform.allCases))
    try fields.finish()
    return audience
  }

  @Test("an audience alone: all, a rule, or its problems")
  func audienceAlone() throws {
    #expect(try Self.audience("all") == .all)
    #expect(Audience.all.json == "all")
    let problems = #expect(throws: Problems.self) { try Self.audience(.null) }
    #expect(lines(problems) == ["audience audience.missing"])
  }

  @Test("limits hold on both sides of the line")
  func limits() throws {
    func text(_ count: Int) -> JSONValue { .string(String(repeating: "x", count: count)) }
    func list(_ count: Int) -> JSONValue { .array((0..<count).map { .string("n\($0)") }) }
    let table: [(field: String, member: String, fits: JSONValue, not: JSONValue)] = [
      ("notification", "title", text(256), text(257)), ("notification", "subtitle", text(256), text(257)),
      ("notification", "body", text(5120), text(5121)), ("notification", "badge", 0, -1),
      ("notification", "badge", 99999, 100_000), ("notification", "sound", text(255), text(256)),
      ("notification", "category", text(255), text(256)), ("notification", "thread_id", text(255), text(256)),
      ("notification", "link", text(255), text(256)), ("audience", "tag", list(20), list(21)),
      ("audience", "tag_and", list(20), list(21)), ("audience", "tag_not", list(20), list(21)),
      ("audience", "alias", list(1000), list(1001)), ("audience", "registration_id", list(1000), list(1001)),
      ("options", "time_to_live", 0, -1), ("options", "time_to_live", 2_419_200, 2_419_201),
      ("options", "rate", 1, 0), ("options", "collapse_id", text(64), text(65)),
      ("options", "collapse_id", "k", "ключ"), ("options", "dry_run", true, 1),
      ("options", "allow_empty_audience", true, 1), ("options", "priority", "low", "10"),
      ("options", "push_type", "voip", "VoIP"), ("notification", "interruption_level", "passive", "loud"),
      ("notification", "image", "https://a.b", "a.b"), ("notification", "extras", [:], []),
      ("notification", "content_available", true, 1), ("notification", "title", "a\nb", "a\u{0}b"),
    ]
    for row in table {
      _ = try Self.read { $0[row.field] = [row.member: row.fits] }
      let problems = #expect(throws: Problems.self) { try Self.read { $0[row.field] = [row.member: row.not] } }
      #expect(problems?.all.map(\.field) == ["\(row.field).\(row.member)"])
      expectFilled(problems?.all.first)
    }
  }

  @Test("names given twice count once")
  func duplicates() throws {
    let draft = try Self.read { $0["audience"] = ["alias": ["b", "a", "b"]] }
    guard case .rule(let rule) = draft.audience else { throw Problem("", code: "", "no rule") }
    #expect(rule.alias == ["b", "a"])
  }

  @Test("headers are judged by APNs' rules")
  func headers() throws {
    let table: [(JSONValue, String?)] = [
      (["apns-priority": "10"], nil), (["apns-priority": 5], nil),
      (["apns-priority": "7"], "apns.headers.apns-priority header.priority"),
      (["apns-expiration": "0"], nil), (["apns-expiration": "soon"], "apns.headers.apns-expiration header.expiration"),
      (["apns-expiration": "-1"], "apns.headers.apns-expiration header.expiration"),
      (["apns-push-type": "widgets"], nil), (["apns-push-type": "x"], "apns.headers.apns-push-type header.push_type"),
      (["apns-topic": "com.example.app.voip"], nil), (["apns-topic": "a b"], "apns.headers.apns-topic topic.form"),
      (
        ["apns-collapse-id": .string(String(repeating: "x", count: 65))],
        "apns.headers.apns-collapse-id header.collapse_id"
      ),
      (["apns-collapse-id": "a\r\nb"], "apns.headers.apns-collapse-id header.value"),
      (["apns-id": "x"], "apns.headers.apns-id header.ours"),
      (["Authorization": "bearer x"], "apns.headers.Authorization header.ours"),
      (["apns-colapse-id": "x"], "apns.headers.apns-colapse-id header.unknown_similar"),
      (["x-my-own": "x"], "apns.headers.x-my-own header.unknown"),
      (["apns-topic": true], "apns.headers.apns-topic field.expected"),
      (["apns-priority": "5", "APNS-PRIORITY": "5"], "apns.headers.apns-priority header.twice"),
      ([], "apns.headers field.expected"),
    ]
    for (headers, line) in table {
      do throws(Problems) {
        _ = try Self.read { $0["apns"] = ["headers": headers] }
        #expect(line == nil)
      } catch {
        #expect(lines(error) == [line])
      }
    }
  }

  @Test("a raw payload needs no notification, and must be an object")
  func rawPayload() throws {
    let draft = try Self.read {
      $0["notification"] = nil
      $0["apns"] = ["payload": ["aps": ["alert": "x"]]]
    }
    #expect(draft.apns.payload == ["aps": ["alert": "x"]])
    let problems = #expect(throws: Problems.self) { try Self.read { $0["apns"] = ["payload": "x"] } }
    #expect(lines(problems) == ["apns.payload field.expected"])
  }

  @Test("the draft's own part for Android has FCM's fields, and may be the whole content")
  func android() throws {
    let own: JSONValue = ["ttl": "60s", "notification": ["channel_id": "news", "sound": .null]]
    let draft = try Self.read {
      $0["notification"] = nil
      $0["android"] = own
    }
    #expect(JSONValue.object(draft.android) == own)
    #expect(try PushDraft(json: draft.json) == draft)
    let problems = #expect(throws: Problems.self) {
      try Self.read { $0["android"] = ["x": 1, "notification": ["chanel_id": "news"]] }
    }
    #expect(
      lines(problems) == ["android.notification.chanel_id field.unknown_similar", "android.x field.unknown"])
    let form = #expect(throws: Problems.self) { try Self.read { $0["android"] = "x" } }
    #expect(lines(form) == ["android field.expected"])
  }

  @Test("the platforms may be left out, named, or all")
  func platforms() throws {
    #expect(try Self.read { $0["platforms"] = "all" }.platforms == [.ios, .android])
    #expect(try Self.read { $0["platforms"] = ["ios"] }.platforms == [.ios])
    let empty = #expect(throws: Problems.self) { try Self.read { $0["platforms"] = [] } }
    #expect(lines(empty) == ["platforms platforms.empty"])
    let word = #expect(throws: Problems.self) { try Self.read { $0["platforms"] = "ios" } }
    #expect(lines(word) == ["platforms field.expected"])
  }
}
