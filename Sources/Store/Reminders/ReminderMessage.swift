package import Foundation
internal import Model
package import SQLite
import Text

/// A message to one receiver: an entry of the queue, and later of the log.
package struct ReminderMessage: Sendable, Hashable, Identifiable {
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// Not sent yet; retried.
    case pending
    /// Accepted by a server.
    case sent
    /// No longer needed, or too old.
    case dropped
  }

  package let id: Int64
  /// The same for each attempt.
  package let uid: String
  /// Nil: the receiver was removed, or it goes to a person.
  package let receiverID: Int64?
  package let channel: Receiver.Channel
  package let target: String
  package let state: State
  package let createdAt: Date
  package let attempts: Int
  /// The next attempt, if pending.
  package let nextTryAt: Date
  /// When a server accepted it.
  package let sentAt: Date?
  /// The other side's message, or the error.
  package let answer: String?
  /// The end of the sending process's lease; in the past: none.
  package let leasedUntil: Date
  /// Nil: it is about something else.
  package let incidentID: Int64?
  /// The request for approval that it tells a person of, whose name is the address; nil: it is about something else.
  package let approvalID: Int64?
  /// Whether it tells that the incident closed; otherwise that it opened.
  package let isEnd: Bool

  private static let columns = """
    m.id, m.uid, m.receiver_id, m.channel, m.target, m.state, m.created_at, m.attempts, m.next_try_at, m.sent_at,
    m.answer, m.leased_until, m.incident_id, m.is_end, m.approval_id
    """

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    uid = row.text(1)
    receiverID = row.optionalInt64(2)
    channel = try row.value(3, as: Receiver.Channel.self)
    target = row.text(4)
    state = try row.value(5, as: State.self)
    createdAt = row.date(6)
    attempts = row.int(7)
    nextTryAt = row.date(8)
    sentAt = row.optionalDate(9)
    answer = row.optionalText(10)?.singleLine
    leasedUntil = row.date(11)
    incidentID = row.optionalInt64(12)
    isEnd = row.bool(13)
    approvalID = row.optionalInt64(14)
  }

  /// The lease's length in seconds; every transport times out earlier.
  package static let longestLease: TimeInterval = 300
  /// Longer waits and leases are invalid: the clock was wrong. After a smaller change of the clock a message stays with
  /// its process, because late is better than twice.
  package static let longestWait: TimeInterval = 86_400

  /// Whether a process is sending it.
  package func isLeased(_ now: Date) -> Bool {
    leasedUntil > now && leasedUntil <= now.addingTimeInterval(Self.longestWait)
  }

  /// Queues a message, in the transaction that claims its reminders.
  package static func add(
    _ database: Database, uid: String, to receiver: Receiver, reminders: [Int64], now: Date
  ) throws {
    try database.run(
      """
      INSERT INTO reminder_messages(uid, receiver_id, channel, target, state, created_at, next_try_at)
      VALUES (?, ?, ?, ?, 'pending', ?, ?)
      """, uid, receiver.id, receiver.details.channel.rawValue, receiver.details.target, now, now)
    let id = database.lastInsertedID
    for reminder in reminders {
      try database.run("INSERT INTO reminder_message_items(message_id, reminder_id) VALUES (?, ?)", id, reminder)
    }
  }

  /// Queues a message about an incident that opened, for each receiver that wants it, once for each opening.
  static func add(_ database: Database, of incident: Incident, now: Date) throws {
    try database.run(
      """
      INSERT OR IGNORE INTO reminder_messages(uid, receiver_id, channel, target, state, created_at, next_try_at,
        incident_id)
      SELECT 'incident-' || ?1 || '-' || ?2 || '-' || id, id, channel, target, 'pending', ?3, ?3, ?1 FROM receivers
      WHERE is_active = 1 AND incidents = 1 AND (app_id IS NULL OR app_id = ?4)
      """, incident.id, incident.turn, now, incident.place.app)
  }

  /// Queues a message that an incident closed, for each receiver that was told of this opening.
  static func add(_ database: Database, ofEnd incident: Incident, now: Date) throws {
    try database.run(
      """
      INSERT OR IGNORE INTO reminder_messages(uid, receiver_id, channel, target, state, created_at, next_try_at,
        incident_id, is_end)
      SELECT m.uid || '-end', r.id, r.channel, r.target, 'pending', ?3, ?3, ?1, 1
      FROM receivers r JOIN reminder_messages m ON m.uid = 'incident-' || ?1 || '-' || ?2 || '-' || r.id
      WHERE m.state = 'sent' AND r.is_active = 1 AND r.incidents = 1
      """, incident.id, incident.turn, now)
  }

  /// Queues a mail about a request for approval to each person who may decide and signs in with a mail address. Nothing
  /// without a mail server.
  static func add(_ database: Database, of approval: Approval, now: Date) throws {
    guard try Setting.find(database, Setting.mail) != nil else { return }
    for person in try approval.deciders(database) where person.name.contains("@") {
      try database.run(
        """
        INSERT OR IGNORE INTO reminder_messages(uid, channel, target, state, created_at, next_try_at, approval_id)
        VALUES (?1, 'email', ?2, 'pending', ?3, ?3, ?4)
        """, "approval-\(approval.id)-\(person.id)", person.name, now, approval.id)
    }
  }

  /// Pending messages, oldest first.
  package static func pending(_ database: Database) throws -> [ReminderMessage] {
    try database.fetchAll("SELECT \(columns) FROM reminder_messages m WHERE m.state = 'pending' ORDER BY m.id") {
      try ReminderMessage($0)
    }
  }

  /// Leases a due message, so that no other process sends it.
  ///
  /// - Parameter now: read within the surrounding transaction, because an earlier reading would be outdated after
  /// waiting for the lock.
  /// - Returns: the message with its attempt counted; nil if it is not due, or leased by another process.
  package static func lease(_ database: Database, id: Int64, now: Date) throws -> ReminderMessage? {
    let count = try database.run(
      """
      UPDATE reminder_messages SET leased_until = ?2, attempts = attempts + 1
      WHERE id = ?1 AND state = 'pending' AND (next_try_at <= ?3 OR next_try_at > ?4)
        AND (leased_until <= ?3 OR leased_until > ?4)
      """, id, now.addingTimeInterval(longestLease), now, now.addingTimeInterval(longestWait))
    return count == 1 ? try find(database, id: id) : nil
  }

  package static func find(_ database: Database, id: Int64) throws -> ReminderMessage? {
    try database.fetchOne("SELECT \(columns) FROM reminder_messages m WHERE m.id = ?", id) { try ReminderMessage($0) }
  }

  /// Records an attempt. A success counts from any process, a failure only from the one that holds the lease.
  ///
  /// - Parameter nextTry: the next attempt of a message that stays pending.
  package func record(
    _ database: Database, _ state: State, answer: String, nextTry: Date? = nil, now: Date
  ) throws {
    try database.run(
      """
      UPDATE reminder_messages SET state = ?2, answer = ?3, next_try_at = coalesce(?4, next_try_at), leased_until = 0,
        sent_at = iif(?2 = 'sent', ?5, NULL)
      WHERE id = ?1 AND iif(?2 = 'sent', state <> 'sent', state = 'pending' AND attempts = ?6)
      """, id, state.rawValue, answer, nextTry, now, attempts)
    // The incident may have closed while the message about its opening was on its way.
    if state == .sent, !isEnd, let incident = try incidentID.flatMap({ try Incident.find(database, id: $0) }),
      incident.state(at: now) == .closed
    {
      try Self.add(database, ofEnd: incident, now: now)
    }
  }

  /// The log, newest first; of one thing if given.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  package static func list(
    _ database: Database, itemKey: String? = nil, cursor: String? = nil, limit: Int
  ) throws -> Page<ReminderMessage> {
    let narrowed = """
      AND m.id IN (SELECT i.message_id FROM reminders r JOIN reminder_message_items i ON i.reminder_id = r.id
        WHERE r.item_key = ?3)
      """
    let found = try database.fetchAll(
      """
      SELECT \(columns) FROM reminder_messages m WHERE m.id < ?1 \(itemKey == nil ? "" : narrowed)
      ORDER BY m.id DESC LIMIT ?2
      """, arguments: [try position(cursor) ?? .max, limit + 1] + (itemKey.map { [$0] } ?? [])
    ) { try ReminderMessage($0) }
    return Page(found, limit: limit, key: \.id)
  }
}
