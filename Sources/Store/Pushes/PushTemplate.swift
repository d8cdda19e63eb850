package import Foundation
package import JSON
package import Model
package import SQLite

/// A saved ``MessageTemplate`` with its name.
package struct PushTemplate: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  /// Unique, without regard to case.
  package let name: String
  package let message: MessageTemplate
  package let createdBy: String
  package let createdAt: Date
  package let changedAt: Date

  /// Characters of a name.
  package static let nameLimit = 80

  private static let columns = "t.id, t.name, t.content, t.created_by, t.created_at, t.changed_at"

  private init(_ row: borrowing Row) throws {
    (id, name) = (row.int64(0), row.text(1))
    (createdBy, createdAt, changedAt) = (row.text(3), row.date(4), row.date(5))
    message = MessageTemplate(stored: try JSONValue(parsing: Array(row.text(2).utf8)))
  }

  /// Adds a template, or changes `id`.
  ///
  /// - Throws: `Problems` if the name is taken; `StoreError.notFound`.
  package static func save(
    _ database: Database, id: Int64? = nil, name: String, _ message: MessageTemplate, by entry: NewAuditEntry,
    now: Date
  ) throws -> PushTemplate {
    let before = try id.map { try get(database, id: $0) }
    do {
      if let id {
        try database.run(
          "UPDATE push_templates SET name = ?, content = ?, changed_at = ? WHERE id = ?", name, message.json.text(),
          now, id)
      } else {
        try database.run(
          "INSERT INTO push_templates(name, content, created_by, created_at, changed_at) VALUES (?1, ?2, ?3, ?4, ?4)",
          name, message.json.text(), entry.actor, now)
      }
    } catch let error as SQLiteError where error.isUniqueViolation {
      throw Problems([Problem("name", TemplateMessage.taken)])
    }
    let template = try get(database, id: id ?? database.lastInsertedID)
    let change = entry.changing(before?.audited, to: template.audited)
    try template.note(database, id == nil ? "template.create" : "template.update", change, now: now)
    return template
  }

  /// - Throws: `StoreError.notFound`.
  package static func delete(_ database: Database, id: Int64, by entry: NewAuditEntry, now: Date) throws {
    let template = try get(database, id: id)
    try database.run("DELETE FROM push_templates WHERE id = ?", id)
    try template.note(database, "template.delete", entry.changing(template.audited, to: nil), now: now)
  }

  private func note(_ database: Database, _ action: String, _ entry: NewAuditEntry, now: Date) throws {
    var entry = entry
    (entry.action, entry.subject) = (action, "template \(id)")
    try AuditEntry.add(database, entry, now: now)
  }

  private var audited: JSONValue { ["name": .string(name), "content": message.json] }

  package static func find(_ database: Database, id: Int64) throws -> PushTemplate? {
    try database.fetchOne("SELECT \(columns) FROM push_templates t WHERE t.id = ?", id) { try PushTemplate($0) }
  }

  package static let noun = "template"

  /// A page of templates, the first created first.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(_ database: Database, cursor: String? = nil, limit: Int) throws -> Page<PushTemplate> {
    let found = try database.fetchAll(
      "SELECT \(columns) FROM push_templates t WHERE t.id > ? ORDER BY t.id LIMIT ?", try position(cursor) ?? 0,
      limit + 1
    ) { try PushTemplate($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// Templates with a text in their name.
  package static func search(_ database: Database, _ text: String, limit: Int) throws -> [PushTemplate] {
    try database.fetchAll(
      "SELECT \(columns) FROM push_templates t WHERE t.name LIKE ? ESCAPE '\\' ORDER BY t.name LIMIT ?",
      anywhere(text), limit
    ) { try PushTemplate($0) }
  }

  package static func count(_ database: Database) throws -> Int {
    try database.int("SELECT count(*) FROM push_templates")
  }

  /// The body of a push whose `template` names what it says: with the template's content, filled in.
  ///
  /// - Throws: `Problems` by their paths; a body without `template` is returned as it is.
  package static func resolved(_ database: Database, _ body: JSONValue) throws -> JSONValue {
    guard var members = body.object, let asked = members.removeValue(forKey: "template") else { return body }
    let fields = JSONFields(["template": asked])
    var name = ""
    var values: [String: JSONValue] = [:]
    fields.object("template") { fields in
      name = fields.string("name", required: true, limit: .characters(nameLimit)) ?? ""
      values = fields.members("values") ?? [:]
    }
    try fields.finish()
    let found = try database.fetchOne("SELECT \(columns) FROM push_templates t WHERE t.name = ?", name) {
      try PushTemplate($0)
    }
    guard let found else { throw Problems([Problem("template.name", TemplateMessage.none, ["name": name])]) }
    let content: [String: JSONValue]
    do {
      content = try found.message.filled(values)
    } catch {
      throw Problems(error.all.map { $0.under("template") })
    }
    for (key, value) in content {
      guard let own = members[key] else {
        members[key] = value
        continue
      }
      // The options of this push override those of the template.
      guard key == "options", let own = own.object, let usual = value.object else {
        throw Problems([Problem(key, TemplateMessage.both)])
      }
      members[key] = .object(usual.merging(own) { $1 })
    }
    return .object(members)
  }
}

extension PushTemplate: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("name", name)
    json.member("content", message.json)
    json.array("places", message.places) { json, place in json.string(place) }
    json.member("created_by", createdBy)
    json.member("created_at", createdAt)
    json.member("changed_at", changedAt)
  }
}
