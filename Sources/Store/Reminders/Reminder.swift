package import Foundation
internal import Model
package import SQLite
import Text

/// A reminder step taken for one thing with one fingerprint.
package struct Reminder: Sendable, Hashable, Identifiable {
  package let id: Int64
  /// Such as `certificates/12`.
  package let itemKey: String
  /// SHA-256 at that time; empty if there was none.
  package let fingerprint: String
  /// Days before the end; -1: expired.
  package let step: Int
  /// The name at that time.
  package let itemName: String

  /// Taken steps by thing and fingerprint.
  package static func steps(_ database: Database) throws -> [Acknowledgement.Subject: [Int]] {
    var steps: [Acknowledgement.Subject: [Int]] = [:]
    try database.forEach("SELECT item_key, fingerprint, step FROM reminders") { row in
      steps[.init(key: row.text(0), fingerprint: row.text(1)), default: []].append(row.int(2))
      return .continue
    }
    return steps
  }

  /// Claims a step, unless it is taken.
  ///
  /// - Returns: its row ID; nil if it was taken before: then nothing is sent.
  package static func claim(
    _ database: Database, _ subject: Acknowledgement.Subject, step: Int, name: String, now: Date
  ) throws -> Int64? {
    let count = try database.run(
      """
      INSERT INTO reminders(item_key, fingerprint, step, item_name, claimed_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING
      """, subject.key, subject.fingerprint, step, name, now)
    return count == 1 ? database.lastInsertedID : nil
  }

  package static func of(_ database: Database, message id: Int64) throws -> [Reminder] {
    try database.fetchAll(
      """
      SELECT r.id, r.item_key, r.fingerprint, r.step, r.item_name
      FROM reminder_message_items i JOIN reminders r ON r.id = i.reminder_id WHERE i.message_id = ? ORDER BY r.id
      """, id
    ) { row in
      Reminder(
        id: row.int64(0), itemKey: row.text(1), fingerprint: row.text(2), step: row.int(3),
        itemName: row.text(4).singleLine)
    }
  }
}
