import Foundation
import JSON
import Testing

@testable import Calendar

private func date(_ text: String) throws -> Date { try #require(Timestamp.parse(text)) }

/// What is wrong among thousands of cases: one issue with the first of them, and not thousands of issues.
private struct Findings {
  private var count = 0
  private var first: [String] = []

  mutating func unless(_ isRight: Bool, _ text: @autoclosure () -> String) {
    if isRight { return }
    count += 1
    if first.count < 3 { first.append(text()) }
  }

  func report(_ location: SourceLocation = #_sourceLocation) {
    #expect(count == 0, "\(count) cases are wrong, the first of them: \(first)", sourceLocation: location)
  }
}

@Suite("Recurrence: every moment at which something repeats")
struct RecurrenceTests {
  /// A line of `Fixtures/recurrence.txt`, which python's zoneinfo wrote (`Fixtures/recurrence.py`).
  struct Line: Sendable {
    let rule: RepeatRule
    let start: Date
    let expected: [Date]
    let text: String

    init(_ text: Substring) throws {
      self.text = String(text)
      let parts = text.components(separatedBy: " | ")
      let words = parts[1].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      let days: RepeatRule.Days
      switch words[0] {
      case "day": days = .daily
      case "week": days = .weekly(words[2].split(separator: ",").compactMap { .init(rawValue: String($0)) })
      default: days = .monthly(day: try #require(Int(words[2])))
      }
      rule = RepeatRule(
        days, interval: try #require(Int(words[1])), minute: try #require(RepeatRule.second(words[3])) / 60,
        zone: try NamedZone(parts[0]))
      start = Date(timeIntervalSince1970: try #require(Double(parts[2])))
      expected = parts[3].split(separator: " ").compactMap { Double($0) }.map(Date.init(timeIntervalSince1970:))
    }
  }

  static func lines() throws -> [Line] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "Fixtures/recurrence.txt")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(Line.init)
  }

  @Test("16 zones through gaps, hours that come twice, half hours, and a day that never was: as python says")
  func oracle() throws {
    let lines = try Self.lines()
    #expect(lines.count > 500)
    var wrong = Findings()
    for line in lines {
      let recurrence = Recurrence(line.rule, from: line.start)
      let found = recurrence.occurrences(from: .distantPast, limit: line.expected.count)
      wrong.unless(found == line.expected, line.text)
    }
    wrong.report()
  }

  @Test("32 zones, 47 years, at six times of the day, every day of every third year: as python says")
  func years() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "Fixtures/recurrence-years.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 192)
    var wrong = Findings()
    for (number, line) in lines.enumerated() {
      let parts = line.components(separatedBy: " | ")
      let zone = try NamedZone(parts[0])
      let rule = RepeatRule(.daily, minute: try #require(RepeatRule.second(parts[1])) / 60, zone: zone)
      let recurrence = Recurrence(rule, from: zone.moment(CivilDate(year: 1990, month: 1, day: 1), second: 0))
      let sums = parts[2].split(separator: " ")
      #expect(sums.count == 47)
      // Each time of a zone has other years than the one before it: every year of a zone is looked at twice.
      for (index, expected) in sums.enumerated() where (index + number) % 3 == 0 {
        let (first, next) = (1990 + index, 1991 + index)
        // A time in a gap at the end of a day is on the next one; none of these is at the end of a year.
        let moments = recurrence.occurrences(
          from: zone.moment(CivilDate(year: first, month: 1, day: 1), second: 0),
          to: zone.moment(CivilDate(year: next, month: 1, day: 1), second: 0), limit: 400)
        let sum = moments.reduce(0) { $0 + Int($1.timeIntervalSince1970) } % 1_000_003
        wrong.unless(String(sum) == expected, "\(parts[0]) \(parts[1]) in \(first)")
      }
    }
    wrong.report()
  }

  @Test("asked from any moment, the next, the last and the first agree with the whole row")
  func places() throws {
    var wrong = Findings()
    for line in try Self.lines() where line.expected.count > 4 {
      let recurrence = Recurrence(line.rule, from: line.start)
      for (index, moment) in line.expected.enumerated().dropLast() {
        let next = line.expected[index + 1]
        wrong.unless(recurrence.first(from: moment) == moment, "first from \(moment): \(line.text)")
        wrong.unless(recurrence.next(after: moment) == next, "next after \(moment): \(line.text)")
        wrong.unless(recurrence.first(from: moment + 1) == next, "first after \(moment): \(line.text)")
        wrong.unless(recurrence.next(after: next - 1) == next, "next before \(next): \(line.text)")
        wrong.unless(recurrence.last(through: next - 1) == moment, "last before \(next): \(line.text)")
        wrong.unless(recurrence.last(through: moment) == moment, "last through \(moment): \(line.text)")
      }
      wrong.unless(recurrence.last(through: line.expected[0] - 1) == nil, "before the first: \(line.text)")
    }
    wrong.report()
  }

  @Test("counted over any stretch, there are as many as one by one; with an end by number or by moment too")
  func counts() throws {
    // Apia and Kwajalein left a day out once: both of the two that shared a moment count.
    let lines = try Self.lines().filter { !["Pacific/Apia", "Pacific/Kwajalein"].contains($0.rule.zone.name) }
    var wrong = Findings()
    for line in lines where line.expected.count > 4 {
      let last = try #require(line.expected.last)
      for (count, until) in [(nil, nil), (3, nil), (nil, line.expected[2]), (nil, line.expected[2] - 1)]
        as [(Int?, Date?)]
      {
        var rule = line.rule
        (rule.count, rule.until) = (count, until)
        let recurrence = Recurrence(rule, from: line.start)
        for from in [line.start, line.expected[1], line.expected[1] + 1, line.expected[3]] {
          for to in [from - 1, from, from + 1, line.expected[2], line.expected[3] + 1, last] {
            let found = recurrence.occurrences(from: from, to: to, limit: 1000).count
            wrong.unless(recurrence.count(from: from, to: to) == found, "\(line.text) \(from) \(to)")
          }
        }
      }
    }
    wrong.report()
    let daily = Recurrence(RepeatRule(.daily, minute: 0, zone: .utc), from: try date("2026-01-01T00:00:00Z"))
    #expect(try daily.count(from: date("2026-01-01T00:00:00Z"), to: date("9026-01-01T00:00:00Z")) == 2_556_697)
  }

  @Test("a clock time keeps its place on the clock for a hundred years; the days follow each other")
  func longRun() throws {
    var wrong = Findings()
    for name in ["Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "UTC"] {
      let zone = try NamedZone(name)
      let recurrence = Recurrence(
        RepeatRule(.daily, minute: 9 * 60, zone: zone), from: try date("1999-12-31T20:00:00Z"))
      var day = zone.wall(try #require(recurrence.first(from: .distantPast))).day
      for moment in recurrence.occurrences(from: .distantPast, limit: 36_525).dropFirst() {
        let wall = zone.wall(moment)
        wrong.unless(wall.second == 9 * 3600 && wall.day == day + 1, "\(name) \(wall.day.text)")
        day = wall.day
      }
      #expect(day.text == "2099-12-31")
    }
    wrong.report()
  }

  @Test("several days of a month are the rules of each day together, from any moment")
  func severalDays() throws {
    let zone = try NamedZone("Europe/Berlin")
    for (days, interval) in [([1, 15, 28], 1), ([3, 4], 2), ([1, 28], 13)] {
      // The first of the days after the start is 1 January: every rule counts its interval from that month.
      let start = try date("2026-12-31T12:00:00Z")
      func recurrence(_ days: RepeatRule.Days) -> Recurrence {
        Recurrence(RepeatRule(days, interval: interval, minute: 9 * 60, zone: zone), from: start)
      }
      let all = recurrence(.monthlyOn(days))
      let expected = days.flatMap { recurrence(.monthly(day: $0)).occurrences(from: start, limit: 40) }.sorted()
      #expect(all.occurrences(from: start, limit: 40 * days.count) == expected)
      for (index, moment) in expected.enumerated().dropLast() {
        #expect(all.first(from: moment) == moment && all.next(after: moment) == expected[index + 1])
        #expect(all.last(through: expected[index + 1] - 1) == moment)
        #expect(all.count(from: start, to: moment) == index)
      }
      #expect(all.last(through: expected[0] - 1) == nil)
    }
  }

  @Test("the 31st is the last day of a shorter month, and the 29th of February comes in leap years only")
  func monthEnds() throws {
    let start = try date("2027-12-15T00:00:00Z")
    func days(_ day: Int, _ interval: Int = 1) -> [String] {
      Recurrence(RepeatRule(.monthly(day: day), interval: interval, minute: 0, zone: .utc), from: start)
        .occurrences(from: start, limit: 6).map { NamedZone.utc.wall($0).day.text }
    }
    #expect(days(31) == ["2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31"])
    #expect(days(30) == ["2027-12-30", "2028-01-30", "2028-02-29", "2028-03-30", "2028-04-30", "2028-05-30"])
    #expect(days(31, 2) == ["2027-12-31", "2028-02-29", "2028-04-30", "2028-06-30", "2028-08-31", "2028-10-31"])
    #expect(days(29, 14).last == "2033-10-29")
    #expect(days(14)[0] == "2028-01-14", "this month's has passed")
  }

  @Test("listed days that a month does not have are left out, and counted from any moment")
  func missingDays() throws {
    let start = try date("2026-12-15T00:00:00Z")
    for (days, interval) in [([31], 1), ([29, 30], 1), ([5, 31], 3), ([30], 11), ([29], 12)] {
      let rule = RepeatRule(.monthlyOn(days), interval: interval, minute: 9 * 60, zone: .utc)
      let recurrence = Recurrence(rule, from: start)
      // Day by day: those on the list, in every so many months from the first.
      var expected: [Date] = []
      var first: Int?
      var day = NamedZone.utc.wall(start).day
      while expected.count < 60 {
        let (year, month, number) = day.parts
        if days.contains(number) {
          let months = year * 12 + month
          if (months - (first ?? months)) % interval == 0 {
            first = first ?? months
            expected.append(NamedZone.utc.moment(day, second: 9 * 3600))
          }
        }
        day = day + 1
      }
      #expect(recurrence.occurrences(from: start, limit: 60) == expected, "\(days) every \(interval)")
      for (index, moment) in expected.enumerated().dropLast() {
        #expect(recurrence.first(from: moment) == moment && recurrence.next(after: moment) == expected[index + 1])
        #expect(recurrence.last(through: expected[index + 1] - 1) == moment)
        #expect(recurrence.count(from: start, to: moment) == index)
      }
    }
  }

  @Test("it ends after so many, or at a moment that still counts; whichever comes first")
  func ends() throws {
    let start = try date("2026-11-21T09:00:00Z")
    var rule = RepeatRule(.daily, minute: 9 * 60, zone: .utc)
    rule.count = 3
    func all(_ rule: RepeatRule) -> [Date] { Recurrence(rule, from: start).occurrences(from: start, limit: 99) }
    #expect(all(rule) == [start, start + 86_400, start + 2 * 86_400])
    #expect(Recurrence(rule, from: start).last(through: .distantFuture) == start + 2 * 86_400)
    rule.until = start + 86_400
    #expect(all(rule) == [start, start + 86_400], "the last moment counts")
    rule.until = start + 86_399
    #expect(all(rule) == [start])
    #expect(Recurrence(rule, from: start).last(through: .distantFuture) == start)
    rule.until = start - 1
    #expect(all(rule) == [] && Recurrence(rule, from: start).last(through: .distantFuture) == nil)
    (rule.count, rule.until) = (nil, start + 365 * 86_400)
    #expect(all(rule).count == 99)
    #expect(Recurrence(rule, from: start).last(through: .distantFuture) == start + 365 * 86_400)
    rule.count = 5
    #expect(Recurrence(rule, from: start).next(after: start + 4 * 86_400) == nil)
    #expect(
      Recurrence(rule, from: start).occurrences(from: start + 86_400, to: start + 3 * 86_400, limit: 9).count == 2)
  }
}

@Suite("Time zones by name")
struct NamedZoneTests {
  @Test("every name that is offered is one, and former names are taken")
  func names() throws {
    #expect(NamedZone.names.count > 400 && NamedZone.names.first == "UTC")
    for name in NamedZone.names + ["Asia/Kolkata", "Europe/Kiev", "US/Pacific", "America/Buenos_Aires", "Etc/UTC"] {
      #expect(try NamedZone(name).name == name)
    }
  }

  @Test(
    "another name is refused, with the one that was probably meant",
    arguments: [
      ("Europe/Berln", "Europe/Berlin"), ("berlin", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"),
      ("America/New York", "America/New_York"), ("Shanghai", "Asia/Shanghai"), ("utc", "UTC"), ("EST", nil),
      ("GMT+8", "Asia/Shanghai"), ("+08:00", "Asia/Shanghai"), ("Mars/Olympus", nil), ("/", nil),
    ] as [(String, String?)])
  func refused(name: String, meant: String?) {
    let error = #expect(throws: NamedZoneError.self) { try NamedZone(name) }
    #expect(error?.name == name)
    #expect(error?.suggestion == meant)
  }

  @Test("what the clocks show, and the day's number in the calendar")
  func wall() throws {
    let lordHowe = try NamedZone("Australia/Lord_Howe")
    #expect(lordHowe.text(try date("2026-11-21T13:15:00Z")) == "2026-11-22 00:15")
    #expect(NamedZone.utc.text(try date("1969-12-31T23:59:59Z")) == "1969-12-31 23:59")
    #expect(CivilDate(year: 2026, month: 11, day: 21).weekday == 5)
    for number in stride(from: -800_000, through: 800_000, by: 997) {
      let (year, month, day) = CivilDate(number: number).parts
      #expect(CivilDate(year: year, month: month, day: day).number == number)
    }
  }
}
