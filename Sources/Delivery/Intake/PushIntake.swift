import Certificates
package import Foundation
import JSON
package import Model
package import SQLite
package import Store

/// The one door for a push: every form, API, command and schedule gives its draft to it.
///
/// A draft is checked and its audience counted on a reader; what is refused is refused alike at every door. Then one
/// transaction registers unknown tokens and keeps the push or the schedule, the line of the audit, and the answer that
/// a repeated request gets.
package struct PushIntake: Sendable {
  /// Where a push comes in; the raw value stands beside it in the store.
  package enum Door: String, Sendable { case web, api, cli }

  /// What is asked for, and by whom.
  package struct Order: Sendable {
    let draft: PushDraft
    let door: Door
    let creator: String
    let address: String?
    let undoSeconds: Int
    let now: Date

    /// - Parameters:
    ///   - creator: as it stands beside the push and in the audit.
    ///   - address: where the request came from; nil: this machine.
    ///   - undoSeconds: for how long the push is held back at least, so that it can be taken back.
    package init(
      _ draft: PushDraft, door: Door, by creator: String, from address: String? = nil, undoSeconds: Int = 0, now: Date
    ) {
      (self.draft, self.door, self.creator, self.address) = (draft, door, creator, address)
      (self.undoSeconds, self.now) = (max(undoSeconds, draft.options.undoSeconds), now)
    }
  }

  /// What an order became.
  package enum Kept: Sendable {
    case push(Push)
    /// The draft repeats: the schedule makes its pushes when their time comes.
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
  ///   - patience: how long counting an audience may take; nil: as long as it takes. What takes longer is not refused.
  ///   - deliver: hears of each push that was kept, by its row id.
  package init(
    store: Store, patience: Duration? = .seconds(10), deliver: @escaping @Sendable (Int64) -> Void = { _ in }
  ) {
    (self.store, self.patience, self.deliver) = (store, patience, deliver)
  }

  /// Takes an order that nobody repeats.
  ///
  /// - Throws: ``NoApp``; `Problems` with everything that speaks against the push.
  package func take(_ order: Order) async throws -> (kept: Kept, check: PushCheck) {
    let check = try await accept(order)
    let kept = try await store.write { try keep($0, order, check) }
    handOver(kept)
    return (kept, check)
  }

  /// Takes an order once, however often it comes.
  ///
  /// - Parameters:
  ///   - confirm: the last word of the caller, who may throw; not asked about a repeated request.
  ///   - answer: what the request and its repeats are answered; runs in the transaction.
  /// - Throws: ``NoApp``; `Problems` with everything that speaks against the push; `Idempotency.Mismatch`.
  package func take(
    _ order: Order, once idempotency: Idempotency, confirm: @Sendable (PushCheck) throws -> Void = { _ in },
    answer: @escaping @Sendable (Database, Kept) throws -> Idempotency.Answer
  ) async throws -> Idempotency.Answer {
    if let known = try await store.read({ try idempotency.known($0) }) { return known }
    let check = try await accept(order)
    try confirm(check)
    let (written, kept) = try await store.write { database in
      // Again: the same request may have come twice at once.
      try idempotency.once(database) {
        let kept = try keep(database, order, check)
        return (try answer(database, kept), kept)
      }
    }
    if let kept { handOver(kept) }
    return written
  }

  /// Answers a dry run that keeps no push; its key is used up like any other's.
  ///
  /// - Throws: as ``take(_:once:confirm:answer:)``.
  package func preview(
    _ order: Order, once idempotency: Idempotency, answer: @Sendable (PushCheck) throws -> Idempotency.Answer
  ) async throws -> Idempotency.Answer {
    if let known = try await store.read({ try idempotency.known($0) }) { return known }
    let written = try answer(try await accept(order))
    guard idempotency.key != nil else { return written }
    return try await store.write { database in try idempotency.once(database) { (written, ()) }.answer }
  }

  private func accept(_ order: Order) async throws -> PushCheck {
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
    try Device.registerUnknown(database, of: draft, app: app.id, by: order.creator, now: now)
    if draft.recurrence != nil, !draft.options.dryRun {
      let new = NewSchedule(draft, app: app, source: order.door.rawValue, by: order.creator)
      return .schedule(try Schedule.create(database, new, audit: audit("schedule", new.uid), now: now))
    }
    var new = NewPush(draft, app: app, source: order.door.rawValue, by: order.creator)
    if order.undoSeconds > 0 { new.holdUntil = now.addingTimeInterval(TimeInterval(order.undoSeconds)) }
    return .push(try Push.create(database, new, audit: audit("push", new.uid), now: now))
  }

  private func handOver(_ kept: Kept) {
    if case .push(let push) = kept { deliver(push.id) }
  }
}

extension PushIntake {
  /// Carries a schedule on whose time has come; see `Schedule.carryOn`.
  ///
  /// What speaks against the push by now (a certificate that may no longer send it) is its end: nothing is sent, and
  /// the run says why.
  ///
  /// - Returns: the push of the run that is due; nil: none is, or it is too late for it.
  package func carryOn(schedule id: Int64, now: Date) async throws -> Push? {
    let problems = try await store.read { database -> [Problem] in
      guard let schedule = try Schedule.find(database, id: id), var draft = schedule.draft else { return [] }
      (draft.recurrence, draft.sendAt) = (nil, nil)
      let credential = try CredentialScope.find(database, app: schedule.appID, environment: draft.environment)
      let context = Lint.Context(try App.get(database, id: schedule.appID), credential: credential, now: now)
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
