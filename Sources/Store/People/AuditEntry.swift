package import Foundation
package import JSON
import Model
package import SQLite

/// Who did what, when, from where. Triggers in the file prevent changes and deletions.
package struct AuditEntry: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let at: Date
  package let entry: NewAuditEntry

  /// Adds an entry, in the transaction of the action.
  @discardableResult
  package static func add(_ database: Database, _ entry: NewAuditEntry, now: Date) throws -> Int64 {
    try database.run(
      "INSERT INTO audit(at, actor, action, subject, detail, address) VALUES (?, ?, ?, ?, ?, ?)", now, entry.actor,
      entry.action, entry.subject, entry.detail?.text(), entry.address)
    return database.lastInsertedID
  }

  /// A page of matching entries, newest first; nil: any.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  package static func list(
    _ database: Database, actor: String? = nil, action: String? = nil, subject: String? = nil, from: Date? = nil,
    before: Date? = nil, cursor: String? = nil, limit: Int
  ) throws -> Page<AuditEntry> {
    var conditions = ["id < ?"]
    var arguments: [any SQLiteBindable] = [try position(cursor) ?? .max]
    let filters: [(String, (any SQLiteBindable)?)] = [
      ("actor = ?", actor), ("action = ?", action), ("subject = ?", subject), ("at >= ?", from), ("at < ?", before),
    ]
    for case (let condition, let value?) in filters {
      conditions.append(condition)
      arguments.append(value)
    }
    let found = try database.fetchAll(
      """
      SELECT id, at, actor, action, subject, detail, address FROM audit
      WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?
      """, arguments: arguments + [limit + 1]
    ) { row in
      AuditEntry(
        id: row.int64(0), at: row.date(1),
        entry: NewAuditEntry(
          actor: row.text(2), action: row.text(3), subject: row.text(4),
          detail: try json(row.optionalText(5), "audit.detail"), address: row.optionalText(6)))
    }
    return Page(found, limit: limit, key: \.id)
  }
}

package struct NewAuditEntry: Sendable, Hashable {
  /// A user's name, `token <name>`, `cli`, `signalbox`.
  package var actor: String
  /// Such as `push.create`.
  package var action: String
  /// Such as `push 7f3a…`.
  package var subject: String
  /// Before and after, without secrets.
  package var detail: JSONValue?
  package var address: String?
  package init(actor: String, action: String, subject: String, detail: JSONValue? = nil, address: String? = nil) {
    self.actor = actor
    self.action = action
    self.subject = subject
    self.detail = detail
    self.address = address
  }
}
