import Foundation
package import Model
package import Store

extension DeliveryEngine {
  /// Cancels a push: nothing more is sent. Requests in flight still get their results, devices waiting for a retry keep
  /// the result of their last attempt, and devices not reached are skipped. Those rows are written page by page after
  /// this returns, also after a restart.
  ///
  /// - Parameter actor: who withdraws it, if it needs approval.
  /// - Returns: whether the push could still be canceled.
  package func cancel(_ id: Int64, by actor: String = "") async throws -> Bool {
    let now = clock()
    let isStopped = try await store.write { database in
      try Push.cancel(database, id: id, by: actor, now: now)
    }
    guard isStopped else { return false }
    order(.cancel, push: id)
    // The push may not be running; its devices still need outcomes.
    goOn(id)
    return true
  }

  /// Pauses a push: nothing more is sent until ``resume(_:)``. Requests in flight still get their results.
  ///
  /// - Returns: whether the push was queued or sending.
  package func pause(_ id: Int64) async throws -> Bool {
    let now = clock()
    let isPaused = try await store.write { database in
      try Push.move(database, id: id, from: [.queued, .sending], to: .paused, now: now)
    }
    if isPaused { order(.pause, push: id) }
    return isPaused
  }

  /// Resumes a paused push where it stopped.
  ///
  /// - Returns: whether the push was paused.
  package func resume(_ id: Int64) async throws -> Bool {
    let now = clock()
    let goesOn = try await store.write { database in
      try Push.move(database, id: id, from: [.paused], to: .queued, now: now)
    }
    if goesOn { goOn(id) }
    return goesOn
  }

  /// The result of ``retryFailed(_:source:by:audit:)``.
  package enum Retried: Sendable, Hashable {
    /// The new push to the devices that the first one did not reach.
    case created(Push, PushRepeat)
    /// The first push is not over yet.
    case notOver
    /// There is nothing to retry: every device was reached, or would fail again for the same reason.
    case nobody(PushRepeat)
    /// An existing push already retries these devices; retry that one for what it left out.
    case already(Push)
  }

  /// Sends a push again to the devices it did not reach, as a child push; see ``PushRepeat``.
  ///
  /// - Parameters:
  ///   - source: where it was asked for.
  ///   - creator: the person or token that requested it.
  ///   - person: the person, or the token's owner; nil: none.
  ///   - audit: makes the audit entry for the new push; stored in the same transaction.
  package func retryFailed(
    _ id: Int64, source: PushSource, by creator: String, person: Int64? = nil,
    audit: (@Sendable (NewPush) -> NewAuditEntry)? = nil
  ) async throws -> Retried {
    let now = clock()
    let retried = try await store.write { database -> Retried in
      let push = try Push.get(database, id: id)
      guard PushProgress(push).isFinal else { return .notOver }
      if let child = try Push.repeating(database, push: id) { return .already(child) }
      let found = try PushRepeat.find(database, push: id)
      guard found.devices > 0 else { return .nobody(found) }
      var new = NewPush(repeating: push, source: source, by: creator)
      new.approval = try PushIntake.approval(
        database, app: push.appID, push.environment, by: ApprovalRule.Actor(creator, person: person),
        reach: found.devices)
      return .created(try Push.create(database, new, audit: audit?(new), now: now), found)
    }
    if case .created(let child, _) = retried, child.state == .queued { enqueue(child.id) }
    return retried
  }
}
