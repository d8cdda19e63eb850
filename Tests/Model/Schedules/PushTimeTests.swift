import Calendar
import Foundation
import JSON
import Testing

@testable import Model

private func date(_ text: String) throws -> Date { try #require(Timestamp.parse(text)) }

private func rule(_ json: JSONValue) throws -> RepeatRule {
  try #require(try PushDraftTests.read { $0["repeat"] = json }.recurrence)
}

@Suite("Repeat, speed and undo, read from JSON")
struct PushTimeTests {
  @Test("written JSON is read back")
  func roundTrip() throws {
    for json in [
      ["every": "day", "at": "00:00", "time_zone": "UTC"],
      ["every": "week", "interval": 2, "weekdays": ["mon", "sun"], "at": "23:59", "time_zone": "Europe/Berlin"],
      [
        "every": "month", "day": 31, "at": "09:00", "time_zone": "Asia/Shanghai", "until": "2027-01-01T00:00:00Z",
        "count": 10,
      ],
    ] as [JSONValue] {
      let draft = try PushDraftTests.read { $0["repeat"] = json }
      #expect(draft.json["repeat"] == json)
      #expect(try PushDraft(json: draft.json) == draft)
    }
    #expect(try rule(["every": "month", "day": "last", "at": "09:00", "time_zone": "UTC"]).days == .monthly(day: 31))
    let several = try rule(["every": "month", "day": [15, 1], "at": "09:00:30", "time_zone": "UTC"])
    #expect(several.days == .monthlyOn([1, 15]) && several.second == 9 * 3600 + 30)
    #expect(several.json["day"] == [1, 15] && several.json["at"] == "09:00:30")
    #expect(
      try rule(["every": "week", "weekdays": ["Fri", "mon", "fri"], "at": "09:00", "time_zone": "UTC"]).days
        == .weekly([.monday, .friday]))
    let draft = try PushDraftTests.read { $0["options"] = ["spread_minutes": 30, "undo_seconds": 60] }
    #expect((draft.options.spreadMinutes, draft.options.undoSeconds) == (30, 60))
    #expect(try PushDraft(json: draft.json) == draft)
  }

  @Test(
    "a distance from UTC is no zone, and the hint is one that has it",
    arguments: [
      ("UTC+8", "Asia/Shanghai"), ("GMT+8", "Asia/Shanghai"), ("UTC+08:00", "Asia/Shanghai"),
      ("+0800", "Asia/Shanghai"),
      ("utc + 8", "Asia/Shanghai"), ("UTC-5", "Etc/GMT+5"), ("GMT−5", "Etc/GMT+5"), ("UTC+5:30", "Asia/Kolkata"),
      ("UTC+0", "UTC"),
      ("UTC+3", "Etc/GMT-3"), ("UTC+9", "Asia/Tokyo"), ("UTC+25", nil), ("UTC-3:30", nil),
    ])
  func offsets(name: String, place: String?) throws {
    let problems = #expect(throws: Problems.self) {
      try rule(["every": "day", "at": "09:00", "time_zone": .string(name)])
    }
    let problem = try #require(problems?.all.first)
    guard let place else {
      #expect(problem.arguments["suggestion"] != "UTC")
      return
    }
    #expect(problem.code == "repeat.zone_offset" && problem.arguments["suggestion"] == place)
    let zone = try NamedZone(place)
    let hours = try #require(name.firstMatch(of: /\d+/)).output
    let wall = zone.wall(try date("2026-07-01T12:00:00Z")).second - 12 * 3600
    #expect(abs(wall) / 3600 == Int(hours).map { $0 > 99 ? $0 / 100 : $0 })
  }

  @Test("every mistake is said at its place")
  func mistakes() {
    let table: [(JSONValue, [String])] = [
      ([:], ["every field.choose", "at field.required", "time_zone field.required"]),
      (
        ["every": "hour", "interval": 0, "at": "9:00", "time_zone": "Berlin", "until": "soon", "count": 0],
        [
          "every field.not_a_choice", "interval field.out_of_range", "at repeat.time", "time_zone repeat.zone_similar",
          "until field.not_a_time", "count field.out_of_range",
        ]
      ),
      (["every": "week", "at": "24:00", "time_zone": "UTC"], ["weekdays repeat.weekdays_missing", "at repeat.time"]),
      (
        ["every": "week", "weekdays": ["monday"], "at": "09:00", "time_zone": "UTC"],
        ["weekdays[0] field.not_a_choice"]
      ),
      (["every": "month", "at": "09:60", "time_zone": "UTC"], ["day repeat.day_missing", "at repeat.time"]),
      (["every": "month", "day": 32, "at": "09:00", "time_zone": "UTC"], ["day field.out_of_range"]),
      (["every": "month", "day": [1, 32], "at": "09:00", "time_zone": "UTC"], ["day repeat.days"]),
      (
        ["every": "month", "day": [1, 1], "at": "09:00:60", "time_zone": "UTC"], ["day repeat.days", "at repeat.time"]
      ),
      (
        ["every": "day", "day": 1, "weekdays": ["mon"], "at": "09:00", "time_zone": "UTC"],
        ["weekdays repeat.weekdays_unused", "day repeat.day_unused"]
      ),
      (["every": "day", "at": "09:00", "time_zone": "UTC", "timezone": "x"], ["timezone field.unknown"]),
    ]
    for (json, expected) in table {
      let problems = #expect(throws: Problems.self) { try PushDraftTests.read { $0["repeat"] = json } }
      #expect(lines(problems) == expected.map { "repeat." + $0 }, "\(json.text())")
    }
    let speed = #expect(throws: Problems.self) {
      try PushDraftTests.read { $0["options"] = ["rate": 5, "spread_minutes": 5, "undo_seconds": 61] }
    }
    #expect(lines(speed) == ["options.spread_minutes options.speed_twice", "options.undo_seconds field.out_of_range"])
    let form = #expect(throws: Problems.self) { try PushDraftTests.read { $0["repeat"] = "daily" } }
    #expect(lines(form) == ["repeat field.expected"])
  }

  @Test("late is after the time to live, or after an hour without one")
  func lateness() throws {
    let due = try date("2026-12-01T09:00:00Z")
    func latest(_ options: JSONValue, headers: JSONValue = [:]) throws -> TimeInterval {
      try PushDraftTests.read {
        $0["options"] = options
        $0["apns"] = ["headers": headers]
      }.latestStart(due: due).timeIntervalSince(due)
    }
    #expect(try latest([:]) == 3600 && latest(["time_to_live": 0]) == 3600)
    #expect(try latest(["time_to_live": 60]) == 60 && latest(["time_to_live": 86_400]) == 86_400)
    #expect(try latest([:], headers: ["apns-expiration": "1796115601"]) == 1)
    #expect(try latest([:], headers: ["apns-expiration": "0"]) == 3600)
  }

  @Test("spread over minutes, the target says the rate")
  func rate() throws {
    let draft = try PushDraftTests.read { $0["options"] = ["spread_minutes": 10] }
    #expect(draft.rate(target: 60_000) == 100 && draft.rate(target: 6) == 0.01 && draft.rate(target: 0) == 1.0 / 600)
    #expect(try PushDraftTests.read { $0["options"] = ["rate": 7] }.rate(target: 9) == 7)
    #expect(try PushDraftTests.read { _ in }.rate(target: 9) == nil)
    let once = try PushDraftTests.read {
      $0["repeat"] = ["every": "day", "at": "09:00", "time_zone": "UTC"]
    }.occurrence(at: date("2026-12-01T09:00:00Z"))
    #expect(once.recurrence == nil && once.json["send_at"] == "2026-12-01T09:00:00Z")
  }

  @Test("a time zone that does not exist is said, with the one that was probably meant")
  func zones() {
    for (name, code) in [("Berlin", "repeat.zone_similar"), ("Mars/Olympus", "repeat.zone")] {
      let problems = #expect(throws: Problems.self) { try PushDraftTests.read { $0["time_zone"] = .string(name) } }
      #expect(lines(problems) == ["time_zone \(code)"])
    }
  }
}
