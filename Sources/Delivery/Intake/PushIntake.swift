import Certificates
package import Foundation
import JSON
package import Model
package import SQLite
package import Store

/// The single entry point for pushes: every form, API call, command and schedule goes through it.
///
/// A draft is checked and its audience counted on a reader, with the same rules for every caller. One transaction then
/// registers unknown tokens and stores the push or schedule, the audit entry, and the response for repeated requests.
package struct PushIntake: Sendable {
  /// A request for a push, with its creator.
  package struct Order: Sendable {
    package let draft: PushDraft
    let source: PushSource
    let creator: String
    let person: Int64?
    let address: String?
    let undoSeconds: Int
    let now: Date

    /// - Parameters:
    ///   - creator: as stored with the push and in the audit log.
    ///   - person: the person, or the token's owner; nil: the command line, an app's key, a token of nobody.
    ///   - address: the client's address; nil for this machine.
    ///   - undoSeconds: the minimum time the push is held so that it can be undone.
    package init(
      _ draft: PushDraft, source: PushSource, by creator: String, person: Int64? = nil, from address: String? = nil,
      undoSeconds: Int = 0, now: Date
    ) {
      (self.draft, self.source, self.creator, self.person, self.address) = (draft, source, creator, person, address)
      (self.undoSeconds, self.now) = (max(undoSeconds, draft.options.undoSeconds), now)
    }
  }

  /// The stored result of an order.
  package enum Kept: Sendable {
    case push(Push)
    /// The draft repeats; the schedule creates its pushes when they are due.
    case schedule(Schedule)
  }

  /// The draft names an app that does not exist.
  package struct NoApp: Error {
    package let bundleID: String
    package var problem: Problem { Problem("app", DraftMessage.noApp, ["app": bundleID]) }
  }

  let store: Store
  private let patience: Duration?
  private let deliver: @Sendable (Int64) -> Void

  /// - Parameters:
  ///   - patience: the time limit for counting an audience; nil for none. A push is not refused for exceeding it.
  ///   - deliver: called with the row ID of each stored push.
  package init(
    store: Store, patience: Duration? = .seconds(10), deliver: @escaping @Sendable (Int64) -> Void = { _ in }
  ) {
    (self.store, self.patience, self.deliver) = (store, patience, deliver)
  }

  /// Stores an order without protection against repeated requests.
  ///
  /// - Throws: ``NoApp``; `Problems` with every error in the push.
  package func take(_ order: Order) async throws -> Kept { try await take(order, accepted: accept(order)) }

  /// The same for a caller that has had it checked by ``accept(_:)``, to tell what was found.
  package func take(_ order: Order, accepted check: PushCheck) async throws -> Kept {
    let kept = try await store.write { try keep($0, order, check) }
    handOver(kept)
    return kept
  }

  /// Stores an order once, however often its request is repeated.
  ///
  /// - Parameters:
  ///   - confirm: may throw to reject the push; not called for a repeated request.
  ///   - answer: makes the response for the request and its repeats; runs in the transaction.
  /// - Throws: ``NoApp``; `Problems` with every error in the push; `Idempotency.Mismatch`.
  package func take(
    _ order: Order, once idempotency: Idempotency, confirm: @Sendable (PushCheck) throws -> Void = { _ in },
    answer: @escaping @Sendable (Database, Kept, PushCheck) throws -> Idempotency.Answer
  ) async throws -> Idempotency.Answer {
    if let known = try await store.read({ try idempotency.known($0) }) { return known }
    let check = try await accept(order)
    try confirm(check)
    let (written, kept) = try await store.write { database in
      // Checks again: the same request may have arrived twice at once.
      try idempotency.once(database) {
        let kept = try keep(database, order, check)
        return (try answer(database, kept, check), kept)
      }
    }
    if let kept { handOver(kept) }
    return written
  }

  /// Answers a dry run without storing a push; `answer` may ask the push services. Its idempotency key is still used up.
  ///
  /// - Throws: see ``take(_:once:confirm:answer:)``.
  package func preview(
    _ order: Order, once idempotency: Idempotency, answer: @Sendable (PushCheck) async throws -> Idempotency.Answer
  ) async throws -> Idempotency.Answer {
    if let known = try await store.read({ try idempotency.known($0) }) { return known }
    let written = try await answer(try await accept(order))
    guard idempotency.key != nil else { return written }
    return try await store.write { database in try idempotency.answer(database) { written } }
  }

  /// Replaces what a schedule sends, and when, after the same checks as for a new one.
  ///
  /// - Parameter also: runs in the transaction, with the changed schedule.
  /// - Returns: false if the schedule has ended; nothing is changed then.
  /// - Throws: ``NoApp``; `Problems` with every error in the push.
  package func replace(
    schedule: Schedule, with order: Order, also: @escaping @Sendable (Database, Schedule) throws -> Void
  ) async throws -> Bool {
    let check = try await accept(order)
    return try await store.write { database in
      var new = NewSchedule(order.draft, app: check.app, source: order.source, by: order.creator)
      new.approval = try approval(database, order, check)
      guard try Schedule.replace(database, id: schedule.id, with: new, now: order.now) else { return false }
      try AuditEntry.add(
        database, by: order.creator, "schedule.update", "schedule \(schedule.uid)",
        ["app": .string(check.app.bundleID)], from: order.address, now: order.now)
      try also(database, try Schedule.get(database, id: schedule.id))
      return true
    }
  }

  /// Checks an order.
  ///
  /// - Throws: ``NoApp``; `Problems` with every error in the push.
  package func accept(_ order: Order) async throws -> PushCheck {
    let check = try await check(order.draft, now: order.now, within: patience)
    guard check.problems.isEmpty else { throw Problems(check.problems) }
    return check
  }

  private func keep(_ database: Database, _ order: Order, _ check: PushCheck) throws -> Kept {
    let (draft, app, now) = (order.draft, check.app, order.now)
    func audit(_ noun: String, _ uid: String) -> NewAuditEntry {
      NewAuditEntry(
        actor: order.creator, action: "\(noun).create", subject: "\(noun) \(uid)",
        detail: ["app": .string(app.bundleID)], address: order.address)
    }
    let approval = try approval(database, order, check)
    try Device.registerUnknown(database, of: draft, app: app.id, by: order.creator, now: now)
    if draft.recurrence != nil, !draft.options.dryRun {
      var new = NewSchedule(draft, app: app, source: order.source, by: order.creator)
      new.approval = approval
      return .schedule(try Schedule.create(database, new, audit: audit("schedule", new.uid), now: now))
    }
    var new = NewPush(draft, app: app, source: order.source, by: order.creator)
    new.approval = approval
    // With an approval, the undo window begins then.
    if order.undoSeconds > 0, approval == nil {
      new.holdUntil = now.addingTimeInterval(TimeInterval(order.undoSeconds))
    }
    return .push(try Push.create(database, new, audit: audit("push", new.uid), now: now))
  }

  /// - Throws: see ``approval(_:app:_:by:reach:undoSeconds:from:)``. A dry run sends nothing, and needs nothing.
  private func approval(_ database: Database, _ order: Order, _ check: PushCheck) throws -> NewApproval? {
    guard !order.draft.options.dryRun else { return nil }
    return try Self.approval(
      database, app: check.app.id, try ProductionGuard(database, app: check.app.id, order.draft),
      by: ApprovalRule.Actor(order.creator, person: order.person), reach: check.reachable,
      undoSeconds: order.undoSeconds, from: order.address)
  }

  /// What a push of an app has to wait for; nil: nothing.
  ///
  /// - Parameter production: as it is in this transaction: a credential may have changed since the check.
  /// - Throws: `Problems` if the person may not send to production.
  static func approval(
    _ database: Database, app: Int64, _ production: ProductionGuard, by asker: ApprovalRule.Actor, reach: Int?,
    undoSeconds: Int = 0, from address: String? = nil
  ) throws -> NewApproval? {
    guard production.environment == .production else { return nil }
    guard try Approval.maySend(database, person: asker.person) else {
      throw Problems([Problem("environment", ApprovalMessage.notPermitted)])
    }
    // Read in the transaction that stores the push: the setting may have changed since the check.
    guard try App.get(database, id: app).needsApproval else { return nil }
    return NewApproval(asker: asker, reach: reach, undoSeconds: undoSeconds, from: address)
  }

  func handOver(_ kept: Kept) {
    if case .push(let push) = kept, push.state == .queued { deliver(push.id) }
  }
}

