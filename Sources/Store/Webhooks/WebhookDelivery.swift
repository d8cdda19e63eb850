package import Foundation
import JSON
import Model
internal import OpenSSL
package import SQLite

/// An event of a webhook: what is or was sent, and what came of the last attempt.
package struct WebhookDelivery: Sendable, Hashable, Identifiable {
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// Waits for its first or next attempt.
    case pending
    /// Answered with 2xx.
    case delivered
    /// Given up after a day of attempts, or because the receiver is gone.
    case failed
    /// Waited for a week without being sent.
    case dropped
  }

  /// What came of an attempt.
  package struct Answer: Sendable, Hashable {
    /// Nil: no answer came.
    package let status: Int?
    package let milliseconds: Int
    /// The beginning of the answer, or the error.
    package let words: String
    /// The other side's requested pause in seconds.
    package let retryAfter: Int?

    package init(status: Int?, milliseconds: Int, words: String, retryAfter: Int? = nil) {
      (self.status, self.milliseconds, self.words, self.retryAfter) = (status, milliseconds, words, retryAfter)
    }

    package var isGood: Bool { status.map { (200..<300).contains($0) } ?? false }
    /// 410: the receiver wants nothing more.
    package var isGone: Bool { status == 410 }
  }

  package let id: Int64
  package let webhookID: Int64
  /// `webhook-id`: the same for each attempt.
  package let uid: String
  package let type: String
  /// JSON.
  package let data: String
  /// Of the page that shows more.
  package let path: String?
  package let state: State
  package let createdAt: Date
  package let attempts: Int
  package let triedAt: Date?
  package let status: Int?
  /// Of the last attempt.
  package let milliseconds: Int?
  package let answer: String?

  /// The type of a test event.
  package static let test = "webhook.test"
  /// Attempts end a day after the first one, in seconds.
  package static let patience: TimeInterval = 86_400
  /// No pause is longer, in seconds; a later time of the next attempt was set while the clock was wrong.
  package static let longestPause: TimeInterval = 86_400
  /// Unsent events are dropped after a week, in seconds.
  package static let longestWait: TimeInterval = 7 * 86_400
  /// Ended events are kept for two weeks, in seconds.
  package static let memory: TimeInterval = 14 * 86_400
  /// Rows of a sweep, so that others find the writer free.
  package static let rowsOfSweep = 1000

  private static let columns = """
    id, webhook_id, uid, type, data, path, state, created_at, attempts, tried_at, status, duration_ms, answer
    """

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    webhookID = row.int64(1)
    uid = row.text(2)
    type = row.text(3)
    data = row.text(4)
    path = row.optionalText(5)
    state = try row.value(6, as: State.self)
    createdAt = row.date(7)
    attempts = row.int(8)
    triedAt = row.optionalDate(9)
    status = row.optionalInt(10)
    milliseconds = row.optionalInt(11)
    answer = row.optionalText(12)
  }

  /// Newest first.
  package static func list(
    _ database: Database, webhook: Int64, cursor: String? = nil, limit: Int
  ) throws -> Page<WebhookDelivery> {
    let found = try database.fetchAll(
      "SELECT \(columns) FROM webhook_events WHERE webhook_id = ? AND id < ? ORDER BY id DESC LIMIT ?", webhook,
      try position(cursor) ?? .max, limit + 1
    ) { try WebhookDelivery($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, webhook: Int64, uid: String) throws -> WebhookDelivery {
    let found = try database.fetchOne(
      "SELECT \(columns) FROM webhook_events WHERE uid = ? AND webhook_id = ?", uid, webhook
    ) { try WebhookDelivery($0) }
    guard let found else { throw StoreError.notFound(noun: "delivery", id: String(uid.prefix(100))) }
    return found
  }

  // MARK: Sending

  /// The webhooks that have something to send now.
  package static func due(_ database: Database, now: Date) throws -> [Int64] {
    try database.fetchAll(
      """
      SELECT id FROM webhooks w WHERE is_active = 1 AND (next_try_at <= ?1 OR next_try_at > ?2)
      AND EXISTS (SELECT 1 FROM webhook_events e WHERE e.webhook_id = w.id AND e.state = 'pending')
      """, now, now.addingTimeInterval(longestPause)
    ) { $0.int64(0) }
  }

  /// The time in which ``due(_:now:)`` finds nothing.
  package static func quietTime(_ database: Database) throws -> QuietTime {
    let tries = try database.fetchOne(
      """
      SELECT min(next_try_at), max(next_try_at) FROM webhooks w WHERE is_active = 1
      AND EXISTS (SELECT 1 FROM webhook_events e WHERE e.webhook_id = w.id AND e.state = 'pending')
      """
    ) { (first: $0.optionalDate(0), last: $0.optionalDate(1)) }
    return QuietTime(from: [tries?.last?.addingTimeInterval(-longestPause)], until: [tries?.first])
  }

  /// The next event of a webhook, in the order in which they happened; nil if it must wait or there is none.
  package static func next(_ database: Database, webhook: Int64, now: Date) throws -> WebhookDelivery? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM webhook_events WHERE webhook_id = ?1 AND state = 'pending' AND EXISTS (
        SELECT 1 FROM webhooks WHERE id = ?1 AND is_active = 1 AND (next_try_at <= ?2 OR next_try_at > ?3))
      ORDER BY id LIMIT 1
      """, webhook, now, now.addingTimeInterval(longestPause)
    ) { try WebhookDelivery($0) }
  }

  /// Records an attempt. After a failure the webhook's other events wait too, so that they stay in order.
  ///
  /// - Parameter pause: until the next attempt, in seconds.
  /// - Returns: what became of the event.
  package func record(_ database: Database, _ answer: Answer, pause: TimeInterval, now: Date) throws -> State {
    let firstTry = try database.fetchOne("SELECT first_try_at FROM webhook_events WHERE id = ?", id) {
      $0.optionalDate(0)
    }
    let isOver = firstTry.flatMap { $0 }.map { now.timeIntervalSince($0) >= Self.patience } ?? false
    let state: State = answer.isGood ? .delivered : answer.isGone || isOver ? .failed : .pending
    try database.run(
      """
      UPDATE webhook_events SET state = ?1, attempts = attempts + 1, first_try_at = coalesce(first_try_at, ?2),
        tried_at = ?2, status = ?3, duration_ms = ?4, answer = ?5 WHERE id = ?6
      """, state.rawValue, now, answer.status, answer.milliseconds, answer.words, id)
    if answer.isGood {
      try database.run(
        "UPDATE webhooks SET failures = 0, failing_since = NULL, next_try_at = 0 WHERE id = ?", webhookID)
    } else {
      try database.run(
        """
        UPDATE webhooks SET failures = failures + 1, failing_since = coalesce(failing_since, ?1), next_try_at = ?2,
          is_active = iif(?3, 0, is_active), gone_at = iif(?3, ?1, gone_at) WHERE id = ?4
        """, now, now.addingTimeInterval(pause), answer.isGone, webhookID)
    }
    return state
  }

  /// A test event, which is not queued: the person waits for the answer.
  package static func test(_ webhook: Int64, now: Date) -> (uid: String, data: String) {
    ("evt_\(Random.token(bytes: 18))", #"{"webhook":\#(webhook)}"#)
  }

  /// Adds a test that was sent.
  package static func add(
    _ database: Database, test: (uid: String, data: String), webhook: Int64, _ answer: Answer, now: Date
  ) throws -> WebhookDelivery {
    try database.run(
      """
      INSERT INTO webhook_events(webhook_id, uid, type, data, state, created_at, queued_at, attempts, first_try_at,
        tried_at, status, duration_ms, answer)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 1, ?6, ?6, ?7, ?8, ?9)
      """, webhook, test.uid, Self.test, test.data, (answer.isGood ? State.delivered : .failed).rawValue, now,
      answer.status, answer.milliseconds, answer.words)
    return try get(database, webhook: webhook, uid: test.uid)
  }

  /// Queues an event again, under the same ID. Its webhook is tried at once.
  package static func sendAgain(_ database: Database, webhook: Int64, uid: String, now: Date) throws -> WebhookDelivery
  {
    let event = try get(database, webhook: webhook, uid: uid)
    try database.run(
      "UPDATE webhook_events SET state = 'pending', queued_at = ?, attempts = 0, first_try_at = NULL WHERE id = ?", now,
      event.id)
    try database.run("UPDATE webhooks SET next_try_at = 0 WHERE id = ?", webhook)
    return try get(database, webhook: webhook, uid: uid)
  }

  /// Drops what waited too long, and forgets what ended long ago; at most ``rowsOfSweep`` of each.
  ///
  /// - Returns: how many were dropped, by webhook.
  package static func sweep(_ database: Database, now: Date) throws -> [Int64: Int] {
    let late = try database.fetchAll(
      """
      SELECT id, webhook_id FROM webhook_events INDEXED BY webhook_events_queued
      WHERE queued_at < ? AND state = 'pending' LIMIT ?
      """, now.addingTimeInterval(-longestWait), rowsOfSweep
    ) { (id: $0.int64(0), webhook: $0.int64(1)) }
    for event in late {
      try database.run("UPDATE webhook_events SET state = 'dropped' WHERE id = ?", event.id)
      try database.run("UPDATE webhooks SET dropped = dropped + 1 WHERE id = ?", event.webhook)
    }
    try database.run(
      """
      DELETE FROM webhook_events WHERE id IN (
        SELECT id FROM webhook_events INDEXED BY webhook_events_queued
        WHERE queued_at < ? AND state <> 'pending' LIMIT ?)
      """, now.addingTimeInterval(-memory), rowsOfSweep)
    return Dictionary(grouping: late, by: \.webhook).mapValues(\.count)
  }
}
