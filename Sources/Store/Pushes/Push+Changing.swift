package import Foundation
package import Model
package import SQLite

extension Push {
  /// Adds a push, queued or waiting for approval. In the same transaction as the idempotent answer and the activity log entry, so that all are
  /// stored or none.
  ///
  /// - Parameters:
  ///   - answer: makes the answer for repetitions of the request from the push.
  ///   - audit: who requested it, from where.
  /// - Throws: `StoreError.detailsRemoved` for a retry of a push whose details were removed.
  @discardableResult
  package static func create(
    _ database: Database, _ new: NewPush, audit: NewAuditEntry? = nil, now: Date
  ) throws -> Push {
    try database.transaction {
      if let parent = try new.parentID.flatMap({ try find(database, id: $0) }), let date = parent.detailsRemovedAt {
        throw StoreError.detailsRemoved(push: parent.uid, at: date)
      }
      let search = ([new.title, new.body].compactMap { $0 } + new.searchTerms).joined(separator: "\n")
      try database.run(
        """
        INSERT INTO pushes(uid, seed, app_id, environment, draft, title, body, search, state, source, created_by,
          created_at, send_at, parent_id, hold_until, schedule_id, signature, push_type)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, new.uid, Int64(bitPattern: new.seed), new.appID, new.environment.rawValue, new.draftJSON, new.title,
        new.body, search, (new.approval == nil ? PushState.queued : .needsApproval).rawValue, new.source.rawValue,
        new.createdBy, now, new.sendAt, new.parentID,
        new.holdUntil, new.scheduleID, new.signature, new.pushType.rawValue)
      let push = try get(database, id: database.lastInsertedID)
      if let audit { try AuditEntry.add(database, audit, now: now) }
      if let approval = new.approval { try Approval.ask(database, .push(push.id), approval, now: now) }
      return push
    }
  }

  /// Changes the state of a push if it is in an expected state. A push resumed before its start is due from now on,
  /// because a pause does not make it late.
  ///
  /// A push cancelled after its start is settling until ``settle(_:id:)``.
  ///
  /// - Parameter error: why it failed.
  /// - Returns: whether it was in one of `states`; false: nothing was changed.
  package static func move(
    _ database: Database, id: Int64, from states: Set<PushState>, to state: PushState, error: String? = nil, now: Date
  ) throws -> Bool {
    let expected = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ",")
    let isMoved =
      try database.run(
        """
        UPDATE pushes SET state = ?1, error = ?2,
          started_at = iif(?1 = 'sending', coalesce(started_at, ?3), started_at),
          hold_until = iif(?1 = 'queued' AND started_at IS NULL, ?3, hold_until),
          finished_at = iif(?1 IN ('finished', 'cancelled', 'failed'), ?3, NULL),
          settling = iif(?1 = 'cancelled', started_at IS NOT NULL, settling)
        WHERE id = ?4 AND state IN (\(expected))
        """, state.rawValue, error, now, id) == 1
    // For a push that has started, the webhook is sent when every device has its outcome.
    if isMoved, state.isOver, !states.contains(.sending) || state == .cancelled {
      try Webhook.tell(database, ofPush: id, now: now)
    }
    return isMoved
  }

  /// Cancels a push that is not over; one that waits for approval is withdrawn.
  ///
  /// - Returns: whether it was not over.
  package static func cancel(_ database: Database, id: Int64, by actor: String, now: Date) throws -> Bool {
    guard try move(database, id: id, from: [.needsApproval, .queued, .sending, .paused], to: .cancelled, now: now)
    else { return false }
    try Approval.withdraw(database, .push(id), by: actor, now: now)
    return true
  }

  /// Marks an ended push as settled: every device has its outcome.
  ///
  /// Devices that joined or left the audience after it was counted (removed, dead, other tags) change the target, which
  /// is now the number actually reached, so that the outcomes add up to it.
  package static func settle(_ database: Database, id: Int64, now: Date) throws {
    try database.run(
      """
      UPDATE pushes SET settling = 0, trail = 0,
        target = iif(target IS NULL, NULL, accepted + failed + dead_token + skipped + unknown)
      WHERE id = ?
      """, id)
    try Webhook.tell(database, ofPush: id, now: now)
  }

  /// Counts devices that are about to be sent to although they may have received the push.
  package static func note(_ database: Database, id: Int64, repeats: Repeats) throws {
    try database.run(
      """
      UPDATE pushes SET repeated_unanswered = repeated_unanswered + ?,
        repeated_interrupted = repeated_interrupted + ? WHERE id = ?
      """, repeats.unanswered, repeats.interrupted, id)
  }

  /// Sets the number of devices, and the last that takes part.
  ///
  /// - Parameters:
  ///   - handedOut: as in ``setHandedOut(_:id:upTo:)``.
  ///   - trail: as in ``setTrail(_:id:_:)``.
  package static func setTarget(
    _ database: Database, id: Int64, _ targets: [Reach: Int], lastDeviceID: Int64, handedOut: Int64 = 0,
    trail: Int64 = 0
  ) throws {
    try database.run("DELETE FROM push_targets WHERE push_id = ?", id)
    for (reach, count) in targets where count > 0 {
      try database.run(
        "INSERT INTO push_targets(push_id, platform, provider, count, handed_out) VALUES (?, ?, ?, ?, ?)", id,
        reach.platform.code, reach.provider.code, count, handedOut)
    }
    try database.run(
      "UPDATE pushes SET target = ?, last_device_id = ?, handed_out = max(handed_out, ?), trail = ? WHERE id = ?",
      targets.values.reduce(0, +), lastDeviceID, handedOut, trail, id)
  }

  /// The services that a push has devices of, as counted.
  package static func providers(_ database: Database, id: Int64) throws -> [ProviderKind] {
    let counted = Set(try targets(database, id: id).keys.map(\.provider))
    return ProviderKind.allCases.filter(counted.contains)
  }

  /// Records that nothing is in flight, and that no device above `device` was sent to.
  package static func setAllReturned(_ database: Database, id: Int64, upTo device: Int64) throws {
    try database.run("UPDATE pushes SET handed_out = ? WHERE id = ?", device, id)
    try database.run("UPDATE push_targets SET handed_out = min(handed_out, ?) WHERE push_id = ?", device, id)
  }

  /// Records that devices up to `device` may be sent to, before it happens, so that a restart knows which devices
  /// without an outcome may have received the push.
  ///
  /// - Parameter provider: only devices of this service may be sent to, of a push that is sent at most once; nil: all.
  package static func setHandedOut(
    _ database: Database, id: Int64, upTo device: Int64, _ provider: ProviderKind? = nil
  ) throws {
    try database.run("UPDATE pushes SET handed_out = max(handed_out, ?) WHERE id = ?", device, id)
    guard let provider else { return }
    try database.run(
      "UPDATE push_targets SET handed_out = max(handed_out, ?) WHERE push_id = ? AND provider = ?", device, id,
      provider.code)
  }

  /// Records that every device of a service up to `device` has its outcome or waits.
  package static func setCursor(
    _ database: Database, id: Int64, _ provider: ProviderKind, _ device: Int64
  ) throws {
    try database.run(
      """
      UPDATE push_targets SET cursor = max(coalesce(cursor, 0), ?) WHERE push_id = ? AND provider = ?
      """, device, id, provider.code)
  }
}
