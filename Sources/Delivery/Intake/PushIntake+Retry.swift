package import Foundation
package import Model
package import SQLite
package import Store

extension PushIntake {
  /// The result of ``retryFailed(_:source:by:person:now:audit:)``.
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
    _ id: Int64, source: PushSource, by creator: String, person: Int64? = nil, now: Date,
    audit: (@Sendable (NewPush) -> NewAuditEntry)? = nil
  ) async throws -> Retried {
    let retried = try await store.write { database in
      try Self.retry(database, id, source, creator, person, now, audit)
    }
    if case .created(let child, _) = retried { handOver(.push(child)) }
    return retried
  }

  /// The same once, however often its request is repeated.
  ///
  /// - Parameter answer: makes the response for the request and its repeats, or throws; runs in the transaction.
  package func retryFailed(
    _ id: Int64, once idempotency: Idempotency, source: PushSource, by creator: String, person: Int64?, now: Date,
    audit: @escaping @Sendable (NewPush) -> NewAuditEntry,
    answer: @escaping @Sendable (Database, Retried) throws -> Idempotency.Answer
  ) async throws -> Idempotency.Answer {
    let (written, retried) = try await store.write { database in
      try idempotency.once(database) {
        let retried = try Self.retry(database, id, source, creator, person, now, audit)
        return (try answer(database, retried), retried)
      }
    }
    if case .created(let child, _)? = retried { handOver(.push(child)) }
    return written
  }

  private static func retry(
    _ database: Database, _ id: Int64, _ source: PushSource, _ creator: String, _ person: Int64?, _ now: Date,
    _ audit: (@Sendable (NewPush) -> NewAuditEntry)?
  ) throws -> Retried {
    let push = try Push.get(database, id: id)
    guard PushProgress(push).isFinal else { return .notOver }
    if let child = try Push.repeating(database, push: id) { return .already(child) }
    let found = try PushRepeat.find(database, push: id)
    guard found.devices > 0 else { return .nobody(found) }
    var new = NewPush(repeating: push, source: source, by: creator)
    new.approval = try approval(
      database, app: push.appID, try ProductionGuard(database, push), by: ApprovalRule.Actor(creator, person: person),
      reach: found.devices)
    return .created(try Push.create(database, new, audit: audit?(new), now: now), found)
  }
}
