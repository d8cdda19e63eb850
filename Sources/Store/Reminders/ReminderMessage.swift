package import Foundation
internal import Model
package import SQLite
import Text

/// One message to one receiver: waiting, sent, or dropped. The log of what was sent, and the queue of what will be.
package struct ReminderMessage: Sendable, Hashable, Identifiable {
  /// How far it is.
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// Not sent yet; it is tried again and again.
    case pending
    /// A server has taken it over.
    case sent
    /// Not needed any more, or too old.
    case dropped
  }

  /// Row id.
  package let id: Int64
  /// The same for each attempt.
  package let uid: String
  /// To whom; nil: the receiver was removed.
  package let receiverID: Int64?
  /// How.
  package let channel: Receiver.Channel
  /// To whom, as it was shown then.
  package let target: String
  /// How far it is.
  package let state: State
  /// When it was decided.
  package let createdAt: Date
  /// How often it was tried.
  package let attempts: Int
  /// When it is tried again, if it is waiting.
  package let nextTryAt: Date
  /// When a server took it over.
  package let sentAt: Date?
  /// The other side's words, or why it failed.
  package let answer: String?
  /// Until when whoever sends it at present has it to himself; long ago: nobody does.
  package let leasedUntil: Date

  private static let columns = """
    m.id, m.uid, m.receiver_id, m.channel, m.target, m.state, m.created_at, m.attempts, m.next_try_at, m.sent_at,
    m.answer, m.leased_until
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
  }

  /// How long a message is held that is being sent; every transport gives up earlier.
  package static let longestLease: TimeInterval = 300
  /// No wait and no lease is longer: what stands further in the future was written by a clock that went wrong. A clock
  /// that is put back by less leaves a message with whoever has it: sent late is better than sent twice.
  package static let longestWait: TimeInterval = 86_400

  /// Whether somebody is sending it.
  package func isLeased(_ now: Date) -> Bool {
    leasedUntil > now && leasedUntil <= now.addingTimeInterval(Self.longestWait)
  }

  /// Puts a message into the queue, in the transaction that claims what it tells of.
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

  /// What waits, oldest first.
  package static func pending(_ database: Database) throws -> [ReminderMessage] {
    try database.fetchAll("SELECT \(columns) FROM reminder_messages m WHERE m.state = 'pending' ORDER BY m.id") {
      try ReminderMessage($0)
    }
  }

  /// Takes a message whose time has come, so that no other process sends it meanwhile.
  ///
  /// - Parameter now: read off the clock within the transaction around this. Whoever read it before and then waited for
  ///   the lock is behind whoever had the lock first.
  /// - Returns: the message with its attempt counted; nil if it is not due, or somebody else has it.
  package static func lease(_ database: Database, id: Int64, now: Date) throws -> ReminderMessage? {
    let count = try database.run(
      """
      UPDATE reminder_messages SET leased_until = ?2, attempts = attempts + 1
      WHERE id = ?1 AND state = 'pending' AND (next_try_at <= ?3 OR next_try_at > ?4)
        AND (leased_until <= ?3 OR leased_until > ?4)
      """, id, now.addingTimeInterval(longestLease), now, now.addingTimeInterval(longestWait))
    return count == 1 ? try find(database, id: id) : nil
  }

  /// One of them, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> ReminderMessage? {
    try database.fetchOne("SELECT \(columns) FROM reminder_messages m WHERE m.id = ?", id) { try ReminderMessage($0) }
  }

  /// Records what came of an attempt. That it was sent counts whoever says so; that it was not, only from the process
  /// that still has the message.
  ///
  /// - Parameter nextTry: when a message that still waits is tried again.
  package func record(
    _ database: Database, _ state: State, answer: String, nextTry: Date? = nil, now: Date
  ) throws {
    try database.run(
      """
      UPDATE reminder_messages SET state = ?2, answer = ?3, next_try_at = coalesce(?4, next_try_at), leased_until = 0,
        sent_at = iif(?2 = 'sent', ?5, NULL)
      WHERE id = ?1 AND iif(?2 = 'sent', state <> 'sent', state = 'pending' AND attempts = ?6)
      """, id, state.rawValue, answer, nextTry, now, attempts)
  }

  /// The log, newest first; of one thing, if it is named.
  ///
  /// - Parameter cursor: `next` of the page before; nil: the first page.
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
