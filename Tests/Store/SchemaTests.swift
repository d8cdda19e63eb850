import Foundation
import SQLite
import Testing

@testable import Store

@Suite struct SchemaTests {
  @Test("every table is STRICT, and the file is marked as ours")
  func strict() throws {
    try withDatabase { database in
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
    try withDatabase { database in
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
    let folder = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
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
}
