package import Foundation
import JSON
package import Model
package import SQLite

/// A push or a schedule to production that needs, or needed, a second person's approval.
package struct Approval: Sendable, Hashable, Identifiable {
  package enum Subject: Sendable, Hashable {
    /// By row ID.
    case push(Int64), schedule(Int64)

    /// The subject's noun in the activity log and in events.
    package var noun: String { if case .push = self { "push" } else { "schedule" } }
  }

  package enum Decision: String, Sendable, CaseIterable {
    case approved, rejected
    /// By whoever may cancel it, or by a change of the schedule.
    case withdrawn
    /// Nobody decided in time.
    case expired
  }

  /// Seconds until it expires.
  package static let lifetime: TimeInterval = 24 * 3600
  /// The longest remark, in characters.
  package static let remarkLimit = 500

  package let id: Int64
  package let subject: Subject
  package let asker: ApprovalRule.Actor
  package let askedAt: Date
  package let expiresAt: Date
  /// The number of devices when it was asked for; nil: not counted.
  package let reach: Int?
  /// The undo window, which begins with the approval.
  package let undoSeconds: Int
  /// Nil: open.
  package let decision: Decision?
  /// Nil: open or expired.
  package let decidedBy: String?
  package let decidedAt: Date?
  package let remark: String?
  /// Whether it was paused before it waited, and is paused again once it is approved.
  package let isPaused: Bool
  /// The rules of the segments that it names, as they were when it was asked for. Anything else is not approved.
  let rules: [String: JSONValue]

  private static let columns = """
    v.id, v.push_id, v.schedule_id, v.asked_by, v.asked_person, v.asked_at, v.expires_at, v.reach, v.undo_seconds,
    v.decision, v.decided_by, v.decided_at, v.remark, v.is_paused, v.rules
    """

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    subject = row.optionalInt64(1).map(Subject.push) ?? .schedule(row.int64(2))
    asker = ApprovalRule.Actor(row.text(3), person: row.optionalInt64(4))
    (askedAt, expiresAt) = (row.date(5), row.date(6))
    (reach, undoSeconds) = (row.optionalInt(7), row.int(8))
    decision = try row.optionalText(9).map { text in
      guard let decision = Decision(rawValue: text) else {
        throw StoreError.unreadable(column: "approvals.decision", value: text)
      }
      return decision
    }
    (decidedBy, decidedAt, remark) = (row.optionalText(10), row.optionalDate(11), row.optionalText(12))
    isPaused = row.int(13) != 0
    rules = try storedRules(row.optionalText(14))
  }

  // MARK: Reading

  /// The last one of a push or a schedule; nil: it needed none.
  package static func find(_ database: Database, _ subject: Subject) throws -> Approval? {
    let (column, id) =
      switch subject {
      case .push(let id): ("push_id", id)
      case .schedule(let id): ("schedule_id", id)
      }
    return try database.fetchOne(
      "SELECT \(columns) FROM approvals v WHERE v.\(column) = ? ORDER BY v.id DESC LIMIT 1", id
    ) { try Approval($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> Approval? {
    try database.fetchOne("SELECT \(columns) FROM approvals v WHERE v.id = ?", id) { try Approval($0) }
  }

  /// What waits, the first asked first.
  package static func open(_ database: Database, limit: Int) throws -> [Approval] {
    try database.fetchAll(
      "SELECT \(columns) FROM approvals v INDEXED BY approvals_open WHERE v.decision IS NULL ORDER BY v.expires_at LIMIT ?",
      limit
    ) { try Approval($0) }
  }

  /// What has waited too long. Fast for any number of past approvals.
  package static func overdue(_ database: Database, now: Date) throws -> [Approval] {
    try database.fetchAll(
      "SELECT \(columns) FROM approvals v INDEXED BY approvals_open WHERE v.decision IS NULL AND v.expires_at <= ?", now
    ) { try Approval($0) }
  }

  /// Whether a person, or a token of the person, may send to production. Without a person, the token's scope or the
  /// key decides.
  package static func maySend(_ database: Database, person: Int64?) throws -> Bool {
    guard let person else { return true }
    return try User.find(database, id: person)?.sendsToProduction ?? false
  }

  /// Why somebody may not decide; nil: the person may.
  package func refusal(_ database: Database, of decider: ApprovalRule.Actor) throws -> ApprovalMessage? {
    ApprovalRule.refusal(
      of: decider, askedBy: asker, maySend: try Self.maySend(database, person: decider.person))
  }

  /// The people who may decide.
  package func deciders(_ database: Database) throws -> [User] {
    try User.approvers(database).filter {
      let actor = ApprovalRule.Actor($0.name, person: $0.id)
      return ApprovalRule.refusal(of: actor, askedBy: asker, maySend: $0.sendsToProduction) == nil
    }
  }

  // MARK: Changing

  /// Begins to wait, with an entry of the activity log and an event.
  ///
  /// - Parameter isPaused: whether it was paused until now.
  static func ask(
    _ database: Database, _ subject: Subject, _ new: NewApproval, isPaused: Bool = false, now: Date
  ) throws {
    let (push, schedule): (Int64?, Int64?) =
      switch subject {
      case .push(let id): (id, nil)
      case .schedule(let id): (nil, id)
      }
    try database.run(
      """
      INSERT INTO approvals(push_id, schedule_id, asked_by, asked_person, asked_at, expires_at, reach, undo_seconds,
        is_paused, rules)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, push, schedule, new.asker.name, new.asker.person, now, now.addingTimeInterval(lifetime), new.reach,
      new.undoSeconds, isPaused, try rules(database, subject)?.text())
    guard let approval = try find(database, subject) else { return }
    try approval.note(database, "ask_approval", by: new.asker.name, from: new.address, now: now)
    try Webhook.tell(database, of: approval, now: now)
    try ReminderMessage.add(database, of: approval, now: now)
  }

  /// The rules of the segments that a push or schedule goes to, by name; nil: it names none.
  private static func rules(_ database: Database, _ subject: Subject) throws -> JSONValue? {
    let (app, draft) =
      switch subject {
      case .push(let id): try { ($0.appID, $0.draftJSON) }(Push.get(database, id: id))
      case .schedule(let id): try { ($0.appID, $0.draftJSON) }(Schedule.get(database, id: id))
      }
    // Most name none, and are not read.
    guard draft.contains("segment"), let json = try? JSONValue(parsing: Data(draft.utf8)),
      let audience = Audience(draft: json), case .rule(let rule) = audience, !rule.segment.isEmpty
    else { return nil }
    let used = try UsedSegment.current(database, audience, app: app, now: .distantPast)
    return .object(Dictionary(used.map { ($0.name, $0.rule?.json ?? .null) }) { one, _ in one })
  }

  /// Whether it was given, or is to be, for this rule of a segment.
  func isFor(_ rule: SegmentRule, of segment: String) -> Bool { rules[segment] == rule.json }

  /// Approves or rejects. The state, the record and the activity log change together: of two people who decide at the
  /// same time, one wins.
  ///
  /// - Parameter isApproved: false: rejects it, which ends the push or schedule.
  /// - Throws: `Problems` with one ``ApprovalMessage``.
  package static func decide(
    _ database: Database, _ subject: Subject, isApproved: Bool, by decider: ApprovalRule.Actor, remark: String? = nil,
    from address: String? = nil, now: Date
  ) throws {
    try database.transaction {
      guard let approval = try find(database, subject) else { throw Problems([Problem("", ApprovalMessage.none)]) }
      try approval.checkOpen(now: now)
      if let refusal = try approval.refusal(database, of: decider) { throw Problems([Problem("", refusal)]) }
      let decision = isApproved ? Decision.approved : .rejected
      try approval.close(database, decision, by: decider.name, remark: remark, now: now)
      let said = remark.map { "\(decider.name) rejected it: \($0)" } ?? "\(decider.name) rejected it."
      let isMoved = try isApproved ? approval.release(database, now: now) : approval.end(database, said, now: now)
      guard isMoved else { throw Problems([Problem("", ApprovalMessage.none)]) }
      try approval.note(
        database, isApproved ? "approve" : "reject", by: decider.name, remark: remark, from: address, now: now)
    }
  }

  /// Closes an open approval whose push or schedule was canceled or changed.
  ///
  /// - Returns: whether what waited was paused before.
  @discardableResult
  static func withdraw(_ database: Database, _ subject: Subject, by actor: String, now: Date) throws -> Bool {
    guard let approval = try find(database, subject), approval.decision == nil else { return false }
    try approval.close(database, .withdrawn, by: actor, remark: nil, now: now)
    return approval.isPaused
  }

  /// Sets whether what waits is paused once it is approved.
  package static func keep(_ database: Database, _ subject: Subject, isPaused: Bool) throws {
    guard let approval = try find(database, subject), approval.decision == nil else { return }
    try database.run("UPDATE approvals SET is_paused = ? WHERE id = ?", isPaused, approval.id)
  }

  /// Ends what nobody decided in time.
  ///
  /// - Returns: whether it was still open.
  package func expire(_ database: Database, now: Date) throws -> Bool {
    try database.transaction {
      guard try Self.find(database, subject)?.decision == nil else { return false }
      try close(database, .expired, by: nil, remark: nil, now: now)
      let hours = Int(Self.lifetime / 3600)
      guard try end(database, "Nobody approved it within \(hours) hours: nothing was sent.", now: now) else {
        return false
      }
      try note(database, "approval_expired", by: "signalbox", now: now)
      return true
    }
  }

  private func checkOpen(now: Date) throws {
    if let decision, decision != .expired {
      throw Problems([
        Problem("", ApprovalMessage.decided, ["name": decidedBy ?? "", "decision": decision.rawValue])
      ])
    }
    // Also in the second before the expiry is noticed.
    guard decision == nil, now < expiresAt else {
      throw Problems([Problem("", ApprovalMessage.expired, ["hours": "\(Int(Self.lifetime / 3600))"])])
    }
  }

  private func close(
    _ database: Database, _ decision: Decision, by actor: String?, remark: String?, now: Date
  ) throws {
    try database.run(
      "UPDATE approvals SET decision = ?, decided_by = ?, decided_at = ?, remark = ? WHERE id = ? AND decision IS NULL",
      decision.rawValue, actor, now, remark, id)
    if let closed = try Self.find(database, subject) { try Webhook.tell(database, of: closed, now: now) }
  }

  /// Queues the push, due from now on or at its time, after the undo window; or starts the schedule. What was paused
  /// waits until somebody resumes it.
  private func release(_ database: Database, now: Date) throws -> Bool {
    switch subject {
    case .schedule(let id):
      guard try Schedule.approve(database, id: id, now: now) else { return false }
      if isPaused { _ = try Schedule.pause(database, id: id) }
      return true
    case .push(let id):
      let state = isPaused ? PushState.paused : .queued
      guard try Push.move(database, id: id, from: [.needsApproval], to: state, now: now) else { return false }
      let hold = now.addingTimeInterval(TimeInterval(undoSeconds))
      try database.run("UPDATE pushes SET approved_at = ?, hold_until = ? WHERE id = ?", now, hold, id)
      return true
    }
  }

  private func end(_ database: Database, _ error: String, now: Date) throws -> Bool {
    switch subject {
    case .schedule(let id): try Schedule.end(database, id: id, error: error, now: now)
    case .push(let id):
      try Push.move(database, id: id, from: [.needsApproval], to: .cancelled, error: error, now: now)
    }
  }

  private func note(
    _ database: Database, _ action: String, by actor: String, remark: String? = nil, from address: String? = nil,
    now: Date
  ) throws {
    let uid =
      switch subject {
      case .push(let id): try Push.get(database, id: id).uid
      case .schedule(let id): try Schedule.get(database, id: id).uid
      }
    try AuditEntry.add(
      database, by: actor, "\(subject.noun).\(action)", "\(subject.noun) \(uid)",
      remark.map { ["remark": .string($0)] }, from: address, now: now)
  }
}

private func storedRules(_ text: String?) throws -> [String: JSONValue] {
  try json(text, "approvals.rules")?.object ?? [:]
}

/// An approval to be asked for, with the push or schedule that is stored.
package struct NewApproval: Sendable {
  let asker: ApprovalRule.Actor
  let reach: Int?
  let undoSeconds: Int
  let address: String?

  /// - Parameters:
  ///   - reach: the number of devices now; nil: not counted.
  ///   - address: the client's address; nil for this machine.
  package init(asker: ApprovalRule.Actor, reach: Int?, undoSeconds: Int = 0, from address: String? = nil) {
    (self.asker, self.reach, self.undoSeconds, self.address) = (asker, reach, undoSeconds, address)
  }
}
