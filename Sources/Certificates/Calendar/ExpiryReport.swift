package import Foundation
package import Model
package import Store

/// The result of `check-certificates`: every watched item, the most urgent first.
package struct ExpiryReport: Sendable, Hashable {
  package struct Finding: Sendable, Hashable {
    package let item: TrackedExpiry
    package let band: Expiry.Band
    /// Rounded down; nil without an expiry.
    package let daysLeft: Int?
    /// The pushes and schedules that use it.
    package let planned: Forecast.Plan
    /// Scheduled pushes that need it after it expires, the earliest first.
    package let missed: [PlannedPush]
    /// Repeating schedules that need it after it expires, the first affected first.
    package let overruns: [Forecast.Overrun]

    /// The overruns that need attention now.
    package var pressing: [Forecast.Overrun] { overruns.filter(\.isPressing) }
  }

  /// An item whose expiry could not be determined. It must never be reported as fine.
  package struct Unreadable: Sendable, Hashable, Error {
    /// Its place in the console and the store, e.g. `hosts/12`; nil if unknown.
    package let key: String?
    package let name: String
    /// The reason and the fix, in English.
    package let reason: String
    /// The same for translation; nil if there is no translation.
    package let problem: Problem?
    package init(key: String? = nil, name: String, reason: String, problem: Problem? = nil) {
      (self.key, self.name, self.reason, self.problem) = (key, name, reason, problem)
    }

    package init(key: String, name: String, _ problem: Problem) {
      self.init(key: key, name: name, reason: problem.text, problem: problem)
    }
  }

  package let checkedAt: Date
  /// Items are reported from this many days before their expiry.
  package let withinDays: Int
  package let findings: [Finding]
  package let unreadable: [Unreadable]
  /// Credentials in use whose private key cannot be opened: their pushes fail even before expiry.
  package let closed: [Unreadable]

  /// - Parameter planned: what uses each item, by its key.
  package init(
    _ items: [TrackedExpiry], unreadable: [Unreadable] = [], closed: [Unreadable] = [],
    planned: [String: Forecast.Plan] = [:], now: Date, within days: Int = Expiry.warningDays
  ) {
    checkedAt = now
    withinDays = days
    (self.unreadable, self.closed) = (unreadable, closed)
    findings = items.map { item in
      let planned = item.key.flatMap { planned[$0] } ?? Forecast.Plan()
      return Finding(
        item: item, band: item.band(now: now, within: days), daysLeft: item.daysLeft(now: now), planned: planned,
        missed: Forecast.missed(planned.pushes, notAfter: item.notAfter),
        overruns: Forecast.overruns(planned.schedules, notAfter: item.notAfter, now: now, within: days))
    }.sorted { one, other in
      (one.item.notAfter ?? .distantFuture, one.item.name) < (other.item.notAfter ?? .distantFuture, other.item.name)
    }
  }

  /// The exit code of `check-certificates`. 2: an item has expired, has at most 7 days left, or its key cannot be
  /// opened; 3: an item could not be checked; 1: an item expires within the limit or is not yet valid; 0: all fine.
  ///
  /// The precedence is 2, 3, 1: a known expiry outweighs an unknown state, which outweighs a later expiry.
  package var exitCode: Int32 {
    let bands = Set(findings.map(\.band))
    if bands.contains(.expired) || bands.contains(.urgent) || !closed.isEmpty { return 2 }
    if !unreadable.isEmpty { return 3 }
    return bands.contains(.soon) || bands.contains(.notYetValid) ? 1 : 0
  }
}