extension PushIntake {
  /// Carries out a schedule's due run; see `Schedule.carryOn`.
  ///
  /// If the push now has errors (for example, the certificate may no longer send it), it is stored as failed with the
  /// reason and nothing is sent.
  ///
  /// - Returns: the push of the due run; nil if no run is due or the run was missed.
  package func carryOn(schedule id: Int64, now: Date) async throws -> Push? {
    let problems = try await store.read { database -> [Problem] in
      guard let schedule = try Schedule.find(database, id: id), var draft = schedule.draft else { return [] }
      (draft.recurrence, draft.sendAt) = (nil, nil)
      let app = try App.get(database, id: schedule.appID)
      let context = try Lint.Context(database, app, draft, now: now)
      return Lint.findings(in: draft, context).filter { $0.severity == .error }.map(\.problem)
    }
    let push = try await store.write { database -> Push? in
      let push = try Schedule.carryOn(database, id: id, now: now) { schedule, draft, _ in NewPush(draft, of: schedule) }
      guard let push, !problems.isEmpty else { return push }
      let error = problems.map(\.text).joined(separator: " ")
      _ = try Push.move(database, id: push.id, from: [.queued], to: .failed, error: error, now: now)
      return try Push.get(database, id: push.id)
    }
    if let push, push.state == .queued { deliver(push.id) }
    return push
  }
}
