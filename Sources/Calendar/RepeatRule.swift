package import Foundation
import Text

/// How a push repeats: days, local time, and end.
package struct RepeatRule: Sendable, Hashable {
  /// Which days.
  package enum Days: Sendable, Hashable {
    /// Every `interval` days.
    case daily
    /// On these weekdays of every `interval` weeks, which begin on Monday. In order, at least one.
    case weekly([Weekday])
    /// On this day (1…31) of every `interval` months; on the last day of a shorter month.
    case monthly(day: Int)
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
  /// Seconds since midnight in ``zone``; whole minutes.
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

  /// As `09:00`.
  package var time: String { "\(CivilDate.padded(second / 3600, 2)):\(CivilDate.padded(second / 60 % 60, 2))" }

  /// Minutes since midnight of `09:00`; nil if malformed.
  package static func minute(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"), [0, 1, 3, 4].allSatisfy({ ASCII.isDigit(bytes[$0]) }),
      let hour = Int(text.prefix(2)), let minute = Int(text.suffix(2)), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }
}
