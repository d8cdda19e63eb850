import Calendar
package import Foundation
package import JSON
import Model
package import Store

extension Forecast {
  /// A schedule that goes on after the end of what it needs.
  package struct Overrun: Sendable, Hashable {
    /// The schedule.
    package let schedule: PlannedSchedule
    /// Its first time that is refused: after the end, and still to come.
    package let first: Date
    /// How many times fall within ``Forecast/overrunDays`` after the end, or from now on if that is over.
    package let count: Int
    /// Whether somebody should act on it now: the end is near, or its very next time lies after it.
    ///
    /// Whatever repeats without an end outlives every certificate: a year ahead that is no news.
    package let isPressing: Bool
  }

  /// For how many days after an end the times of a schedule are counted.
  package static let overrunDays = 30

  /// The schedules that go on after the last second of validity, the first refused first; none without an end.
  ///
  /// - Parameter days: from how many days before its end on it is near.
  package static func overruns(
    _ schedules: [PlannedSchedule], notAfter: Date?, now: Date, within days: Int = Expiry.warningDays
  ) -> [Overrun] {
    guard !schedules.isEmpty, let notAfter, Expiry.daysLeft(notAfter: notAfter, now: now) != nil else { return [] }
    // RFC 5280 §4.1.2.5: the last second is still good.
    let end = Date(timeIntervalSince1970: notAfter.timeIntervalSince1970.rounded(.down) + 1)
    let isNear = [.soon, .urgent, .expired].contains(
      Expiry.band(notBefore: nil, notAfter: notAfter, now: now, within: days))
    let from = max(end, now)
    return schedules.compactMap { schedule in
      guard let first = schedule.first(from: from) else { return nil }
      return Overrun(
        schedule: schedule, first: first,
        count: schedule.count(from: from, to: from.addingTimeInterval(Double(overrunDays) * 86_400)),
        isPressing: isNear || schedule.nextAt >= end)
    }.sorted { ($0.first, $0.schedule.uid) < ($1.first, $1.schedule.uid) }
  }
}

extension Forecast.Overrun: JSONWritable {
  /// The schema `RepeatingForecast`.
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("schedule", schedule.uid)
      json.member("app", schedule.bundleID)
      json.member("environment", schedule.environment.rawValue)
      json.member("next_at", Timestamp.text(schedule.nextAt))
      json.member("first_after", Timestamp.text(first))
      json.member("times_within_30_days", count)
      json.member("pressing", isPressing)
    }
  }
}
