package import Foundation
import Text

/// How a push repeats: days, local time, and end.
package struct RepeatRule: Sendable, Hashable {
  package enum Days: Sendable, Hashable {
    /// Every `interval` days.
    case daily
    /// On these weekdays of every `interval` weeks, which begin on Monday. In order, at least one.
    case weekly([Weekday])
    /// On this day (1…31) of every `interval` months; on the last day of a shorter month.
    case monthly(day: Int)
    /// On these days (1…31) of every `interval` months; a month leaves out the days that it does not have. In order, at
    /// least one.
    case monthlyOn([Int])
  }

  package enum Weekday: String, Sendable, CaseIterable, Comparable {
    case monday = "mon"
    case tuesday = "tue"
    case wednesday = "wed"
    case thursday = "thu"
    case friday = "fri"
    case saturday = "sat"
    case sunday = "sun"

    /// 0 is Monday.
    package var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package static func < (one: Weekday, other: Weekday) -> Bool { one.number < other.number }
  }

  package var days: Days
  /// 1: every day, week or month; 2: every other one.
  package var interval: Int
  /// Seconds since midnight in ``zone``.
  package var second: Int
  package var zone: NamedZone
  /// The last possible moment; nil: forever.
  package var until: Date?
  /// The number of occurrences; nil: unlimited.
  package var count: Int?

  /// A rule without an end.
  ///
  /// - Parameter minute: minutes since midnight.
  package init(_ days: Days, interval: Int = 1, minute: Int, zone: NamedZone) {
    self.days = days
    self.interval = interval
    second = minute * 60
    self.zone = zone
  }

  /// As `09:00`; as `09:00:30` unless it is a whole minute.
  package var time: String {
    ([second / 3600, second / 60 % 60] + (second % 60 == 0 ? [] : [second % 60]))
      .map { CivilDate.padded($0, 2) }.joined(separator: ":")
  }

  /// Seconds since midnight of `09:00` or `09:00:30`; nil if malformed.
  package static func second(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count),
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(ASCII.isDigit) })
    else { return nil }
    let numbers = parts.compactMap { Int($0) }
    guard numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
  }
}
