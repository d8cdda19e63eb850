import Calendar
import Foundation
import JSON
import Model
import Testing

/// When a JPush schedule sends (docs/protocols.md §4.6).
@Suite("JPush triggers")
struct JPushTriggerTests {
  /// 2026-12-01 09:00:00 in Beijing, a Tuesday.
  private static let now = Date(timeIntervalSince1970: 1_796_086_800)

  private static func read(_ text: String) throws -> JPushTrigger {
    try JPushTrigger(try JSONValue(parsing: Data(text.utf8)), now: now)
  }

  private static func periodical(_ change: String = "") -> String {
    let usual =
      #""start":"2026-12-01 00:00:00","end":"2026-12-31 23:59:59","time":"12:00:30","time_unit":"day","frequency":1"#
    var members: [String: String] = [:]
    for part in [usual, change] where !part.isEmpty {
      for match in part.matches(of: #/"(\w+)":("[^"]*"|\[[^\]]*\]|-?\d+)/#) {
        members[String(match.1)] = String(match.2)
      }
    }
    return #"{"periodical":{"# + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}}"
  }

  /// The first runs, as Beijing's clocks show them.
  private static func runs(_ trigger: JPushTrigger, _ count: Int) -> [String] {
    Recurrence(trigger.rule, from: trigger.startAt).occurrences(from: now, limit: count).map(JPushTime.text)
  }

  @Test("once, at a second of Beijing time")
  func single() throws {
    let trigger = try Self.read(#"{"single":{"time":"2026-12-01 09:00:01"}}"#)
    #expect(trigger.startAt == Self.now + 1)
    #expect(Self.runs(trigger, 5) == ["2026-12-01 09:00:01"])
  }

  @Test("every day, every second week on two days, and every month on one day or several")
  func repeating() throws {
    #expect(
      Self.runs(try Self.read(Self.periodical()), 2) == ["2026-12-01 12:00:30", "2026-12-02 12:00:30"])
    #expect(
      Self.runs(try Self.read(Self.periodical(#""time_unit":"WEEK","frequency":2,"point":["fri","WED"]"#)), 4)
        == ["2026-12-02 12:00:30", "2026-12-04 12:00:30", "2026-12-16 12:00:30", "2026-12-18 12:00:30"])
    #expect(
      Self.runs(
        try Self.read(
          Self.periodical(#""time_unit":"Month","point":["28"],"end":"2027-02-28 12:00:30","time":"12:00:30""#)), 9)
        == ["2026-12-28 12:00:30", "2027-01-28 12:00:30", "2027-02-28 12:00:30"], "the end counts")
    #expect(
      Self.runs(
        try Self.read(
          Self.periodical(
            #""time_unit":"month","frequency":2,"point":["28","01","15"],"end":"2027-05-01 00:00:00""#)), 9)
        == [
          "2026-12-01 12:00:30", "2026-12-15 12:00:30", "2026-12-28 12:00:30", "2027-02-01 12:00:30",
          "2027-02-15 12:00:30", "2027-02-28 12:00:30", "2027-04-01 12:00:30", "2027-04-15 12:00:30",
          "2027-04-28 12:00:30",
        ])
  }

  @Test("a month without the day is left out")
  func missingDays() throws {
    func runs(_ points: String, frequency: Int = 1) throws -> [String] {
      let text = Self.periodical(
        #""time_unit":"month","frequency":\#(frequency),"point":\#(points),"end":"2027-11-30 00:00:00""#)
      return Self.runs(try Self.read(text), 20).map { String($0.prefix(10)) }
    }
    #expect(
      try runs(#"["31"]"#)
        == ["2026-12-31", "2027-01-31", "2027-03-31", "2027-05-31", "2027-07-31", "2027-08-31", "2027-10-31"])
    #expect(
      try runs(#"["30","31"]"#, frequency: 2)
        == [
          "2026-12-30", "2026-12-31", "2027-04-30", "2027-06-30", "2027-08-30", "2027-08-31", "2027-10-30",
          "2027-10-31",
        ])
  }

  @Test(
    "a wrong trigger is refused, and the place is named",
    arguments: [
      ("{}", "trigger"), (#"{"single":{"time":"2026-12-01 09:00:01"},"periodical":{}}"#, "either"),
      (#"{"single":{"time":"2026-12-01 09:00:00"}}"#, "past"), (#"{"single":{"time":"2026-12-1 09:00:00"}}"#, "time"),
      (#"{"single":{"time":"2026-12-02 09:00"}}"#, "time"), (#"{"single":{"time":"2026-13-01 09:00:00"}}"#, "time"),
      (#"{"single":{"time":"2027-02-29 09:00:00"}}"#, "time"), (#"{"single":{"time":"2026-12-02T09:00:00"}}"#, "time"),
      (#"{"single":{"when":"now"}}"#, "when"),
      (periodical(#""end":"2026-11-30 00:00:00""#), "no time left"),
      (periodical(#""end":"2026-12-01 12:00:00""#), "no time left"),
      (periodical(#""end":"2028-01-01 00:00:00""#), "year"), (periodical(#""time":"12:00""#), "time"),
      (periodical(#""frequency":0"#), "frequency"), (periodical(#""frequency":101"#), "frequency"),
      (periodical(#""time_unit":"year""#), "time_unit"), (periodical(#""point":["MON"]"#), "point"),
      (periodical(#""time_unit":"week""#), "point"), (periodical(#""time_unit":"week","point":["XYZ"]"#), "point"),
      (periodical(#""time_unit":"month","point":["1"]"#), "point"),
      (periodical(#""time_unit":"month","point":["32"]"#), "31"),
      (periodical(#""time_unit":"month","point":["31"],"start":"2026-12-31 12:00:31""#), "no time left"),
    ])
  func refused(text: String, place: String) throws {
    let error = #expect(throws: JPushError.self) { try Self.read(text) }
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
    #expect(error?.answered(by: .schedule).code == .scheduleInvalid)
  }

  @Test("names of schedules: letters, digits, underscores and Han characters, at most 255 bytes")
  func names() throws {
    for name in ["定时推送示例", "Schedule_Name_1", String(repeating: "x", count: 255)] {
      try JPushTrigger.check(name: name)
    }
    for name in ["", "a b", "a-b", "ä", "１", String(repeating: "x", count: 256)] {
      #expect(throws: JPushError.self, "\(name)") { try JPushTrigger.check(name: name) }
    }
  }
}
