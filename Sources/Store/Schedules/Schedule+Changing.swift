import Calendar
package import Foundation
import JSON
package import Model
package import SQLite

extension Schedule {
  /// Adds a schedule, active or waiting for approval, in the same transaction as the idempotent answer and the activity log entry.
  ///
  /// - Throws: `StoreError.unreadable` for a draft without occurrences, which the caller must exclude.
  @discardableResult
  package static func create(
    _ database: Database, _ new: NewSchedule, audit: NewAuditEntry? = nil, now: Date
  ) throws -> Schedule {
    // Rounded as in the column, so that results are equal after a restart.
    let start = Date(milliseconds: (new.draft.sendAt ?? now).milliseconds)
    let recurrence = new.draft.recurrence.map { Recurrence($0, from: start) }
    guard let next = recurrence?.first(from: now) else {
      throw StoreError.unreadable(column: "schedules.draft", value: new.uid)
    }
    return try database.transaction {
      try database.run(
        """
        INSERT INTO schedules(uid, app_id, environment, draft, title, body, search, state, start_at, next_at, source,
          created_by, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, new.uid, new.appID, new.draft.environment.rawValue, new.draft.json.text(), new.title, new.body, new.search,
        (new.approval == nil ? ScheduleState.active : .needsApproval).rawValue, start,
        new.approval == nil ? next : nil, new.source.rawValue, new.createdBy, now)
      let schedule = try get(database, id: database.lastInsertedID)
      if let audit { try AuditEntry.add(database, audit, now: now) }
      if let approval = new.approval { try Approval.ask(database, .schedule(schedule.id), approval, now: now) }
      return schedule
    }
  }

  /// Replaces what an active or paused schedule sends, and when; past runs stay, and a paused schedule stays paused.
  /// What needs approval waits for it, and is active or paused afterwards as before.
  ///
  /// - Returns: false if the schedule had already ended.
  /// - Throws: `StoreError.unreadable` for a draft without occurrences, which the caller must exclude.
  package static func replace(_ database: Database, id: Int64, with new: NewSchedule, now: Date) throws -> Bool {
    let start = Date(milliseconds: (new.draft.sendAt ?? now).milliseconds)
    guard let next = new.draft.recurrence.flatMap({ Recurrence($0, from: start).first(from: now) }) else {
      throw StoreError.unreadable(column: "schedules.draft", value: new.uid)
    }
    let isPaused = try find(database, id: id)?.state == .paused
    let isReplaced = try database.run(
      """
      UPDATE schedules SET environment = ?1, draft = ?2, title = ?3, body = ?4, search = ?5, start_at = ?6,
        next_at = iif(?9 = 0 AND state IN ('active', 'needs_approval'), ?7, NULL), error = NULL,
        state = CASE WHEN ?9 THEN 'needs_approval' WHEN state = 'needs_approval' THEN 'active' ELSE state END
      WHERE id = ?8 AND state <> 'ended'
      """, new.draft.environment.rawValue, new.draft.json.text(), new.title, new.body, new.search, start, next, id,
      new.approval != nil)
    guard isReplaced == 1 else { return false }
    // Approval of the previous content does not cover the new one.
    let wasPaused = try Approval.withdraw(database, .schedule(id), by: new.createdBy, now: now)
    if let approval = new.approval {
      try Approval.ask(database, .schedule(id), approval, isPaused: isPaused || wasPaused, now: now)
    } else if wasPaused {
      _ = try pause(database, id: id)
    }
    return true
  }

  /// The most missed occurrences recorded individually; earlier ones are only counted.
  static let notedAtMost = 100

  /// Creates the push of the latest due occurrence unless it is too late, records earlier ones as missed, and advances
  /// to the next. Call it in a transaction of its own, so that a crash neither loses an occurrence nor sends it twice.
  ///
  /// - Parameter make: the push of an occurrence; its source and schedule are set here.
  /// - Returns: the created push, if any.
  package static func carryOn(
    _ database: Database, id: Int64, now: Date, make: (Schedule, PushDraft, Date) throws -> NewPush
  ) throws -> Push? {
    guard let schedule = try find(database, id: id), schedule.state == .active else { return nil }
    guard let draft = schedule.draft, let rule = draft.recurrence else {
      try database.run(
        "UPDATE schedules SET state = 'paused', next_at = NULL, error = ? WHERE id = ?",
        "The push can no longer be read because another version wrote it.", id)
      return nil
    }
    let recurrence = Recurrence(rule, from: schedule.startAt)
    let known = try correctClock(database, schedule, now: now)
    var made: Push?
    if !known, let from = schedule.nextAt, from <= now, let latest = recurrence.last(through: now), latest >= from {
      let isLate = draft.latestStart(due: latest) <= now
      let missed = try note(
        database, id: id, missed: recurrence, from: from, before: isLate ? latest + 0.001 : latest, now: now)
      if !isLate, try !isNoted(database, id: id, at: latest) {
        var new = try make(schedule, draft.occurrence(at: latest), latest)
        (new.source, new.scheduleID, new.sendAt) = (.schedule, id, latest)
        let push = try Push.create(database, new, now: now)
        try database.run(
          "INSERT INTO schedule_occurrences(schedule_id, at, push_id, noted_at) VALUES (?, ?, ?, ?)", id, latest,
          push.id, now)
        made = push
      }
      try database.run(
        "UPDATE schedules SET missed = missed + ?, sent = sent + ? WHERE id = ?", missed, made == nil ? 0 : 1, id)
    }
    try move(database, id: id, recurrence, to: recurrence.next(after: now), now: now)
    return made
  }

  /// Recalculates the next occurrences at startup, because this program may have newer time zone rules.
  package static func renew(_ database: Database, now: Date) throws {
    for schedule in try active(database) {
      guard let next = schedule.nextAt, next > now, let recurrence = schedule.recurrence,
        // No zone ever changed its clocks by more at once, except for skipped days.
        let found = recurrence.first(from: next - 3 * 3600), found != next, found > now,
        try !isNoted(database, id: schedule.id, at: found)
      else { continue }
      try database.run("UPDATE schedules SET next_at = ? WHERE id = ?", found, schedule.id)
    }
  }

  /// Advances to an occurrence, or to the first after it that is not recorded yet; without one the schedule ends.
  private static func move(
    _ database: Database, id: Int64, _ recurrence: Recurrence, to first: Date?, now: Date
  ) throws {
    var next = first
    while let date = next, try isNoted(database, id: id, at: date) { next = recurrence.next(after: date) }
    try database.run(
      """
      UPDATE schedules SET next_at = ?1, looked_at = ?2, state = iif(?1 IS NULL, 'ended', state),
        ended_at = iif(?1 IS NULL, ?2, NULL)
      WHERE id = ?3
      """, next, now, id)
  }

  private static func isNoted(_ database: Database, id: Int64, at date: Date) throws -> Bool {
    try database.int("SELECT count(*) FROM schedule_occurrences WHERE schedule_id = ? AND at = ?", id, date) > 0
  }

  /// Takes back occurrences that a fast clock recorded as missed although they are in the future. Sent ones stay sent.
  ///
  /// - Returns: whether the clock had been ahead.
  private static func correctClock(_ database: Database, _ schedule: Schedule, now: Date) throws -> Bool {
    guard let looked = schedule.lookedAt, looked > now.addingTimeInterval(clockSlack) else { return false }
    let gone = try database.run(
      "DELETE FROM schedule_occurrences WHERE schedule_id = ? AND at > ? AND push_id IS NULL", schedule.id, now)
    try database.run("UPDATE schedules SET missed = max(0, missed - ?) WHERE id = ?", gone, schedule.id)
    return true
  }

  /// Records occurrences as missed.
  ///
  /// - Returns: how many.
  private static func note(
    _ database: Database, id: Int64, missed recurrence: Recurrence, from: Date, before end: Date, now: Date
  ) throws -> Int {
    var all = 0
    var latest: [Date] = []
    var next = recurrence.first(from: from)
    while let date = next, date < end {
      if try !isNoted(database, id: id, at: date) {
        all += 1
        latest.append(date)
        if latest.count > notedAtMost { latest.removeFirst() }
      }
      next = recurrence.next(after: date)
    }
    for date in latest {
      try database.run(
        "INSERT INTO schedule_occurrences(schedule_id, at, noted_at) VALUES (?, ?, ?)", id, date, now)
    }
    return all
  }

  /// Pauses an active schedule.
  ///
  /// - Returns: whether it was active.
  package static func pause(_ database: Database, id: Int64) throws -> Bool {
    try database.run(
      "UPDATE schedules SET state = 'paused', next_at = NULL WHERE id = ? AND state = 'active'", id) == 1
  }

  /// Lets an active or paused schedule wait for approval.
  ///
  /// - Returns: false if the schedule had already ended.
  static func stop(_ database: Database, id: Int64) throws -> Bool {
    try database.run(
      "UPDATE schedules SET state = 'needs_approval', next_at = NULL WHERE id = ? AND state <> 'ended'", id) == 1
  }

  /// Resumes a paused schedule with its next occurrence; occurrences during the pause are left out. Without future
  /// occurrences it ends.
  ///
  /// - Returns: whether it was paused.
  package static func resume(_ database: Database, id: Int64, now: Date) throws -> Bool {
    try activate(database, id: id, from: .paused, now: now)
  }

  /// Lets a schedule run that needed approval. If its last run passed while it waited, it ends.
  ///
  /// - Returns: whether the schedule was waiting for approval.
  static func approve(_ database: Database, id: Int64, now: Date) throws -> Bool {
    guard try activate(database, id: id, from: .needsApproval, now: now) else { return false }
    try database.run(
      "UPDATE schedules SET error = ? WHERE id = ? AND state = 'ended'",
      "Its last run had passed before it was approved, so it does not run.", id)
    return true
  }

  private static func activate(
    _ database: Database, id: Int64, from state: ScheduleState, now: Date
  ) throws -> Bool {
    let schedule = try get(database, id: id)
    guard schedule.state == state, let recurrence = schedule.recurrence else { return false }
    try database.run("UPDATE schedules SET state = 'active', error = NULL WHERE id = ?", id)
    try move(database, id: id, recurrence, to: recurrence.first(from: now), now: now)
    return true
  }

  /// Ends a schedule; pushes already created continue.
  ///
  /// - Returns: false if the schedule had already ended.
  ///
  /// - Parameter error: why it ended; nil if a person ended it.
  package static func end(_ database: Database, id: Int64, error: String? = nil, now: Date) throws -> Bool {
    try database.run(
      "UPDATE schedules SET state = 'ended', next_at = NULL, error = ?, ended_at = ? WHERE id = ? AND state <> 'ended'",
      error, now, id) == 1
  }
}
