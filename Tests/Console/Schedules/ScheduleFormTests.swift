import Calendar
import Delivery
import Foundation
import JSON
import Model
import Store
import Testing

@testable import Console

/// When, how often and how fast: what is typed, and the draft.
@Suite("Send form: times and speed")
struct ScheduleFormTests {
  private static let good: [(String, String)] = [
    ("app", "com.example.shop"), ("environment", "development"), ("platforms", "ios"), ("audience", "all"),
    ("body", "Hello"),
  ]

  private static func form(_ fields: [(String, String)]) -> SendForm {
    SendForm(form: Form((good + fields).map { (name: $0.0, value: $0.1) }))
  }

  private static func problems(_ fields: [(String, String)]) -> [String] {
    do {
      _ = try form(fields).draft()
      return []
    } catch {
      return error.all.map { "\($0.field) \($0.code)" }
    }
  }

  @Test("a time is read by the clocks of the zone; in the gap it is the first moment after, twice it is the first")
  func sendAt() throws {
    for (text, zone, expected) in [
      ("2026-12-01T09:00", "Europe/Berlin", "2026-12-01T08:00:00Z"), ("2026-12-01 09:00", "", "2026-12-01T09:00:00Z"),
      ("2026-12-01T09:00:30", "Asia/Shanghai", "2026-12-01T01:00:30Z"),
      ("2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:00:00Z"),
      ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"),
    ] {
      let draft = try Self.form([("when", "at"), ("send_at", text), ("time_zone", zone), ("starts", "x")]).draft()
      #expect(draft.sendAt.map(Timestamp.text) == expected && draft.recurrence == nil)
    }
  }

  @Test("what belongs to another choice is not used")
  func unused() throws {
    let typed = [
      ("send_at", "x"), ("time_zone", "y"), ("every", "z"), ("at", "25:00"), ("rate", "-1"), ("spread_minutes", "x"),
      ("until", "x"), ("count", "x"), ("weekdays", "x"),
    ]
    for choice in [[], [("when", "now"), ("speed", "fast")]] {
      let draft = try Self.form(typed + choice).draft()
      #expect(draft.sendAt == nil && draft.recurrence == nil && draft.options == PushDraft.Options())
    }
    let weekly = try Self.form([
      ("when", "repeat"), ("every", "week"), ("weekdays", "sun"), ("weekdays", "mon"), ("day", "31"), ("at", "09:00"),
      ("interval", "2"), ("count", "3"), ("starts", "2026-12-01T00:00"), ("until", "2027-01-01T00:00"),
      ("time_zone", "Europe/Berlin"), ("speed", "spread"), ("rate", "7"), ("spread_minutes", "30"),
      ("at_most_once", "1"),
    ]).draft()
    var rule = RepeatRule(
      .weekly([.monday, .sunday]), interval: 2, minute: 540, zone: try NamedZone("Europe/Berlin"))
    (rule.count, rule.until) = (3, Timestamp.parse("2026-12-31T23:00:00Z"))
    #expect(weekly.recurrence == rule && weekly.sendAt == Timestamp.parse("2026-11-30T23:00:00Z"))
    #expect(weekly.options.spreadMinutes == 30 && weekly.options.rate == nil && weekly.options.atMostOnce)
  }

  @Test("a week without weekdays names them as the form does; the API has words of its own")
  func weekdays() throws {
    let locales = try Locales(folder: ConsoleScene.root.appendingPathComponent("Templates/locales").path)
    var found: Problem?
    do {
      _ = try Self.form([("when", "repeat"), ("every", "week"), ("at", "09:00"), ("time_zone", "UTC")]).draft()
    } catch {
      found = error.all.first
    }
    let problem = try #require(found)
    #expect(problem.text == "Choose at least one weekday: mon, tue, wed, thu, fri, sat, sun.")
    #expect(locales["en"].text(problem) == "Choose at least one weekday: Mon, Tue, Wed, Thu, Fri, Sat, Sun.")
    #expect(locales["zh-Hans"].text(problem) == "请至少选择一天：周一、周二、周三、周四、周五、周六、周日。")
  }

