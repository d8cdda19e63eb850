import Foundation
import Model
import SQLite
import TestSupport
import Testing

@testable import Store

@Suite struct SchemaTests {
  /// A database in memory, in which every step runs; other tests copy one.
  private func withNewDatabase(_ body: (Database) throws -> Void) throws {
    let database = try Database(path: ":memory:")
    defer { database.close() }
    try Schema.migrator.migrate(database, at: noon.milliseconds)
    try body(database)
  }

  @Test("the database with which other tests begin is as the steps make it, and has the same settings")
  func copied() throws {
    func content(_ database: Database) throws -> [String] {
      let settings = try ["cache_size", "secure_delete", "foreign_keys", "temp_store"].map {
        "\($0) \(try database.int("PRAGMA \($0)"))"
      }
      let objects = "SELECT name || coalesce(sql, '') FROM sqlite_schema ORDER BY rowid"
      return try settings + Schema.migrator.applied(database) + database.fetchAll(objects) { $0.text(0) }
    }
    var (made, copied): ([String], [String]) = ([], [])
    try withNewDatabase { made = try content($0) }
    try withDatabase { copied = try content($0) + $0.integrityCheck() }
    #expect(copied == made)
  }

  @Test("every table is STRICT, and the file is marked as ours")
  func strict() throws {
    try withNewDatabase { database in
      let loose = try database.fetchAll(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0 AND name NOT LIKE 'sqlite_%'"
      ) { $0.text(0) }
      #expect(loose == [])
      #expect(try database.int("PRAGMA application_id") == 0x5347_4258)
      #expect(try database.integrityCheck() == [])
    }
  }

  @Test("each foreign key has an index, so that removing a parent does not look at every child")
  func foreignKeys() throws {
    try withNewDatabase { database in
      let missing = try database.fetchAll(
        """
        SELECT t.name || '.' || f."from" FROM pragma_table_list t, pragma_foreign_key_list(t.name) f
        WHERE t.schema = 'main' AND f.seq = 0 AND NOT EXISTS (
          SELECT 1 FROM pragma_index_list(t.name) i, pragma_index_info(i.name) c
          WHERE c.seqno = 0 AND c.name = f."from")
        -- The row id itself is an index of its own that no list shows.
        AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) k
          WHERE k.name = f."from" AND k.pk = 1 AND k.type = 'INTEGER')
        """.replacingOccurrences(of: "f.\"from\"", with: "f.[from]")
      ) { $0.text(0) }
      #expect(missing == [])
    }
  }

