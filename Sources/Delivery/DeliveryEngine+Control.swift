import Foundation
import Model
package import Store

extension DeliveryEngine {
  /// Stops a push: nothing more goes out from now on. What is in flight still gets its result, devices that wait to be
  /// sent to again have what came of the last attempt, and those that it has not reached are skipped: their rows are
  /// written after this has returned, page by page, also over a restart.
  ///
  /// - Returns: whether it could still be stopped.
  package func cancel(_ id: Int64) async throws -> Bool {
    let now = clock()
    let isStopped = try await store.write { database in
      try Push.move(database, id: id, from: [.queued, .sending, .paused], to: .cancelled, now: now)
    }
    guard isStopped else { return false }
    order(.cancel, push: id)
    // Nobody may be at it: its devices get their outcome.
    goOn(id)
    return true
  }

  /// Lets a push rest: nothing more goes out until ``resume(_:)``. What is in flight still gets its result.
  ///
  /// - Returns: whether it was queued or under way.
  package func pause(_ id: Int64) async throws -> Bool {
    let now = clock()
    let isPaused = try await store.write { database in
      try Push.move(database, id: id, from: [.queued, .sending], to: .paused, now: now)
    }
    if isPaused { order(.pause, push: id) }
    return isPaused
  }

  /// Lets a paused push go on where it was.
  ///
  /// - Returns: whether it was paused.
  package func resume(_ id: Int64) async throws -> Bool {
    let now = clock()
    let goesOn = try await store.write { database in
      try Push.move(database, id: id, from: [.paused], to: .queued, now: now)
    }
    if goesOn { goOn(id) }
    return goesOn
  }

  /// What ``retryFailed(_:source:by:audit:)`` did.
  package enum Retried: Sendable, Hashable {
    /// The push that goes to those that the first did not reach.
    case created(Push, PushRepeat)
    /// The first push is not over yet.
    case notOver
    /// It left nobody out, or only for reasons that would be the same again.
    case nobody(PushRepeat)
    /// This push goes, or went, to those devices already; what it left out is repeated from there.
    case already(Push)
  }

  /// Sends a push again to the devices that it did not reach, as a child of it; see ``PushRepeat``.
  ///
  /// - Parameters:
  ///   - source: as `web`, `api`.
  ///   - creator: who asks for it.
  ///   - audit: the audit line, made for the new push; kept in the same transaction.
  package func retryFailed(
    _ id: Int64, source: String, by creator: String, audit: (@Sendable (NewPush) -> NewAuditEntry)? = nil
  ) async throws -> Retried {
    let now = clock()
    let retried = try await store.write { database -> Retried in
      let push = try Push.get(database, id: id)
      guard PushProgress(push).isFinal else { return .notOver }
      if let child = try Push.repeating(database, push: id) { return .already(child) }
      let found = try PushRepeat.find(database, push: id)
      guard found.devices > 0 else { return .nobody(found) }
      let new = NewPush(repeating: push, source: source, by: creator)
      return .created(try Push.create(database, new, audit: audit?(new), now: now), found)
    }
    if case .created(let child, _) = retried { enqueue(child.id) }
    return retried
  }
}