  @Test(
    "what cannot be read is told at the field where it was typed",
    arguments: [
      ([("when", "at")], ["send_at field.required"]),
      ([("when", "at"), ("send_at", "tomorrow")], ["send_at form.local_time"]),
      ([("when", "at"), ("send_at", "2026-02-30T09:00")], ["send_at form.local_time"]),
      (
        [("when", "at"), ("send_at", "2026-12-01T09:00"), ("time_zone", "Berlin")], ["time_zone repeat.zone_similar"]
      ),
      ([("when", "repeat")], ["every field.choose", "at field.required"]),
      (
        [
          ("when", "repeat"), ("every", "week"), ("at", "9"), ("time_zone", "Mars"), ("interval", "0"), ("count", "x"),
          ("starts", "x"), ("until", "y"),
        ],
        [
          "starts form.local_time", "count form.number", "until form.local_time", "interval field.out_of_range",
          "weekdays repeat.weekdays_missing", "at repeat.time", "time_zone repeat.zone",
        ]
      ),
      ([("when", "repeat"), ("every", "month"), ("day", "32"), ("at", "09:00")], ["day field.out_of_range"]),
      ([("speed", "rate")], ["rate field.required"]),
      ([("speed", "rate"), ("rate", "0")], ["rate field.out_of_range"]),
      ([("speed", "spread"), ("spread_minutes", "1.5")], ["spread_minutes form.number"]),
    ] as [([(String, String)], [String])])
  func places(fields: [(String, String)], expected: [String]) {
    #expect(Set(Self.problems(fields)) == Set(expected))
  }

  @Test("draft → form → draft: times, rules and speeds come back")
  func roundTrip() throws {
    let zones = ["UTC", "Europe/Berlin", "Asia/Calcutta", "Australia/Lord_Howe", "America/New_York"]
    let start = try #require(Timestamp.parse("2026-12-01T09:00:07Z"))
    for (index, days) in [
      RepeatRule.Days.daily, .weekly([.monday, .sunday]), .monthly(day: 31), .monthly(day: 1), .weekly([.friday]),
    ].enumerated() {
      var draft = try Self.form([]).draft()
      draft.recurrence = RepeatRule(days, interval: index + 1, minute: index * 61, zone: try NamedZone(zones[index]))
      draft.recurrence?.until = index % 2 == 0 ? nil : start + 86_400
      draft.recurrence?.count = index % 2 == 0 ? 7 : nil
      draft.sendAt = index < 2 ? nil : start
      draft.options.rate = index == 1 ? 5 : nil
      draft.options.spreadMinutes = index == 2 ? 5 : nil
      draft.options.atMostOnce = index == 3
      #expect(try SendForm(form: Form(draft)).draft() == draft)
    }
    var draft = try Self.form([]).draft()
    draft.sendAt = start
    for zone in ["UTC", "Europe/Berlin", "Australia/Lord_Howe"] {
      draft.timeZone = try NamedZone(zone)
      let form = Form(draft)
      let shown = LocalTime.text(start, try NamedZone(zone))
      #expect(form["time_zone"] == zone && form["send_at"] == shown)
      #expect(try SendForm(form: form).draft() == draft)
    }
    draft.timeZone = nil
    #expect(Form(draft)["time_zone"] == "UTC" && Form(draft)["send_at"] == "2026-12-01T09:00:07")
  }

