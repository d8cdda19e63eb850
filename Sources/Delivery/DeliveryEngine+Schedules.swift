import Foundation
import Logging
import Store

extension DeliveryEngine {
  /// Lets the next times follow newer rules for the clocks. If the store cannot be written to at present, what was kept
  /// holds: delivery must not wait for it.
  func renewSchedules(now: Date) async {
    do {
      try await store.write { try Schedule.renew($0, now: now) }
    } catch {
      log.error("could not check the schedules' next runs", ["error": "\(error)"])
    }
  }

  /// Makes the pushes of the schedules whose time has come, each in a transaction of its own, and begins them.
  func lookForOccurrences(now: Date) async throws {
    let intake = PushIntake(store: store, deliver: enqueue)
    for id in try await store.read({ try Schedule.due($0, now: now) }) {
      let push = try await intake.carryOn(schedule: id, now: now)
      guard let push else { continue }
      log.info("created the push of a schedule", ["schedule": id, "push.id": push.uid])
    }
  }
}
