import Foundation
package import Model
import SQLite
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
    let isStopped = try await store.write { database in try Push.cancel(database, id: id, by: actor, now: now) }
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

  /// Approves or rejects a push or schedule that waits for a second person; an approved push goes on as one that was
  /// just sent. The push is safe once this returns: a server that starts later takes it up.
  ///
  /// - Throws: `Problems` with one `ApprovalMessage`.
  package func decide(
    _ subject: Approval.Subject, isApproved: Bool, by decider: ApprovalRule.Actor, remark: String?,
    from address: String?
  ) async throws {
    let now = clock()
    try await store.write { database in
      try Approval.decide(
        database, subject, isApproved: isApproved, by: decider, remark: remark, from: address, now: now)
    }
    if case .push(let id) = subject { goOn(id) }
  }
}