  @Test("rules, moments and speeds in words")
  func words() throws {
    let file = ConsoleScene.root.appendingPathComponent("Templates/locales/en.json")
    let texts = Texts(code: "en", table: try JSONValue(parsing: Data(contentsOf: file)))
    let zone = try NamedZone("Europe/Berlin")
    func rule(_ days: RepeatRule.Days, _ interval: Int = 1) -> String {
      texts.rule(RepeatRule(days, interval: interval, minute: 540, zone: zone))
    }
    #expect(rule(.daily) == "every day at 09:00, Europe/Berlin")
    #expect(rule(.daily, 3) == "every 3 days at 09:00, Europe/Berlin")
    #expect(rule(.weekly([.monday, .thursday])) == "every week on Mon, Thu at 09:00, Europe/Berlin")
    #expect(rule(.monthly(day: 31), 2) == "on the last day of every 2 months at 09:00, Europe/Berlin")
    #expect(rule(.monthly(day: 1)) == "every month on day 1 at 09:00, Europe/Berlin")
    let morning = try #require(Timestamp.parse("2026-12-01T08:00:00Z"))
    #expect(texts.moment(morning, zone) == "1 Dec 2026, 09:00 Europe/Berlin (08:00 UTC)")
    #expect(
      texts.moment(morning, try NamedZone("Pacific/Auckland")) == "1 Dec 2026, 21:00 Pacific/Auckland (08:00 UTC)")
    #expect(
      texts.moment(morning, try NamedZone("Pacific/Honolulu"))
        == "30 Nov 2026, 22:00 Pacific/Honolulu (1 Dec 2026, 08:00 UTC)")
    #expect(texts.moment(morning, .utc) == "1 Dec 2026, 08:00 UTC")
    for (seconds, text) in [
      (-5.0, "now"), (1, "in 1 second"), (5, "in 5 seconds"), (120, "in 2 minutes"), (7200, "in 2 hours"),
      (3 * 86_400, "in 3 days"),
    ] {
      #expect(texts.ahead(morning + seconds, now: morning) == text)
    }
    var draft = try Self.form([]).draft()
    draft.options.spreadMinutes = 30
    #expect(texts.speed(draft, devices: 1260) == "spread over 30 minutes, about 0.7 per second")
    #expect(texts.speed(draft, devices: nil) == "spread over 30 minutes")
    (draft.options.spreadMinutes, draft.options.rate) = (nil, 500)
    #expect(texts.speed(draft, devices: 9) == "at 500 per second")
    var progress = PushProgress(state: .sending, target: 5, counts: OutcomeCounts())
    for (rate, text) in [
      (1204.4, "1,204 per second, 1 s left"), (1, "1 per second, 5 s left"), (0.7, "0.7 per second, 8 s left"),
      (0.125, "one every 8 s, 40 s left"), (0, ""),
    ] {
      progress.rate = rate
      #expect(ProgressJSON(progress, texts).rateText == text)
      let event = try JSONValue(parsing: Data(JSONWriter.bytes(of: progress)))
      #expect(event["rate"] == .integer(Int64(rate)), "as the API's document says")
    }
    (progress.rate, progress.counts.accepted, progress.waiting) = (161, 4, 1)
    progress.nextDue = morning
    #expect(ProgressJSON(progress, texts).rateText.isEmpty, "nothing is left but a retry, which has its time")
  }

  @Test("without script: usual time zones, all of them with one button, and a rare one stays once it is chosen")
  func zones() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var lin = try await scene.signIn(.operator)
      func offered(_ page: ScenePage) -> [String] {
        let list = page.tags.drop { $0.attributes["name"] != "time_zone" }.prefix { $0.name != "/select" }
        return list.filter { $0.name == "option" }.map { $0.attributes["value"] ?? $0.text }
      }
      let first = ScenePage(try await lin.get("/pushes/new"))
      #expect(offered(first).first == "UTC" && offered(first).contains("Europe/Berlin") && offered(first).count < 20)
      #expect(offered(first).contains { ["Asia/Calcutta", "Asia/Kolkata"].contains($0) } && offered(first).count > 12)
      #expect(Set(offered(first)).isSubset(of: NamedZone.names))
      let typed = [("title", "Hello"), ("when", "at"), ("send_at", "2030-03-19T09:00")]
      let all = ScenePage(try await lin.post("/pushes/preview", typed + [("all_zones", "1")]))
      #expect(offered(all) == NamedZone.names)
      for (name, value) in typed { #expect(all.values(name) == [value], "\(name)") }
      #expect(!all.tags.contains { $0.attributes["name"] == "all_zones" })
      let rare = typed + [("time_zone", "America/Boise"), ("edit", "1")]
      let again = ScenePage(try await lin.post("/pushes/preview", rare))
      #expect(again.values("time_zone") == ["America/Boise"] && offered(again).count < 20)
    }
  }
}
