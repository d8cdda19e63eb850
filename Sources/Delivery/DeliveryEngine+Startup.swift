import Foundation
import Logging
import Providers
import Model
import SQLite
import Store
import Synchronization

/// Finds the pushes to send: those an earlier process left unfinished, and those no one handed over.
extension DeliveryEngine {
  /// Reads once what an earlier process had in flight, then starts recording for the next.
  func openTrail() async throws {
    let isFirst = state.withLock { state in
      defer { state.isTrailOpen = true }
      return !state.isTrailOpen
    }
    guard isFirst, let trail = Trail(database: store.pool.path) else { return }
    let now = clock()
    if let before = trail.before() {
      do {
        try await store.write { database in
          for id in try Push.ofTrail(database, before.number) {
            try Push.follow(database, id: id, left: before.left[id] ?? [], now: now)
          }
        }
      } catch {
        // The file is unchanged, so the next attempt can read it.
        state.withLock { $0.isTrailOpen = false }
        throw error
      }
    }
    trail.begin()
    state.withLock { $0.trail = trail }
    Trail.removeAbandoned()
  }

  /// Enqueues the pushes that an earlier process left unfinished.
  func takeUp(now: Date) async throws {
    var pauses = 1
    while true {
      do {
        try await openTrail()
        let (unfinished, left) = try await store.read { database in
          (try Push.unfinished(database), try WaitingDelivery.leftBehind(database))
        }
        // A scheduled push is found when its time comes.
        for push in unfinished where push.waits(now: now) == nil {
          log.notice("resumed push", ["push.id": push.uid])
          enqueue(push.id)
        }
        for id in left { enqueue(id) }
        state.withLock { $0.trouble = nil }
        return
      } catch {
        log.error("delivery cannot start because the store cannot be read; retrying", ["error": "\(error)"])
        state.withLock { $0.trouble = "The store cannot be read: \(error)" }
      }
      // Waits 1, 2, 4, … up to 30 seconds.
      for _ in 0..<pauses {
        if state.withLock({ $0.isStopping }) { return }
        try await pause()
      }
      pauses = min(30, pauses * 2)
    }
  }

  /// Recalculates the next runs after a change of the time zone rules. If the store cannot be written, the stored times
  /// stay: delivery must not wait for it.
  func renewSchedules(now: Date) async {
    do {
      try await store.write { try Schedule.renew($0, now: now) }
    } catch {
      log.error("could not check the schedules' next runs", ["error": "\(error)"])
    }
  }

  func lookForDue() async {
    var failed = false
    var seen: DatabasePool.ChangeMark?
    while !Task.isCancelled {
      // `pause` throws when cancelled, which ends the loop.
      do { try await pause() } catch { return }
      let now = clock()
      do {
        _ = leaps.total()
        for id in stoppedAndDue() { enqueue(id) }
        try await routes.refresh()
        // Another process may have changed a push that is not active here.
        let mark = store.changeMark
        if mark == nil || mark != seen {
          for id in state.withLock({ Array($0.followers.keys) }) where isNew(id) { tell(id) }
        }
        seen = mark
        let isQuiet = try await store.isQuiet("delivery", now: now) { try QuietTime.find($0) }
        if !isQuiet {
          for id in try await store.read({ try Push.due($0, now: now) }) where isNew(id) { enqueue(id) }
          try await lookForExpiredApprovals(now: now)
          // Last: a schedule that cannot be carried out fails each time.
          try await lookForOccurrences(now: now)
        }
        failed = false
      } catch {
        if !failed, !Task.isCancelled { log.error("could not look for new pushes", ["error": "\(error)"]) }
        failed = true
      }
    }
  }

  /// Ends what nobody approved in time.
  func lookForExpiredApprovals(now: Date) async throws {
    for approval in try await store.read({ try Approval.overdue($0, now: now) }) {
      guard try await store.write({ try approval.expire($0, now: now) }) else { continue }
      log.notice("ended requests that nobody approved in time", ["approval": approval.id])
      if case .push(let id) = approval.subject { tell(id) }
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

  private func isNew(_ id: Int64) -> Bool { state.withLock { $0.running[id] == nil && $0.stopped[id] == nil } }

  /// Pushes that an error stopped and whose retry is due. Call once per poll.
  private func stoppedAndDue() -> [Int64] {
    state.withLock { state in
      for id in state.stopped.keys { state.stopped[id]?.looks -= 1 }
      return state.stopped.filter { $0.value.looks == 0 }.map(\.key)
    }
  }

  /// The longest wait before retrying a push that an error stopped, in polls of one second.
  private static var longestStop: Int { 300 }

  func stop(_ id: Int64, _ error: any Error) {
    log.error("push stopped by an error; retrying", ["push": id, "error": "\(error)"])
    state.withLock { state in
      var stopped = Stopped(reason: "\(error)", times: (state.stopped[id]?.times ?? 0) + 1)
      stopped.looks = min(Self.longestStop, 1 << min(stopped.times - 1, 16))
      state.stopped[id] = stopped
    }
  }
}
