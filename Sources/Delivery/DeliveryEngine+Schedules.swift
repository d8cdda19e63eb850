import Foundation
import Logging
import Store

extension DeliveryEngine {
  /// Recalculates the next runs after a change of the time zone rules. If the store cannot be written, the stored times
  /// stay: delivery must not wait for it.
  func renewSchedules(now: Date) async {
    do {
      try await store.write { try Schedule.renew($0, now: now) }
    } catch {
      log.error("could not check the schedules' next runs", ["error": "\(error)"])
    }
  }

  /// Creates the pushes of due schedules, each in its own transaction, and starts them.
  ///
  /// - Throws: the first error, after every schedule had its turn.
  func lookForOccurrences(now: Date) async throws {
    let intake = PushIntake(store: store, deliver: enqueue)
    var failure: (any Error)?
    for id in try await store.read({ try Schedule.due($0, now: now) }) {
      do {
        guard let push = try await intake.carryOn(schedule: id, now: now) else { continue }
        log.info("created the push of a schedule", ["schedule": id, "push.id": push.uid])
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}
