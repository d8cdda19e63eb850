import Calendar
package import Foundation
package import JSON
import Model
package import Store

extension Forecast {
  /// A schedule with runs after the credential that it needs expires.
  package struct Overrun: Sendable, Hashable {
    package let schedule: PlannedSchedule
    /// The first run after the expiry that is still to come.
    package let first: Date
    /// The number of runs within ``Forecast/overrunDays`` after the expiry, or after now if it has expired.
    package let count: Int
    /// Whether it needs attention now: the expiry is near, or the very next run is after it. A schedule without an end
    /// outlasts every certificate, so an expiry a year ahead is not reported.
    package let isPressing: Bool
  }

  /// Days after an expiry in which runs are counted.
  package static let overrunDays = 30

  /// Schedules with runs after the expiry, the first affected first; empty without an expiry.
  ///
  /// - Parameter days: an expiry within this many days is near.
  package static func overruns(
    _ schedules: [PlannedSchedule], notAfter: Date?, now: Date, within days: Int = Expiry.warningDays
  ) -> [Overrun] {
    guard !schedules.isEmpty, let notAfter, Expiry.daysLeft(notAfter: notAfter, now: now) != nil else { return [] }
    // The last second is still valid (RFC 5280 §4.1.2.5).
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

extension Forecast.Overrun: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("schedule", schedule.uid)
    json.member("app", schedule.bundleID)
    json.member("environment", schedule.environment.rawValue)
    json.member("next_at", Timestamp.text(schedule.nextAt))
    json.member("first_after", Timestamp.text(first))
    json.member("times_within_30_days", count)
    json.member("pressing", isPressing)
  }
}
