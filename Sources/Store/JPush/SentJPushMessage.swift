package import Foundation
package import JSON
package import SQLite

/// One request of a push that JPush accepted, and what JPush says of it later.
package struct SentJPushMessage: Sendable, Hashable {
  package let pushID: Int64
  /// `msg_id`.
  package let id: String
  /// Its devices lie between these IDs.
  package let firstDevice: Int64
  package let lastDevice: Int64
  /// How many devices it named.
  package let devices: Int
  package let sentAt: Date
  /// JPush's report as received; nil: none yet.
  package var result: JSONValue?
  package var resultAt: Date?

  package init(push: Int64, id: String, firstDevice: Int64, lastDevice: Int64, devices: Int, sentAt: Date) {
    (pushID, self.id, self.sentAt) = (push, id, sentAt)
    (self.firstDevice, self.lastDevice, self.devices) = (firstDevice, lastDevice, devices)
  }

  /// Seconds after the push at which JPush is asked: devices come online for hours, and JPush counts them late.
  static let moments: [TimeInterval] = [120, 600, 3600, 6 * 3600, 24 * 3600]
  private static let columns = "push_id, msg_id, first_device, last_device, devices, sent_at, result, result_at"

  private init(_ row: borrowing Row) throws {
    self.init(
      push: row.int64(0), id: row.text(1), firstDevice: row.int64(2), lastDevice: row.int64(3), devices: row.int(4),
      sentAt: row.date(5))
    (result, resultAt) = (try json(row.optionalText(6), "jpush_messages.result"), row.optionalDate(7))
  }

  /// Stores a message. Idempotent: a repetition within a day has the same ID.
  package static func add(_ database: Database, _ message: SentJPushMessage) throws {
    try database.run(
      """
      INSERT OR IGNORE INTO jpush_messages(push_id, msg_id, first_device, last_device, devices, sent_at, ask_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, message.pushID, message.id, message.firstDevice, message.lastDevice, message.devices, message.sentAt,
      message.sentAt.addingTimeInterval(moments[0]))
  }

  /// The messages of a push, in order of sending.
  package static func all(_ database: Database, push: Int64) throws -> [SentJPushMessage] {
    try database.fetchAll(
      "SELECT \(columns) FROM jpush_messages WHERE push_id = ? ORDER BY sent_at, msg_id", push
    ) { try SentJPushMessage($0) }
  }

  /// The pushes with a message that JPush gave this `msg_id`.
  package static func pushes(_ database: Database, messageID id: String) throws -> [Int64] {
    try database.fetchAll(
      "SELECT DISTINCT push_id FROM jpush_messages INDEXED BY jpush_messages_id WHERE msg_id = ?", id
    ) { $0.int64(0) }
  }

  /// The message that a device was in; of several whose ranges contain it the latest.
  package static func find(_ database: Database, push: Int64, device: Int64) throws -> SentJPushMessage? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM jpush_messages WHERE push_id = ?1 AND first_device <= ?2 AND last_device >= ?2
      ORDER BY sent_at DESC LIMIT 1
      """, push, device
    ) { try SentJPushMessage($0) }
  }

  /// Messages that JPush is to be asked for now, of one push, at most as many as one request names.
  package static func due(_ database: Database, now: Date) throws -> [SentJPushMessage] {
    let push = try database.fetchOne(
      "SELECT push_id FROM jpush_messages WHERE ask_at IS NOT NULL AND ask_at <= ? ORDER BY ask_at LIMIT 1", now
    ) { $0.int64(0) }
    guard let push else { return [] }
    return try database.fetchAll(
      "SELECT \(columns) FROM jpush_messages WHERE push_id = ? AND ask_at <= ? ORDER BY ask_at LIMIT 100", push, now
    ) { try SentJPushMessage($0) }
  }

  /// The time in which ``due(_:now:)`` finds nothing.
  package static func quietTime(_ database: Database) throws -> QuietTime {
    let next = try database.fetchOne(
      "SELECT min(ask_at) FROM jpush_messages INDEXED BY jpush_messages_ask WHERE ask_at IS NOT NULL"
    ) { $0.optionalDate(0) }
    return QuietTime(until: [next ?? nil])
  }

  /// Records that JPush was asked, and plans the next time.
  ///
  /// - Parameter results: by message ID; empty: there was no answer.
  package static func asked(
    _ database: Database, _ messages: [SentJPushMessage], _ results: [String: JSONValue], now: Date
  ) throws {
    for message in messages {
      // A moment that is past already, as after a pause of the server, is left out.
      let next = moments.map { message.sentAt.addingTimeInterval($0) }.first { $0 > now }
      try database.run(
        "UPDATE jpush_messages SET ask_at = ? WHERE push_id = ? AND msg_id = ?", next,
        message.pushID, message.id)
      guard let result = results[message.id] else { continue }
      try database.run(
        "UPDATE jpush_messages SET result = ?, result_at = ? WHERE push_id = ? AND msg_id = ?", result.text(), now,
        message.pushID, message.id)
    }
  }
}
