import Foundation
import Push
import Store

/// What the process before left under way: as much as the store can know of it.
extension PushRun {
  /// Counts the devices that may have been sent to without an answer that was kept. If they may be sent to again, they
  /// are counted as repeats; if not (at most once, or the push is over), they are unknown.
  func takeStock() async throws {
    guard isResumed else { return }
    try await followTrail()
    if policy.repeatsUnanswered, ending == nil { try await countRepeats() } else { try await settleInterrupted() }
  }

  /// An error cut this push short in this very process: the trail says for whom it has left.
  private func followTrail() async throws {
    guard let trail, push.trail == trail.number else { return }
    let (id, left, now) = (id, trail.left(by: id), tools.clock())
    push = try await tools.store.write { database in
      try PushRecord.follow(database, id: id, left: left, now: now)
      return try PushRecord.get(database, id: id)
    }
  }

  /// From here on the trail knows for whom it leaves: before the first, and after all that is known without it.
  func beginTrail() async throws {
    let (id, number) = (id, trail?.number ?? 0)
    guard push.trail != number, ending == nil else { return }
    push = try await tools.store.write { database in
      try PushRecord.setTrail(database, id: id, number)
      return try PushRecord.get(database, id: id)
    }
  }

  /// Places in the trail for so many devices; fewer if there are no more.
  ///
  /// - Returns: nil: without one.
  func places(_ count: Int) async throws -> [Int32]? {
    guard let trail else { return nil }
    let places = trail.take(atMost: count)
    guard places.isEmpty, flights.isEmpty else { return places }
    // All of it is taken by others: this push goes on as if there were none, rather than wait for them.
    self.trail = nil
    try await beginTrail()
    return nil
  }

  private func countRepeats() async throws {
    guard let query else { return }
    let (id, window, now) = (id, tools.shares.window, tools.clock())
    push = try await tools.store.write { database in
      let push = try PushRecord.get(database, id: id)
      var repeats = PushRecord.Repeats()
      repeats = try WaitingDelivery.releaseInterrupted(database, push: id, dueAt: now)
      if push.handedOut > push.cursor {
        repeats.interrupted += try query.page(
          database, after: push.cursor, upTo: push.handedOut, limit: window, withoutDeliveriesOf: id
        ).count
      }
      if repeats.total > 0 { try PushRecord.note(database, id: id, repeats: repeats) }
      return try PushRecord.get(database, id: id)
    }
    nextDue = try await tools.store.read { try WaitingDelivery.nextDue($0, push: id) }
  }

  private func settleInterrupted() async throws {
    guard let query else { return }
    let unknown = Outcome.unknown(reason: OwnReason.interrupted.rawValue)
    let (id, size) = (id, Self.pageSize)
    while true {
      let found = try await tools.store.read { try WaitingDelivery.interrupted($0, push: id, limit: size) }
      if found.isEmpty { break }
      let now = tools.clock()
      try await record(
        found.map { item in
          var result = outcome(item.waiting, unknown, now)
          result.attempts += 1
          return result
        })
    }
    // No more than these were under way; what was foreseen behind them was not sent to.
    var left = policy.repeatsUnanswered ? tools.shares.window : Int.max
    var after = push.cursor
    while after < push.handedOut, left > 0 {
      let (from, upTo, limit) = (after, push.handedOut, min(size, left))
      let members = try await tools.store.read {
        try query.page($0, after: from, upTo: upTo, limit: limit, withoutDeliveriesOf: id)
      }
      guard let last = members.last?.id else { break }
      let now = tools.clock()
      try await record(
        members.map { DeliveryResult(deviceID: $0.id, platform: $0.platform, outcome: unknown, at: now) })
      after = last
      left -= members.count
    }
  }
}
