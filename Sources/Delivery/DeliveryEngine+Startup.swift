import Foundation
import Logging
import Providers
import Model
import SQLite
import Store
import Synchronization

/// Finding what is to be carried out: what a process before left, and what nobody handed over.
extension DeliveryEngine {
  /// Takes over what a process before had under way, once, and begins to note it for the next.
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
        // The file is as it was, for the next attempt.
        state.withLock { $0.isTrailOpen = false }
        throw error
      }
    }
    trail.begin()
    state.withLock { $0.trail = trail }
    Trail.removeAbandoned()
  }

  /// Finds what a former process left unfinished.
  func takeUp(now: Date) async throws {
    var pauses = 1
    while true {
      do {
        try await openTrail()
        let (unfinished, left) = try await store.read { database in
          (try Push.unfinished(database), try WaitingDelivery.leftBehind(database))
        }
        // One for later is found when its time has come.
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
      // A second, two, four, up to half a minute.
      for _ in 0..<pauses {
        if state.withLock({ $0.isStopping }) { return }
        try await pause()
      }
      pauses = min(30, pauses * 2)
    }
  }

  func lookForDue() async {
    var failed = false
    while !Task.isCancelled {
      // It throws when cancelled, and the loop ends.
      do { try await pause() } catch { return }
      let now = clock()
      do {
        _ = leaps.total()
        for id in stoppedAndDue() { enqueue(id) }
        for id in try await store.read({ try Push.due($0, now: now) }) where isNew(id) { enqueue(id) }
        try await lookForOccurrences(now: now)
        try await routes.refresh()
        failed = false
        // Another process may have changed a push that nobody here is at.
        for id in state.withLock({ Array($0.followers.keys) }) where isNew(id) { tell(id) }
      } catch {
        if !failed, !Task.isCancelled { log.error("could not look for new pushes", ["error": "\(error)"]) }
        failed = true
      }
    }
  }

  private func isNew(_ id: Int64) -> Bool {
    state.withLock { $0.running[id] == nil && $0.stopped[id] == nil }
  }

  /// Pushes that an error stopped and that are to be tried again now. Called once a look.
  private func stoppedAndDue() -> [Int64] {
    state.withLock { state in
      for id in state.stopped.keys { state.stopped[id]?.looks -= 1 }
      return state.stopped.filter { $0.value.looks == 0 }.map(\.key)
    }
  }

  /// Longest pause before a push that an error stopped is tried again, in looks.
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
