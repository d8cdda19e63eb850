import Calendar
import Foundation
import JSON
import Testing

@testable import Model

@Suite("The linter: types and times in a raw payload for iOS")
struct PayloadTypeTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private static func found(
    _ aps: JSONValue, type: PushType? = nil, _ change: (inout PushDraft) -> Void = { _ in }
  ) -> [Lint.Finding] {
    let raw = draft {
      $0.notification = PushNotification()
      $0.apns.payload = ["aps": aps]
      $0.options.pushType = type
      if type == .liveactivity {
        var rule = Audience.Rule()
        rule.deviceToken = [DeviceToken(bytes: [UInt8](repeating: 1, count: 32))]
        $0.audience = .rule(rule)
      }
      change(&$0)
    }
    let findings = Lint.findings(in: raw, .init(now: now))
    for finding in findings { expectFilled(finding.problem) }
    return findings
  }

  private static func with(_ key: String, _ value: JSONValue) -> JSONValue {
    var aps: [String: JSONValue] = ["alert": "x"]
    aps[key] = value
    return .object(aps)
  }

  /// A key, a wrong value, the code of its finding, and the value that the fix puts there; nil: there is no fix.
  static let wrong: [(String, JSONValue, String, JSONValue?)] = [
    ("badge", "21", "key_badge", 21), ("badge", -1, "key_badge", nil), ("badge", .double(1.5), "key_badge", nil),
    ("badge", "many", "key_badge", nil), ("badge", true, "key_badge", nil),
    ("alert", 5, "key_text_or_object", "5"), ("alert", true, "key_text_or_object", nil),
    ("alert", ["a"], "key_text_or_object", nil), ("sound", true, "key_text_or_object", "default"),
    ("sound", 1, "key_text_or_object", nil), ("content-available", "1", "key_one", 1),
    ("content-available", 2, "key_one", nil), ("content-available", "true", "key_one", 1),
    ("mutable-content", "1", "key_one", 1), ("mutable-content", [1], "key_one", nil),
    ("interruption-level", "timeSensitive", "key_choice", "time-sensitive"),
    ("interruption-level", "loud", "key_choice", nil), ("interruption-level", 1, "key_choice", nil),
    ("relevance-score", .double(1.5), "key_range", nil), ("relevance-score", -1, "key_range", nil),
    ("relevance-score", "0.5", "key_range", .double(0.5)), ("relevance-score", "high", "key_range", nil),
    ("thread-id", 7, "key_text", "7"), ("category", true, "key_text", nil), ("target-content-id", 7, "key_text", "7"),
    ("filter-criteria", ["a"], "key_text", nil), ("url-args", "a", "key_texts", ["a"]),
    ("url-args", [1, "b"], "key_texts", ["1", "b"]), ("attributes-type", 1, "key_text", "1"),
  ]

  @Test("a value of the wrong type or out of range is named with its key and what iOS expects", arguments: wrong)
  func types(key: String, value: JSONValue, code: String, fixed: JSONValue?) throws {
    let finding = try #require(
      Self.found(Self.with(key, value)).first { $0.problem.field == "apns.payload.aps.\(key)" }, "\(key)")
    #expect(finding.severity == .warning && finding.problem.code == "lint.\(code)")
    #expect(finding.problem.text.contains("“\(key)” must be") && finding.problem.text.contains(value.text()))
    #expect(finding.fix?.apns.payload?["aps"]?[key] == fixed)
  }

  @Test("members of the alert and the sound are looked at too")
  func members() throws {
    let alert: JSONValue = [
      "title": 5, "subtitle": ["a"], "loc-args": "Anna", "title-loc-args": [1], "subtitle-loc-args": [["a"]],
      "launch-image": true, "title_loc_key": "K", "colour": "red", "loc-key": "K", "action-loc-key": "OK",
    ]
    let sound: JSONValue = ["name": 1, "critical": "1", "volume": 2]
    let findings = Self.found(["alert": alert, "sound": sound])
    let expected: [(String, String, JSONValue?)] = [
      ("alert.colour", "member_unknown", nil), ("alert.launch-image", "key_text", nil),
      ("alert.loc-args", "key_texts", ["Anna"]), ("alert.subtitle", "key_text", nil),
      ("alert.subtitle-loc-args", "key_texts", nil), ("alert.title", "key_text", "5"),
      ("alert.title-loc-args", "key_texts", ["1"]), ("alert.title_loc_key", "member_misspelt", nil),
      ("sound.critical", "key_one", 1), ("sound.name", "key_text", "1"), ("sound.volume", "key_range", nil),
    ]
    let named = findings.filter { $0.problem.field.hasPrefix("apns.payload.aps.") }
    #expect(named.map(\.problem.field) == expected.map { "apns.payload.aps." + $0.0 })
    #expect(named.map(\.problem.code) == expected.map { "lint." + $0.1 })
    for (finding, (path, _, fixed)) in zip(named, expected) where fixed != nil {
      let steps = path.split(separator: ".").map(String.init)
      #expect(finding.fix?.apns.payload?["aps"]?[steps[0]]?[steps[1]] == fixed, "\(path)")
    }
    let renamed = named.first { $0.problem.field.hasSuffix("title_loc_key") }?.fix?.apns.payload?["aps"]?["alert"]
    #expect(renamed?["title-loc-key"] == "K" && renamed?["title_loc_key"] == nil)
  }

  @Test(
    "what iOS takes is not remarked on",
    arguments: [
      ["alert": ["title": "a", "body": "b", "loc-args": ["1"], "launch-image": "x.png"], "badge": 0],
      ["alert": "x", "badge": 100_000, "sound": "bell.caf"], ["alert": "x", "badge": "+1"],
      ["alert": "x", "badge": .double(2)],
      ["alert": "x", "sound": ["critical": 1, "name": "a", "volume": .double(0.5)]], ["alert": "x", "sound": .null],
      ["alert": "x", "interruption-level": "time-sensitive", "relevance-score": 1, "thread-id": "", "category": "c"],
      [
        "alert": "x", "mutable-content": 1, "content-available": true, "target-content-id": "w", "filter-criteria": "f",
      ],
      ["alert": "x", "content-available": 0, "relevance-score": .double(0.25), "url-args": ["a", "b"]],
    ] as [JSONValue])
  func right(aps: JSONValue) {
    #expect(Self.found(aps).filter { $0.problem.field.hasPrefix("apns.payload.aps") } == [])
  }

  @Test("a key that is there with a wrong value is not said to be missing")
  func notEmpty() {
    #expect(Self.found(["content-available": "1"]).map(\.problem.code) == ["lint.key_one"])
    #expect(Self.found(["alert": "", "own": 1]).map(\.problem.code).contains("lint.empty"))
  }

  @Test("a Live Activity has texts to localize, any relevance score, and a sound in its alert")
  func activity() {
    let aps: JSONValue = [
      "timestamp": 1_800_000_000, "event": "update", "content-state": [:], "relevance-score": 75,
      "alert": ["title": ["loc-key": "K", "loc-args": ["a"]], "body": "b", "sound": "default"],
    ]
    #expect(Self.found(aps, type: .liveactivity) == [])
    let wrong: JSONValue = [
      "timestamp": 1_800_000_000, "event": "update", "content-state": [:], "relevance-score": "75",
      "alert": ["title": ["loc-key": 1], "body": "b"],
    ]
    #expect(
      lines(Self.found(wrong, type: .liveactivity)) == [
        "warning apns.payload.aps.alert.title.loc-key lint.key_text",
        "warning apns.payload.aps.relevance-score lint.key_number",
      ])
  }

  private static func times(
    _ times: [String: JSONValue], event: JSONValue = "update", _ change: (inout PushDraft) -> Void = { _ in }
  ) -> [Lint.Finding] {
    let aps: [String: JSONValue] = ["timestamp": 1_800_000_000, "event": event, "content-state": [:]]
    return found(.object(aps.merging(times) { $1 }), type: .liveactivity, change)
  }

  @Test("times of a Live Activity that are over when it is sent")
  func activityTimes() throws {
    let later = Self.now.addingTimeInterval(21 * 86_400)
    #expect(Self.times([:]) == [])
    let scheduled = Self.times([:]) { $0.sendAt = later }
    #expect(lines(scheduled) == ["warning apns.payload.aps.timestamp lint.live_activity_past"])
    #expect(scheduled.first?.fix?.apns.payload?["aps"]?["timestamp"] == .integer(1_800_000_000 + 21 * 86_400))
    let stale = Self.times(["stale-date": 1_799_999_000])
    #expect(lines(stale) == ["warning apns.payload.aps.stale-date lint.live_activity_over"])
    #expect(stale.first?.fix?.apns.payload?["aps"]?["stale-date"] == nil)
    #expect(Self.times(["stale-date": 1_800_003_600]) == [])
    // A dismissal in the past removes it at once; one that was ahead and is over then is a mistake.
    #expect(Self.times(["dismissal-date": 1_799_000_000], event: "end") == [])
    let dismissed = Self.times(
      ["dismissal-date": 1_800_003_600, "timestamp": .integer(1_800_000_000 + 21 * 86_400)], event: "end"
    ) {
      $0.sendAt = later
    }
    #expect(lines(dismissed) == ["warning apns.payload.aps.dismissal-date lint.live_activity_over"])
  }

  @Test("a schedule sends the same times again and again")
  func repeated() throws {
    let daily = RepeatRule(.daily, minute: 0, zone: .utc)
    let repeated = Self.times(["stale-date": 1_800_300_000]) { $0.recurrence = daily }
    #expect(
      lines(repeated) == [
        "warning apns.payload.aps.timestamp lint.live_activity_repeats",
        "warning apns.payload.aps.stale-date lint.live_activity_runs_past",
      ])
    let header = Self.found(["alert": "x"]) {
      $0.recurrence = daily
      $0.apns.headers["apns-expiration"] = "1800300000"
    }
    #expect(lines(header) == ["warning apns.headers.apns-expiration lint.expiration_repeats"])
    #expect(header.first?.fix?.apns.headers["apns-expiration"] == nil)
  }
}
