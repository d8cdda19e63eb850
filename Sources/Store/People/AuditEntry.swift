package import Foundation
package import JSON
import Model
package import SQLite

/// Who did what, when, from where. Triggers in the file prevent changes and deletions, and ``AuditChain`` shows those
/// that go past them.
package struct AuditEntry: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let at: Date
  package let entry: NewAuditEntry
  /// Its place in the ``AuditChain``.
  package let hash: [UInt8]
  /// ``hash`` in hexadecimal digits.
  package var hashText: String { hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

  /// Adds an entry, in the transaction of the action.
  @discardableResult
  package static func add(_ database: Database, _ entry: NewAuditEntry, now: Date) throws -> Int64 {
    // The number goes on after a removed last line, so that the gap can be seen.
    let id = try AuditChain.nextID(database)
    let previous = try database.fetchOne("SELECT hash FROM audit ORDER BY id DESC LIMIT 1") { $0.blob(0) } ?? []
    let detail = entry.detail?.text()
    let hash = AuditChain.hash(
      after: previous, id: id, at: now.milliseconds, actor: entry.actor, action: entry.action, subject: entry.subject,
      detail: detail, address: entry.address)
    try database.run(
      "INSERT INTO audit(id, at, actor, action, subject, detail, address, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", id,
      now, entry.actor, entry.action, entry.subject, detail, entry.address, hash)
    return id
  }

  /// Adds an entry of these parts.
  package static func add(
    _ database: Database, by actor: String, _ action: String, _ subject: String, _ detail: JSONValue? = nil,
    from address: String? = nil, now: Date
  ) throws {
    let entry = NewAuditEntry(actor: actor, action: action, subject: subject, detail: detail, address: address)
    try add(database, entry, now: now)
  }

  /// Conditions that all hold; nil: any.
  package struct Filter: Sendable {
    package var actor: String?
    package var action: String?
    package var kind: ActivityKind?
    package var subject: String?
    /// Part of the actor, the subject or the address, without regard to case.
    package var search: String?
    package var from: Date?
    package var before: Date?

    package init(
      actor: String? = nil, action: String? = nil, kind: ActivityKind? = nil, subject: String? = nil,
      search: String? = nil, from: Date? = nil, before: Date? = nil
    ) {
      (self.actor, self.action, self.kind, self.subject) = (actor, action, kind, subject)
      (self.search, self.from, self.before) = (search, from, before)
    }

    /// SQL conditions with their values.
    fileprivate var conditions: [(sql: String, values: [any SQLiteBindable])] {
      var conditions: [(String, [any SQLiteBindable])] = []
      let simple: [(String, (any SQLiteBindable)?)] = [
        ("actor = ?", actor), ("action = ?", action), ("subject = ?", subject), ("at >= ?", from), ("at < ?", before),
      ]
      for case (let sql, let value?) in simple { conditions.append((sql, [value])) }
      if let kind {
        // "push." to "push/" covers the actions of a noun: the slash follows the dot.
        let nouns = kind.nouns.map { _ in "action >= ? AND action < ?" }.joined(separator: " OR ")
        conditions.append(("(\(nouns))", kind.nouns.flatMap { ["\($0).", "\($0)/"] }))
      }
      if let search {
        let places = ["actor", "subject", "coalesce(address, '')"].map { "instr(lower(\($0)), lower(?)) > 0" }
        conditions.append(("(\(places.joined(separator: " OR ")))", places.map { _ in search }))
      }
      return conditions
    }
  }

  /// A page of matching entries, newest first.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  package static func list(
    _ database: Database, _ filter: Filter = Filter(), cursor: String? = nil, limit: Int
  ) throws -> Page<AuditEntry> {
    try list(database, filter, from: 0, before: try position(cursor) ?? .max, limit: limit)
  }

  /// A page of an export, newest first. It looks at no more than `span` entries, so that an export with a filter that
  /// few match holds neither its reader nor the write-ahead log for long: it may be short, or empty, although others
  /// follow.
  package static func exported(
    _ database: Database, _ filter: Filter, cursor: String?, limit: Int, span: Int64 = 20_000
  ) throws -> Page<AuditEntry> {
    let newest = Int64(try database.int("SELECT coalesce(max(id), 0) FROM audit"))
    let end = try position(cursor) ?? newest + 1
    let start = max(0, end - span)
    let page = try list(database, filter, from: start, before: end, limit: limit)
    return page.next == nil && start > 0 ? Page(items: page.items, next: String(start)) : page
  }

  private static func list(
    _ database: Database, _ filter: Filter, from start: Int64, before end: Int64, limit: Int
  ) throws -> Page<AuditEntry> {
    let filters = filter.conditions
    let conditions = ["id >= ?", "id < ?"] + filters.map(\.sql)
    let arguments: [any SQLiteBindable] = [start, end] + filters.flatMap(\.values)
    let found = try database.fetchAll(
      """
      SELECT \(columns) FROM audit WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?
      """, arguments: arguments + [limit + 1]
    ) { try AuditEntry($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// Entries after one, oldest first.
  package static func after(_ database: Database, id: Int64, limit: Int) throws -> [AuditEntry] {
    try database.fetchAll("SELECT \(columns) FROM audit WHERE id > ? ORDER BY id LIMIT ?", id, limit) {
      try AuditEntry($0)
    }
  }

  private static let columns = "id, at, actor, action, subject, detail, address, hash"

  /// Reads ``columns``.
  private init(_ row: borrowing Row) throws {
    (id, at) = (row.int64(0), row.date(1))
    entry = NewAuditEntry(
      actor: row.text(2), action: row.text(3), subject: row.text(4),
      detail: try json(row.optionalText(5), "audit.detail"), address: row.optionalText(6))
    hash = row.blob(7)
  }

  /// Everybody who has done something, in alphabetical order; at most `limit`.
  package static func actors(_ database: Database, limit: Int) throws -> [String] {
    // Each step is one search in the index: the number of entries does not matter.
    try database.fetchAll(
      """
      WITH RECURSIVE found(actor) AS (
        SELECT min(actor) FROM audit
        UNION ALL SELECT (SELECT min(actor) FROM audit WHERE actor > found.actor) FROM found WHERE actor IS NOT NULL)
      SELECT actor FROM found WHERE actor IS NOT NULL LIMIT ?
      """, limit
    ) { $0.text(0) }
  }
}

/// A group of actions, to filter by. Each action begins with one of its nouns.
package enum ActivityKind: String, Sendable, CaseIterable {
  case pushes, devices, apps, certificates, people, settings

  /// What the actions are done to, as in `push.create`.
  package var nouns: [String] {
    switch self {
    case .pushes: ["push", "schedule", "incident", "smoke_test", "template", "code", "simulator"]
    case .devices: ["device", "alias", "tag", "segment", "audience"]
    case .apps: ["app", "credential", "jpush", "jpush_key", "client_key", "channel", "topic", "demo"]
    case .certificates: ["certificate", "certificate_request", "host"]
    case .people: ["user", "session", "token", "calendar", "activity"]
    case .settings: ["settings", "setting", "receiver", "webhook", "retention", "key", "database"]
    }
  }
}

package struct NewAuditEntry: Sendable, Hashable {
  /// A user's name, `token <name>`, `cli <user of the system>`, `signalbox`.
  package var actor: String
  /// Such as `push.create`.
  package var action: String
  /// Such as `push 7f3a…`.
  package var subject: String
  /// Before and after, without secrets.
  package var detail: JSONValue?
  package var address: String?
  package init(actor: String, action: String, subject: String, detail: JSONValue? = nil, address: String? = nil) {
    (self.actor, self.action, self.subject, self.detail, self.address) = (actor, action, subject, detail, address)
  }

  /// The same, with what changed. A new value has `.null` before, a removed one after.
  package func changing(_ before: JSONValue?, to after: JSONValue?) -> NewAuditEntry {
    var entry = self
    entry.detail = ["before": before ?? .null, "after": after ?? .null]
    return entry
  }
}
