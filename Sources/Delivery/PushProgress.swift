package import Foundation
package import Providers
package import Model
package import SQLite
package import Store

/// How far a push is.
package struct PushProgress: Sendable, Hashable {
  /// Where it is in its life.
  package var state: PushState
  /// How many devices it is for; nil: not counted yet.
  package var target: Int?
  /// Devices by outcome.
  package var counts: OutcomeCounts
  /// Devices that are to be sent to again; they have no outcome yet.
  package var waiting = 0
  /// When the first of them is due.
  package var nextDue: Date?
  /// Whether it is over, and devices that it did not come to are still given their outcome.
  package var isSettling = false
  /// How many devices may have been sent to twice.
  package var repeats = Push.Repeats()
  /// Why nothing goes out at present: the service cannot be reached, in words.
  package var trouble: String?
  /// What is held back for the sake of the credential, while the push is under way.
  package var health = ProviderHealth()
  /// Outcomes a second, over the last seconds.
  package var rate: Double = 0
  package init(state: PushState, target: Int?, counts: OutcomeCounts) {
    self.state = state
    self.target = target
    self.counts = counts
  }

  /// What the store says.
  ///
  /// - Parameter nextDue: when the first waiting device is due.
  package init(_ push: Push, nextDue: Date? = nil) {
    self.init(state: push.state, target: push.target, counts: push.counts)
    waiting = push.waiting
    isSettling = push.isSettling
    repeats = push.repeats
    self.nextDue = nextDue
  }

  init(_ row: RunRow, nextDue: Date?) {
    self.init(state: row.state, target: row.target, counts: row.counts)
    waiting = row.waiting
    isSettling = row.isSettling
    repeats = row.repeats
    self.nextDue = nextDue
  }

  /// What the store says of a push.
  package static func find(_ database: Database, push: Int64) throws -> PushProgress {
    PushProgress(
      try Push.get(database, id: push), nextDue: try WaitingDelivery.nextDue(database, push: push))
  }

  /// Whether nothing more will happen: it is over, and everybody has an outcome.
  package var isFinal: Bool { state.isOver && waiting == 0 && !isSettling }

  /// At the present rate, nil if that cannot be said.
  package var secondsLeft: Int? {
    guard let target, rate > 0, !isFinal else { return nil }
    return Int((Double(max(0, target - counts.total - waiting)) / rate).rounded(.up))
  }
}
