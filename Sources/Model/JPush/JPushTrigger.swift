package import Calendar
package import Foundation
package import JSON
import Text

/// When a JPush schedule sends (docs/protocols.md §4.6), as a repeat rule. All times are Beijing time, UTC+8.
package struct JPushTrigger: Sendable, Hashable {
  /// The two kinds; a schedule never changes its kind.
  private enum Kind: String { case single, periodical }

  /// Nothing is sent before.
  package let startAt: Date
  package let rule: RepeatRule

  /// Times the unit: every so many days, weeks or months.
  static let frequency: ClosedRange<Int64> = 1...100
  /// A task begins within a year, and a periodical one ends within a year of that.
  package static let longest: TimeInterval = 366 * 86_400

  private enum Unit: String { case day, week, month }

  /// - Parameter now: what is to be sent must not lie before.
  /// - Throws: ``JPushError``, the first thing that is wrong.
  package init(_ json: JSONValue, now: Date) throws(JPushError) {
    let fields = try JPushFields(json, at: "trigger", known: ["single", "periodical"])
    guard fields.members.count == 1, let (name, value) = fields.members.first, let kind = Kind(rawValue: name) else {
      throw JPushError(.invalid, "trigger must have either single or periodical.")
    }
    let zone: NamedZone
    do { zone = try NamedZone(JPushTime.zoneName) } catch {
      throw JPushError(.scheduleInternal, "The time zone \(error.name) is not installed.")
    }
    switch kind {
    case .single:
      let fields = try JPushFields(value, at: "trigger.single", known: ["time"])
      startAt = try Self.date(fields, "time")
      // Once: one run of a daily rule, at exactly that second.
      var rule = RepeatRule(.daily, minute: 0, zone: zone)
      (rule.second, rule.count) = (zone.wall(startAt).second, 1)
      self.rule = rule
      guard startAt > now else { throw JPushError(.invalid, "trigger.single.time is in the past.") }
      guard startAt.timeIntervalSince(now) <= Self.longest else {
        throw fields.invalid("time", "must be within a year.")
      }
    case .periodical:
      let fields = try JPushFields(
        value, at: "trigger.periodical", known: ["start", "end", "time", "time_unit", "frequency", "point"])
      startAt = try Self.date(fields, "start")
      let end = try Self.date(fields, "end")
      guard let text = try fields.text("time"), let second = RepeatRule.second(text), text.utf8.count == 8 else {
        throw fields.invalid("time", "must be a time such as 12:00:00.")
      }
      guard startAt.timeIntervalSince(now) <= Self.longest else {
        throw fields.invalid("start", "must be within a year.")
      }
      guard end.timeIntervalSince(max(startAt, now)) <= Self.longest else {
        throw fields.invalid("end", "must be within a year.")
      }
      guard let interval = try fields.integer("frequency", in: Self.frequency) else {
        throw fields.invalid("frequency", "is missing.")
      }
      var rule = RepeatRule(try Self.days(fields), interval: Int(interval), minute: 0, zone: zone)
      (rule.second, rule.until) = (second, end)
      self.rule = rule
      guard Recurrence(rule, from: startAt).first(from: now) != nil else {
        throw JPushError(.invalid, "trigger.periodical has no time left to send before its end.")
      }
    }
  }

  private static func date(_ fields: JPushFields, _ name: String) throws(JPushError) -> Date {
    guard let date = try fields.text(name).flatMap(JPushTime.date) else {
      throw fields.invalid(name, "must be a time such as 2026-12-01 09:00:00 (Beijing time).")
    }
    return date
  }

  private static func days(_ fields: JPushFields) throws(JPushError) -> RepeatRule.Days {
    guard let unit = try fields.text("time_unit").flatMap({ Unit(rawValue: $0.lowercased()) }) else {
      throw fields.invalid("time_unit", "must be day, week or month.")
    }
    let points = try fields.texts("point", atMost: 31) { _ in nil }
    switch unit {
    case .day:
      guard points.isEmpty else { throw fields.invalid("point", "must be left out with time_unit day.") }
      return .daily
    case .week:
      let weekdays = points.compactMap { RepeatRule.Weekday(rawValue: $0.lowercased()) }
      guard !points.isEmpty, weekdays.count == points.count else {
        throw fields.invalid("point", "must list weekdays: MON, TUE, WED, THU, FRI, SAT, SUN.")
      }
      return .weekly(Set(weekdays).sorted())
    case .month:
      let days = points.compactMap { $0.utf8.count == 2 ? Int($0) : nil }
      guard !points.isEmpty, days.count == points.count, days.allSatisfy((1...31).contains) else {
        throw fields.invalid("point", "must list days of the month: \"01\" to \"31\".")
      }
      // JPush leaves out a month without the day; a single day of Signalbox would be the month's last.
      return .monthlyOn(Set(days).sorted())
    }
  }
}

/// Times as JPush writes them: `2026-12-01 09:00:00`, Beijing time (UTC+8, no daylight-saving time since 1991).
package enum JPushTime {
  package static let zoneName = "Asia/Shanghai"
  private static let offset = 8 * 3600

  /// Nil unless it is complete, and a day of the calendar.
  package static func date(_ text: String) -> Date? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 8, let day = day(parts[0]),
      let second = RepeatRule.second(String(parts[1]))
    else { return nil }
    return moment(day, second: second)
  }

  /// The moment of a second since midnight in Beijing.
  package static func moment(_ day: CivilDate, second: Int = 0) -> Date {
    Date(timeIntervalSince1970: Double(day.number * 86_400 + second - offset))
  }

  /// `2026-12-01`; nil unless it is a day of the calendar.
  package static func day(_ text: some StringProtocol) -> CivilDate? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy(ASCII.isDigit) }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]), (1...12).contains(month),
      day >= 1, day <= CivilDate.days(in: month, of: year)
    else { return nil }
    return CivilDate(year: year, month: month, day: day)
  }

  /// The day in Beijing, and seconds since its midnight.
  package static func wall(_ date: Date) -> (day: CivilDate, second: Int) {
    NamedZone.utc.wall(date.addingTimeInterval(Double(offset)))
  }

  package static func text(_ date: Date) -> String {
    let (day, second) = wall(date)
    func two(_ number: Int) -> String { CivilDate.padded(number, 2) }
    return "\(day.text) \(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
  }
}

extension JPushTrigger {
  /// A schedule's name: letters, digits, `_` and Han characters, at most 255 bytes.
  package static func check(name: String) throws(JPushError) {
    let isPlain = name.unicodeScalars.allSatisfy {
      $0 == "_" || ($0.isASCII ? $0.properties.isAlphabetic || ("0"..."9").contains($0) : JPushName.isHan($0))
    }
    guard isPlain, (1...255).contains(name.utf8.count) else {
      throw JPushError(.scheduleInvalid, "name must have 1 to 255 bytes of letters, digits, “_” and Han characters.")
    }
  }
}
