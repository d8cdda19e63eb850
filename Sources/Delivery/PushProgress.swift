package import Foundation
package import Providers
package import Model
package import SQLite
package import Store

package struct PushProgress: Sendable, Hashable {
  package var state: PushState
  /// How many devices the push is for; nil until they are counted.
  package var target: Int?
  package var counts: OutcomeCounts
  /// Devices waiting for a retry; they have no outcome yet.
  package var waiting = 0
  /// When the first retry is due.
  package var nextDue: Date?
  /// Which of the waiting devices are not retried.
  package var outlook = WaitingDelivery.Outlook()
  /// Whether the push is over but devices it did not reach are still getting their outcome.
  package var isSettling = false
  /// How many devices may have received the push twice.
  package var repeats = Push.Repeats()
  /// Why nothing is being sent, as a text: the push service is unreachable.
  package var trouble: String?
  /// What is held back because of the credential while the push is active.
  package var health = ProviderHealth()
  /// Outcomes per second over the last few seconds.
  package var rate: Double = 0
  package init(state: PushState, target: Int?, counts: OutcomeCounts) {
    (self.state, self.target, self.counts) = (state, target, counts)
  }

  /// Progress as stored.
  ///
  /// - Parameter nextDue: when the first retry is due.
  package init(_ push: Push, nextDue: Date? = nil) { self.init(RunRow(push), nextDue: nextDue) }

  init(_ row: RunRow, nextDue: Date?) {
    self.init(state: row.state, target: row.target, counts: row.counts)
    waiting = row.waiting
    isSettling = row.isSettling
    repeats = row.repeats
    self.nextDue = nextDue
  }

  /// Reads a push's progress from the store.
  package static func find(_ database: Database, push: Int64) throws -> PushProgress {
    try PushProgress(
      try Push.get(database, id: push), nextDue: try WaitingDelivery.nextDue(database, push: push)
    ).foreseen(database, push: push)
  }

  /// The same, without promising a retry to devices that are no longer active.
  package func foreseen(_ database: Database, push: Int64) throws -> PushProgress {
    guard waiting > 0 else { return self }
    var progress = self
    progress.outlook = try WaitingDelivery.outlook(database, push: push)
    if !progress.outlook.inactive.isEmpty {
      progress.nextDue = progress.outlook.nextDue ?? (progress.outlook.isPartial ? nextDue : nil)
    }
    return progress
  }

  /// Whether nothing more will happen: the push is over and every device has an outcome.
  package var isFinal: Bool { state.isOver && waiting == 0 && !isSettling }

  /// At the current rate; nil if unknown.
  package var secondsLeft: Int? {
    guard let target, rate > 0, !isFinal else { return nil }
    return Int((Double(max(0, target - counts.total - waiting)) / rate).rounded(.up))
  }
}
