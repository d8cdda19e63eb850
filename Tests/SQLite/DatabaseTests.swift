import Foundation
import SQLite
import Testing

@Suite struct DatabaseTests {
  private struct Stop: Error {}

  private func withTable(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.script("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT")
      try body(database)
    }
  }

  @Test("an error names code, message and SQL, and no bound value")
  func errors() throws {
    try withTable { database in
      try database.run("INSERT INTO t(name) VALUES (?)", "secret")
      let error = try #require(failure { try database.run("INSERT INTO t(name) VALUES (?)", "secret") })
      #expect(error.code == .constraint)
      #expect(error.extendedCode == .constraintUnique)
      #expect(error.isUniqueViolation)
      #expect(error.message == "UNIQUE constraint failed: t.name")
      #expect(error.sql == "INSERT INTO t(name) VALUES (?)")
      #expect(!error.description.contains("secret"))
      #expect(
        error.description == "SQLite 2067: UNIQUE constraint failed: t.name [INSERT INTO t(name) VALUES (?)]")
    }
  }

  @Test("the connection's settings prevent common mistakes")
  func settings() throws {
    try withTable { database in
      #expect(failure { try database.run("INSERT INTO t(name) VALUES (?)", 1 as Int?) } == nil)
      #expect(
        failure { try database.run("INSERT INTO t(name) VALUES (?)", [1] as [UInt8]) }?.extendedCode
          == .constraintDataType)
      #expect(failure { try database.execute("SELECT \"no such column\"") }?.code == .error)
      try database.script("CREATE TABLE child(t INTEGER NOT NULL REFERENCES t(id)) STRICT")
      #expect(failure { try database.execute("INSERT INTO child VALUES (99)") }?.extendedCode == .constraintForeignKey)
    }
  }

  @Test("a transaction that throws leaves nothing")
  func rollback() throws {
    try withTable { database in
      #expect(throws: Stop.self) {
        try database.transaction {
          try database.run("INSERT INTO t(name) VALUES (?)", "a")
          #expect(database.isInTransaction)
          throw Stop()
        }
      }
      #expect(!database.isInTransaction)
      let count = try database.int("SELECT count(*) FROM t")
      #expect(count == 0)
    }
  }

  @Test("a nested transaction that throws undoes itself alone")
  func savepoints() throws {
    try withTable { database in
      try database.transaction {
        try database.run("INSERT INTO t(name) VALUES (?)", "outer")
        #expect(throws: Stop.self) {
          try database.transaction {
            try database.run("INSERT INTO t(name) VALUES (?)", "inner")
            try database.transaction { _ = try database.run("INSERT INTO t(name) VALUES (?)", "innermost") }
            throw Stop()
          }
        }
        try database.transaction { _ = try database.run("INSERT INTO t(name) VALUES (?)", "second") }
      }
      #expect(try database.fetchAll("SELECT name FROM t ORDER BY id") { $0.text(0) } == ["outer", "second"])
    }
  }

  @Test("changes and the last id are told")
  func changes() throws {
    try withTable { database in
      let inserted = try database.execute("INSERT INTO t(id, name) VALUES (7, 'a'), (8, 'b')")
      #expect(inserted == 2)
      #expect(database.lastInsertedID == 8)
      #expect(try database.run("UPDATE t SET name = name || ? WHERE id = ?", "!", 8) == 1)
      #expect(try database.execute("DELETE FROM t WHERE id = 99") == 0)
    }
  }

  @Test("a failed statement can run again")
  func again() throws {
    try withTable { database in
      let insert = try database.prepare("INSERT INTO t(name) VALUES (?)")
      try insert.bind(1, "a")
      try insert.run()
      #expect(failure { try insert.run() }?.isUniqueViolation == true)
      try insert.bind(1, "b")
      try insert.run()
      #expect(try database.int("SELECT count(*) FROM t") == 2)
    }
  }

  @Test("a closed database says so")
  func closed() throws {
    try withDatabase { database in
      database.close()
      database.close()
      #expect(failure { try database.execute("SELECT 1") }?.code == .misuse)
      #expect(failure { try database.script("SELECT 1") }?.code == .misuse)
    }
  }

  @Test("a file that is no database and a missing folder are refused")
  func strangeFiles() async throws {
    try await withFolder { folder in
      try "this is a text, and a long one, so that SQLite reads a whole header of it: no database at all............"
        .write(toFile: folder + "/text", atomically: true, encoding: .utf8)
      #expect(failure { _ = try DatabasePool(path: folder + "/text") }?.code == .notADatabase)
      #expect(failure { _ = try DatabasePool(path: folder + "/none/file") }?.code == .cannotOpen)
      #expect(failure { _ = try Database(path: folder + "/none", mode: .readOnly) }?.code == .cannotOpen)
    }
  }

  @Test("a damaged file is found out")
  func damage() async throws {
    try await withFolder { folder in
      let path = folder + "/test.sqlite"
      let database = try Database(path: path)
      try database.script("CREATE TABLE t(a TEXT) STRICT")
      try database.transaction {
        for number in 0..<2000 { try database.run("INSERT INTO t VALUES (?)", "row \(number) with some length") }
      }
      #expect(try database.integrityCheck() == [])
      database.close()
      var bytes = try Data(contentsOf: URL(filePath: path))
      for offset in 8192..<12288 { bytes[offset] = 0x55 }
      try bytes.write(to: URL(filePath: path))
      let damaged = try Database(path: path, mode: .readOnly)
      defer { damaged.close() }
      #expect(try !damaged.integrityCheck().isEmpty)
    }
  }

  @Test("rows that refer to nothing are found out")
  func dangling() throws {
    try withTable { database in
      try database.script(
        """
        CREATE TABLE child(t INTEGER REFERENCES t(id)) STRICT;
        PRAGMA foreign_keys = OFF; INSERT INTO child VALUES (5)
        """)
      #expect(try database.integrityCheck() == ["table child, row 1: no such row in t"])
    }
  }
}

extension SQLiteError.Code {
  /// SQLITE_CONSTRAINT; the extended codes are more specific.
  fileprivate static let constraint = SQLiteError.Code(rawValue: 19)
  fileprivate static let constraintForeignKey = SQLiteError.Code(rawValue: 19 | 3 << 8)
  /// SQLITE_CONSTRAINT_DATATYPE: a STRICT table rejected the type.
  fileprivate static let constraintDataType = SQLiteError.Code(rawValue: 19 | 12 << 8)
}
