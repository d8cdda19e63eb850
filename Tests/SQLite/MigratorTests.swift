import SQLite
import Testing

@Suite struct MigratorTests {
  private static let first = Migration(id: "1 apps", sql: "CREATE TABLE apps(id INTEGER PRIMARY KEY) STRICT")
  private static let second = Migration(id: "2 names") { database in
    try database.script("ALTER TABLE apps ADD COLUMN name TEXT; INSERT INTO apps(name) VALUES ('demo')")
  }

  private func migrator(_ steps: Migration...) -> Migrator { Migrator(applicationID: 0x5347, steps) }

  @Test("steps run once, in order, and later ones follow later")
  func order() throws {
    try withDatabase { database in
      try migrator(Self.first).migrate(database, at: 1000)
      try migrator(Self.first, Self.second).migrate(database, at: 2000)
      try migrator(Self.first, Self.second).migrate(database, at: 3000)
      #expect(try migrator(Self.first, Self.second).applied(database) == ["1 apps", "2 names"])
      let times = try database.fetchAll("SELECT applied_at FROM migrations ORDER BY position") { $0.int(0) }
      #expect(times == [1000, 2000])
      #expect(try database.int("SELECT count(*) FROM apps") == 1)
      #expect(try database.int("PRAGMA foreign_keys") == 1)
    }
  }

  @Test("a file of a newer version is refused and stays as it is")
  func newer() throws {
    try withDatabase { database in
      try migrator(Self.first, Self.second).migrate(database, at: 0)
      let expected = MigrationError.newer(path: ":memory:", unknown: ["2 names"])
      #expect(throws: expected) { try migrator(Self.first).migrate(database, at: 0) }
      #expect(expected.description.contains("newer version"))
    }
  }

  @Test("a file that does not begin with the first steps is refused and stays as it is")
  func unreleased() throws {
    try withDatabase { database in
      try migrator(Self.first, Self.second).migrate(database, at: 0)
      let third = Migration(id: "3 other", sql: "CREATE TABLE other(a)")
      for steps in [migrator(Self.second, Self.first), migrator(third), migrator(Self.first, third, Self.second)] {
        let error = #expect(throws: MigrationError.self) { try steps.migrate(database, at: 0) }
        #expect(error == .unreleased(path: ":memory:"))
      }
      #expect(try migrator(Self.first).applied(database) == ["1 apps", "2 names"])
      #expect(MigrationError.unreleased(path: "a").description.contains("start with a new data folder"))
    }
  }

  @Test("another program's file is refused", arguments: [0, 77])
  func foreign(id: Int) throws {
    try withDatabase { database in
      try database.script("PRAGMA application_id = \(id); CREATE TABLE theirs(a)")
      #expect(throws: MigrationError.foreign(path: ":memory:", applicationID: id)) {
        try migrator(Self.first).migrate(database, at: 0)
      }
    }
  }

  @Test("a step that fails leaves nothing of itself")
  func failing() throws {
    try withDatabase { database in
      let broken = Migration(id: "2 broken", sql: "CREATE TABLE half(a); CREATE TABLE apps(b)")
      do {
        try migrator(Self.first, broken).migrate(database, at: 0)
        Issue.record("it went through")
      } catch MigrationError.failed(let id, let cause) {
        #expect(id == "2 broken")
        #expect(cause.message == "table apps already exists")
      }
      #expect(try migrator(Self.first).applied(database) == ["1 apps"])
      #expect(try database.int("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
      #expect(try database.int("PRAGMA foreign_keys") == 1)
    }
  }

  @Test("a step that leaves dangling rows is undone")
  func dangling() throws {
    try withDatabase { database in
      let careless = Migration(
        id: "2 careless",
        sql: "CREATE TABLE child(app INTEGER REFERENCES apps(id)) STRICT; INSERT INTO child VALUES (9)")
      #expect(throws: MigrationError.danglingRows(id: "2 careless", table: "child")) {
        try migrator(Self.first, careless).migrate(database, at: 0)
      }
      let tables = try database.int("SELECT count(*) FROM sqlite_schema WHERE name = 'child'")
      #expect(tables == 0)
    }
  }

  @Test("two programs that start together migrate once")
  func together() async throws {
    try await withPool { first in
      let second = try DatabasePool(path: first.path, readers: 1)
      defer { second.close() }
      let migrator = migrator(Self.first, Self.second)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for pool in [first, second] { group.addTask { try pool.migrate(migrator, at: 0) } }
        try await group.waitForAll()
      }
      #expect(try first.readSync { try $0.int("SELECT count(*) FROM apps") } == 1)
    }
  }
}
