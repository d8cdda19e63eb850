package import Foundation
package import Store

/// What `check-certificates` finds: everything that is watched, the most urgent first.
package struct ExpiryReport: Sendable, Hashable {
  /// One thing and how it stands.
  package struct Finding: Sendable, Hashable {
    /// What it is about.
    package let item: TrackedExpiry
    /// How urgent its renewal is.
    package let band: Expiry.Band
    /// Whole days that are left, rounded down; nil without an end.
    package let daysLeft: Int?
    /// What will be sent with it.
    package let planned: Forecast.Needs
    /// Scheduled pushes that need it and fall after its end, the first first.
    package let missed: [PlannedPush]
    /// What repeats, needs it, and goes on after its end, the first refused first.
    package let overruns: [Forecast.Overrun]

    /// Those that somebody should act on now.
    package var pressing: [Forecast.Overrun] { overruns.filter(\.isPressing) }
  }

  /// Something whose end could not be found out, and why. It must never look as if all were fine.
  package struct Unreadable: Sendable, Hashable, Error {
    /// Where it stands in the console and in the store, as `hosts/12`; nil if nobody can say.
    package let key: String?
    /// What it is called.
    package let name: String
    /// Why, and what to do.
    package let reason: String
    package init(key: String? = nil, name: String, reason: String) {
      self.key = key
      self.name = name
      self.reason = reason
    }
  }

  /// When it was looked.
  package let checkedAt: Date
  /// From how many days before its end on something is reported.
  package let withinDays: Int
  /// The most urgent first.
  package let findings: [Finding]
  /// What could not be found out.
  package let unreadable: [Unreadable]
  /// What pushes are sent with and whose private key does not open: they fail, whatever its days.
  package let closed: [Unreadable]

  /// Looks at everything.
  ///
  /// - Parameter planned: what will be sent with something, by its key.
  package init(
    _ items: [TrackedExpiry], unreadable: [Unreadable] = [], closed: [Unreadable] = [],
    planned: [String: Forecast.Needs] = [:], now: Date,
    within days: Int = Expiry.warningDays
  ) {
    checkedAt = now
    withinDays = days
    self.unreadable = unreadable
    self.closed = closed
    findings = items.map { item in
      let planned = item.key.flatMap { planned[$0] } ?? Forecast.Needs()
      return Finding(
        item: item, band: item.band(now: now, within: days), daysLeft: item.daysLeft(now: now), planned: planned,
        missed: Forecast.missed(planned.pushes, notAfter: item.notAfter),
        overruns: Forecast.overruns(planned.schedules, notAfter: item.notAfter, now: now, within: days))
    }.sorted { one, other in
      (one.item.notAfter ?? .distantFuture, one.item.name) < (other.item.notAfter ?? .distantFuture, other.item.name)
    }
  }

  /// How `check-certificates` ends: 2 something is over, has at most 7 days left, or its key does not open; 3 something could not be found
  /// out; 1 something ends within the limit or has not begun; 0 all fine.
  ///
  /// What is known to be over counts more than what is not known, and that more than what ends later.
  package var exitCode: Int32 {
    let bands = Set(findings.map(\.band))
    if bands.contains(.expired) || bands.contains(.urgent) || !closed.isEmpty { return 2 }
    if !unreadable.isEmpty { return 3 }
    return bands.contains(.soon) || bands.contains(.notYetValid) ? 1 : 0
  }
}