  @Test("a store opens twice, and refuses a newer file")
  func open() async throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/signalbox.sqlite"
    let first = try Store.open(path: path, sealer: TestSealer(), now: noon)
    try await first.write { _ = try App.add($0, bundleID: "com.example.shop", name: "Shop", now: noon) }
    first.close()
    let second = try Store.open(path: path, sealer: TestSealer(), readers: 1, now: noon)
    #expect(try await second.read { try App.all($0).map(\.bundleID) } == ["com.example.shop"])
    try second.writeSync { _ = try $0.run("INSERT INTO migrations(id, applied_at) VALUES ('2999 later', 0)") }
    second.close()
    #expect(throws: MigrationError.newer(path: path, unknown: ["2999 later"])) {
      try Store.open(path: path, sealer: TestSealer(), now: noon)
    }
  }

  private static func fixture(_ name: String) throws -> String {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: folder.appending(path: "Fixtures/\(name)"), encoding: .utf8)
  }

  /// Makes a database of the last build before the first release in an empty folder.
  private func withFormerBuild(_ body: (String) throws -> Void) throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
    let database = try Database(path: folder + "/signalbox.sqlite")
    defer { database.close() }
    try database.script(try Self.fixture("before-first-release.sql"))
    try body(database.path)
  }

  @Test("a database from before the first release is refused with what to do, and stays as it is")
  func formerBuild() throws {
    try withFormerBuild { path in
      let error = #expect(throws: MigrationError.self) {
        try Store.open(path: path, sealer: TestSealer(), now: noon)
      }
      #expect(error == .unreleased(path: path))
      #expect(error?.description.contains("start with a new data folder") == true)
      let database = try Database(path: path, mode: .reader)
      defer { database.close() }
      #expect(try database.fetchAll("SELECT bundle_id FROM apps") { $0.text(0) } == ["com.example.shop"])
      #expect(try database.int("SELECT count(*) FROM migrations") == 19)
    }
  }

  @Test("the first step never changes: it makes the tables of the build before the first release")
  func firstStep() throws {
    func objects(_ database: Database) throws -> [String] {
      try database.fetchAll("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name") { row in
        let sql = row.text(2).replacing(#/--[^\n]*/#, with: "").replacing(#/\s+/#, with: " ")
        return "\(row.text(0)) \(row.text(1)) " + sql.replacing(#/ ?([(),]) ?/#) { $0.1 }
      }
    }
    try withFormerBuild { path in
      let former = try Database(path: path, mode: .reader)
      defer { former.close() }
      let before = try objects(former)
      #expect(before.count == 121)
      let database = try Database(path: ":memory:")
      defer { database.close() }
      try Migrator(applicationID: Schema.applicationID, [Schema.firstRelease]).migrate(database, at: 0)
      #expect(try objects(database) == before)
    }
  }

  /// The columns of all tables, and the names of indexes and triggers.
  private func shape(_ database: Database) throws -> [String] {
    try database.fetchAll(
      """
      SELECT t.name || ' ' || c.name || ' ' || c.type || c.[notnull] || c.pk || ifnull(c.dflt_value, '')
      FROM pragma_table_list t, pragma_table_xinfo(t.name) c
      WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'
      UNION ALL SELECT type || ' ' || name FROM sqlite_schema WHERE type <> 'table' AND name NOT LIKE 'sqlite_%'
      ORDER BY 1
      """
    ) { $0.text(0) }
  }

  /// The number of rows of each table.
  private func rows(_ database: Database) throws -> [String: Int] {
    let tables = try database.fetchAll(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'migrations'"
    ) { $0.text(0) }
    return Dictionary(
      uniqueKeysWithValues: try tables.map { table in (table, try database.int("SELECT count(*) FROM \(table)")) })
  }

  @Test("an installation of the first release is brought up to date, with everything in it")
  func upgrade() throws {
    try withFormerBuild { path in
      let database = try Database(path: path)
      defer { database.close() }
      // The tables are those of the first release (see above), but other steps made them.
      try database.script("DELETE FROM apps; DELETE FROM migrations;")
      try database.run("INSERT INTO migrations(id, applied_at) VALUES (?, 0)", Schema.firstRelease.id)
      try database.script(try Self.fixture("first-release-rows.sql"))
      let before = try rows(database)
      #expect(before.values.count { $0 > 0 } >= 30)
      try Schema.migrator.migrate(database, at: noon.milliseconds)
      let after = try rows(database)
      for (table, count) in before { #expect(after[table] == count, "\(table)") }
      #expect(try database.integrityCheck() == [])
      let (found, wanted) = (try shape(database), try freshShape())
      #expect(found == wanted)

      let log = try AuditChain.check(database)
      #expect(log.entries == 3 && log.faults.isEmpty)
      let phone = try Device.get(database, id: 1)
      #expect(phone.alias == "usr_1" && phone.tags == ["vip"] && phone.state == .active)
      #expect(try Push.find(database, uid: "p2")?.state == .queued)
      #expect(try User.find(database, name: "anna@example.com")?.role == .admin)
      #expect(try database.fetchAll("SELECT name FROM audience_uses") { $0.text(0) } == ["vip"])
    }
  }

  @Test(
    "a push of an earlier version gets the kind that its draft has",
    arguments: [
      (#"{"notification":{"body":"Hi"}}"#, "alert"),
      (#"{"notification":{"content_available":true}}"#, "background"),
      (#"{"notification":{"content_available":true,"badge":3}}"#, "alert"),
      (#"{"notification":{"content_available":true,"title":"x"}}"#, "alert"),
      (#"{"notification":{"extras":{"a":1}},"platforms":["android"]}"#, "background"),
      (#"{"notification":{"extras":{"a":1}},"platforms":["ios","android"]}"#, "alert"),
      (#"{"notification":{},"android":{"notification":{"title":"x"}},"platforms":["android"]}"#, "alert"),
      (#"{"notification":{"extras":{"mdm":"x"}}}"#, "mdm"),
      (#"{"apns":{"payload":{"mdm":"x"}},"notification":{}}"#, "mdm"),
      (#"{"apns":{"payload":{"aps":{"content-available":1}}},"notification":{}}"#, "background"),
      (#"{"apns":{"payload":{"aps":{"content-available":true,"alert":{},"sound":""}}}}"#, "background"),
      (#"{"apns":{"payload":{"aps":{"content-available":1,"alert":"x"}}},"notification":{}}"#, "alert"),
      (#"{"apns":{"payload":{"aps":{"content-state":{}}}},"notification":{}}"#, "liveactivity"),
      (#"{"audience":{"channel":"dHN0"},"notification":{}}"#, "liveactivity"),
      (#"{"apns":{"headers":{"apns-push-type":"voip"}},"options":{"push_type":"alert"},"notification":{}}"#, "voip"),
      (#"{"notification":{"body":"x"},"options":{"push_type":"background"}}"#, "background"),
      (#"{"notification":{"body":"x"},"options":{"push_type":"from a later version"}}"#, "alert"),
      ("no JSON", "alert"),
    ])
  func pushTypes(draft: String, type: String) throws {
    let database = try Database(path: ":memory:")
    defer { database.close() }
    let steps = Schema.migrator.migrations
    let before = try #require(steps.firstIndex { $0.id == Schema.pushTypes.id })
    try Migrator(applicationID: Schema.applicationID, Array(steps[..<before])).migrate(database, at: 0)
    try database.run("INSERT INTO apps(id, bundle_id, name, created_at) VALUES (1, 'com.example.shop', 'Shop', 0)")
    try database.run(
      """
      INSERT INTO pushes(uid, seed, app_id, environment, draft, search, state, source, created_by, created_at)
      VALUES ('p', 1, 1, 'production', ?, '', 'finished', 'api', 'x', 1)
      """, draft)
    try Schema.migrator.migrate(database, at: 1)
    #expect(try database.fetchAll("SELECT push_type FROM pushes") { $0.text(0) } == [type])
  }

  private func freshShape() throws -> [String] {
    var found: [String] = []
    try withDatabase { found = try shape($0) }
    return found
  }

  @Test("a later step brings a file that is in use up to date")
  func laterStep() throws {
    try withNewDatabase { database in
      _ = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      let later = Migration(id: "2999 later", sql: "ALTER TABLE apps ADD COLUMN note TEXT NOT NULL DEFAULT 'none'")
      let next = Migrator(applicationID: Schema.applicationID, Schema.migrator.migrations + [later])
      #expect(try next.pending(database).map(\.id) == ["2999 later"])
      try next.migrate(database, at: 1)
      #expect(try database.fetchAll("SELECT bundle_id, note FROM apps") { $0.text(1) } == ["none"])
      #expect(try next.pending(database).isEmpty)
    }
  }
}
