package import Foundation
internal import Model
package import SQLite
import Text

/// A step of a reminder ladder that was taken, for one thing with one fingerprint.
package struct Reminder: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// As `certificates/12`.
  package let itemKey: String
  /// SHA-256 of what it was then; empty if it has none.
  package let fingerprint: String
  /// Days before the end; -1: it was over.
  package let step: Int
  /// What it was called then.
  package let itemName: String

  /// The steps that were taken, by thing and fingerprint.
  package static func steps(_ database: Database) throws -> [Acknowledgement.Subject: [Int]] {
    var steps: [Acknowledgement.Subject: [Int]] = [:]
    try database.forEach("SELECT item_key, fingerprint, step FROM reminders") { row in
      steps[.init(key: row.text(0), fingerprint: row.text(1)), default: []].append(row.int(2))
      return .continue
    }
    return steps
  }

  /// Takes a step, unless somebody has.
  ///
  /// - Returns: its row id; nil if it was taken before: then nothing is to be sent.
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

  /// What a message tells of.
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
