package import Foundation
import JSON
package import Model
package import SQLite

/// A saved push with the answers that are expected.
package struct SmokeTest: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  package let appID: Int64
  /// Unique, without regard to case.
  package let name: String
  /// The API's JSON of the push.
  package let draftJSON: String
  package let expected: SmokeExpectation
  package let createdBy: String
  package let createdAt: Date
  package let changedAt: Date

  /// Characters of a name.
  package static let nameLimit = 80

  /// Nil: another version wrote it.
  package var draft: PushDraft? {
    // Nil says that it cannot be read.
    (try? JSONValue(parsing: Array(draftJSON.utf8))).flatMap { try? PushDraft(json: $0) }
  }

  /// In the activity log.
  package var subject: String { "smoke_test \(id)" }

  fileprivate static let columns =
    "t.id, t.app_id, t.name, t.draft, t.expected, t.created_by, t.created_at, t.changed_at"

  fileprivate init(_ row: borrowing Row) throws {
    (id, appID, name, draftJSON) = (row.int64(0), row.int64(1), row.text(2), row.text(3))
    expected = try Self.expectation(row.text(4))
    (createdBy, createdAt, changedAt) = (row.text(5), row.date(6), row.date(7))
  }

  static func expectation(_ text: String) throws -> SmokeExpectation {
    do {
      return try SmokeExpectation(json: try JSONValue(parsing: Array(text.utf8)))
    } catch {
      throw StoreError.unreadable(column: "smoke_tests.expected", value: text)
    }
  }
}

/// What a smoke test is created with, or changed to.
package struct SmokeTestContent: Sendable {
  package var name: String
  package var draft: PushDraft
  package var expected: SmokeExpectation

  package init(name: String, draft: PushDraft, expected: SmokeExpectation) {
    (self.name, self.draft, self.expected) = (name, draft, expected)
  }

  /// - Throws: `Problems` if the app is not there, or a smoke test cannot send such a push.
  fileprivate func app(_ database: Database) throws -> App {
    if let problem = SmokeExpectation.problem(with: draft) { throw Problems([problem.under("push")]) }
    guard let app = try App.find(database, bundleID: draft.app) else {
      throw Problems([Problem("push.app", DraftMessage.noApp, ["app": draft.app])])
    }
    return app
  }
}

extension SmokeTest {
  /// - Throws: `Problems`, also if the name is taken.
  package static func create(
    _ database: Database, _ content: SmokeTestContent, by entry: NewAuditEntry, now: Date
  ) throws -> SmokeTest {
    let app = try content.app(database)
    try naming {
      try database.run(
        """
        INSERT INTO smoke_tests(app_id, name, draft, expected, created_by, created_at, changed_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
        """, app.id, content.name, content.draft.json.text(), content.expected.json.text(), entry.actor, now)
    }
    let test = try get(database, id: database.lastInsertedID)
    try test.note(database, "smoke_test.create", entry.changing(nil, to: test.audited), now: now)
    return test
  }

  /// - Throws: `Problems`, also if the name is taken; `StoreError.notFound`.
  package static func update(
    _ database: Database, id: Int64, _ content: SmokeTestContent, by entry: NewAuditEntry, now: Date
  ) throws -> SmokeTest {
    let app = try content.app(database)
    let before = try find(database, id: id)
    try naming {
      try database.run(
        "UPDATE smoke_tests SET app_id = ?, name = ?, draft = ?, expected = ?, changed_at = ? WHERE id = ?", app.id,
        content.name, content.draft.json.text(), content.expected.json.text(), now, id)
    }
    let test = try get(database, id: id)
    try test.note(database, "smoke_test.update", entry.changing(before?.audited, to: test.audited), now: now)
    return test
  }

  /// Deletes a test with its runs; their pushes stay.
  ///
  /// - Throws: `StoreError.notFound`.
  package static func delete(_ database: Database, id: Int64, by entry: NewAuditEntry, now: Date) throws {
    let test = try get(database, id: id)
    try database.run("DELETE FROM smoke_tests WHERE id = ?", id)
    try test.note(database, "smoke_test.delete", entry.changing(test.audited, to: nil), now: now)
  }

  func note(_ database: Database, _ action: String, _ entry: NewAuditEntry, now: Date) throws {
    var entry = entry
    (entry.action, entry.subject) = (action, subject)
    if entry.detail == nil { entry.detail = ["name": .string(name)] }
    try AuditEntry.add(database, entry, now: now)
  }

  /// Without the push, which may name people's devices.
  private var audited: JSONValue {
    [
      "name": .string(name), "environment": .optional(draft?.environment.rawValue),
      "expected": .string(expected.others), "devices": .number(expected.devices.count),
    ]
  }

  private static func naming(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SQLiteError where error.isUniqueViolation {
      throw Problems([Problem("name", SmokeMessage.taken)])
    }
  }

  package static func find(_ database: Database, id: Int64) throws -> SmokeTest? {
    try database.fetchOne("SELECT \(columns) FROM smoke_tests t WHERE t.id = ?", id) { try SmokeTest($0) }
  }

  package static let noun = "smoke test"

  /// A page of tests, the first created first; nil: of any app.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, app: Int64? = nil, cursor: String? = nil, limit: Int
  ) throws -> Page<SmokeTest> {
    let found = try database.fetchAll(
      "SELECT \(columns) FROM smoke_tests t WHERE t.id > ?1 AND (?2 IS NULL OR t.app_id = ?2) ORDER BY t.id LIMIT ?3",
      try position(cursor) ?? 0, app, limit + 1
    ) { try SmokeTest($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// Tests of any app with a text in their name.
  package static func search(_ database: Database, _ text: String, limit: Int) throws -> [SmokeTest] {
    try database.fetchAll(
      "SELECT \(columns) FROM smoke_tests t WHERE t.name LIKE ? ESCAPE '\\' ORDER BY t.name LIMIT ?", anywhere(text),
      limit
    ) { try SmokeTest($0) }
  }

  /// Tests whose last run failed, the first created first.
  package static func red(_ database: Database) throws -> [SmokeTest] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM smoke_tests t WHERE (
        SELECT r.state FROM smoke_runs r WHERE r.test_id = t.id AND r.state <> 'running' ORDER BY r.id DESC LIMIT 1
      ) = 'failed' ORDER BY t.id
      """
    ) { try SmokeTest($0) }
  }
}
