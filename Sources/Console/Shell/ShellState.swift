import Foundation
import Reminders
import Store

/// What the navigation of every page says of the installation.
struct ShellState: Sendable {
  var openIncidents = 0
  /// When certificates were last checked, by the server or by cron, or by the one that is late; nil: never.
  var lastCheck: Date?
  /// Whether one of them has not checked for long. One that never did is not expected.
  var isCheckLate = false

  /// From memory while nothing changes, because every page asks.
  static func find(_ store: Store, now: Date) async throws -> ShellState {
    // The end of a snooze, and a check that is late, are no changes.
    let minute = Int(now.timeIntervalSince1970 / 60)
    return try await store.read(keptAs: "shell \(minute)", bytes: { _ in 32 }) { database in
      let runs = try CheckRun.all(database)
      let late = Watchman.late(runs, now: now).map(\.at).min()
      return ShellState(
        openIncidents: try Incident.counts(database, now: now).open, lastCheck: late ?? runs.map(\.at).max(),
        isCheckLate: late != nil)
    }
  }
}
