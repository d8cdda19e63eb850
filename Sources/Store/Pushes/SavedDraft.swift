package import Foundation
import JSON
package import SQLite

/// A send form that somebody has not sent yet. Only its owner sees it.
package struct SavedDraft: Sendable, Hashable, Identifiable {
  package let id: Int64
  /// For lists.
  package let title: String
  package let fields: [Field]
  package let changedAt: Date

  /// One field of the form.
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  /// Drafts that are kept for each person; the oldest goes first.
  package static let kept = 50

  private static let columns = "d.id, d.title, d.fields, d.changed_at"

  private init(_ row: borrowing Row) throws {
    (id, title, changedAt) = (row.int64(0), row.text(1), row.date(3))
    fields = (try JSONValue(parsing: Array(row.text(2).utf8)).array ?? []).compactMap { pair in
      guard let pair = pair.array, pair.count == 2, let name = pair[0].string, let value = pair[1].string
      else { return nil }
      return Field(name, value)
    }
  }

  /// Saves a draft of a person: over `id` if that is theirs, otherwise as a new one.
  ///
  /// - Returns: its row ID.
  package static func save(
    _ database: Database, id: Int64?, user: Int64, title: String, _ fields: [Field], now: Date
  ) throws -> Int64 {
    let text = JSONValue.array(fields.map { [.string($0.name), .string($0.value)] }).text()
    if let id,
      try database.run(
        "UPDATE drafts SET title = ?, fields = ?, changed_at = ? WHERE id = ? AND user_id = ?", title, text, now, id,
        user) == 1
    {
      return id
    }
    try database.run(
      "INSERT INTO drafts(user_id, title, fields, changed_at) VALUES (?, ?, ?, ?)", user, title, text, now)
    let new = database.lastInsertedID
    try database.run(
      """
      DELETE FROM drafts WHERE user_id = ?1 AND id NOT IN
        (SELECT id FROM drafts WHERE user_id = ?1 ORDER BY changed_at DESC, id DESC LIMIT ?2)
      """, user, kept)
    return new
  }

  /// The drafts of a person, the last changed first.
  package static func all(_ database: Database, user: Int64) throws -> [SavedDraft] {
    try database.fetchAll(
      "SELECT \(columns) FROM drafts d WHERE d.user_id = ? ORDER BY d.changed_at DESC, d.id DESC", user
    ) { try SavedDraft($0) }
  }

  /// Nil: there is none, or it is somebody else's.
  package static func find(_ database: Database, id: Int64, user: Int64) throws -> SavedDraft? {
    try database.fetchOne("SELECT \(columns) FROM drafts d WHERE d.id = ? AND d.user_id = ?", id, user) {
      try SavedDraft($0)
    }
  }

  /// The draft that was tried out with a push.
  package static func find(_ database: Database, push: Int64, user: Int64) throws -> SavedDraft? {
    try database.fetchOne("SELECT \(columns) FROM drafts d WHERE d.push_id = ? AND d.user_id = ?", push, user) {
      try SavedDraft($0)
    }
  }

  /// Notes that a draft was tried out.
  package static func note(_ database: Database, id: Int64, push: Int64) throws {
    try database.run("UPDATE drafts SET push_id = ? WHERE id = ?", push, id)
  }

  /// - Returns: whether the person had it.
  @discardableResult
  package static func delete(_ database: Database, id: Int64, user: Int64) throws -> Bool {
    try database.run("DELETE FROM drafts WHERE id = ? AND user_id = ?", id, user) == 1
  }
}

/// Devices that people call their own, to try out a draft on.
extension Device {
  /// A person's own active devices, the last seen first.
  package static func own(_ database: Database, user: Int64) throws -> [Device] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM own_devices o JOIN devices d ON d.id = o.device_id
      WHERE o.user_id = ? AND d.state = 1 ORDER BY d.seen_at DESC, d.id
      """, user
    ) { try Device($0) }
  }

  package static func isOwn(_ database: Database, id: Int64, user: Int64) throws -> Bool {
    try database.int("SELECT count(*) FROM own_devices WHERE user_id = ? AND device_id = ?", user, id) > 0
  }

  package static func setOwn(_ database: Database, id: Int64, user: Int64, _ isOwn: Bool) throws {
    try database.run(
      isOwn
        ? "INSERT OR IGNORE INTO own_devices(user_id, device_id) VALUES (?, ?)"
        : "DELETE FROM own_devices WHERE user_id = ? AND device_id = ?", user, id)
  }
}
