/// Brings a file's schema from whatever it has to what this program knows. Steps are only ever added at the end.
public struct Migrator: Sendable {
  /// Marks the file as ours (https://www.sqlite.org/pragma.html#pragma_application_id).
  public let applicationID: Int32
  /// In the order in which they run.
  public let migrations: [Migration]

  /// - Precondition: no id twice.
  public init(applicationID: Int32, _ migrations: [Migration]) {
    precondition(Set(migrations.map(\.id)).count == migrations.count, "a migration's id is used twice")
    self.applicationID = applicationID
    self.migrations = migrations
  }

  /// The steps that a file has, in their order; none for a file without our table.
  public func applied(_ database: Database) throws -> [String] {
    let tables = try database.int("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'")
    guard tables == 1 else { return [] }
    return try database.fetchAll("SELECT id FROM migrations ORDER BY position") { $0.text(0) }
  }

  /// Sees whether the file is one that this program may work on.
  ///
  /// - Returns: the steps that are still to be done.
  /// - Throws: `MigrationError.foreign`, `.newer`, `.outOfOrder`.
  public func pending(_ database: Database) throws -> ArraySlice<Migration> {
    let found = try database.int("PRAGMA application_id")
    let isEmpty = try database.int("SELECT count(*) FROM sqlite_schema") == 0
    guard found == Int(applicationID) || (found == 0 && isEmpty) else {
      throw MigrationError.foreign(path: database.path, applicationID: found)
    }
    let applied = try applied(database)
    let known = Set(migrations.map(\.id))
    let unknown = applied.filter { !known.contains($0) }
    guard unknown.isEmpty else { throw MigrationError.newer(path: database.path, unknown: unknown) }
    for (step, id) in zip(migrations, applied) where step.id != id {
      throw MigrationError.outOfOrder(path: database.path, missing: step.id)
    }
    return migrations[applied.count...]
  }

  /// Runs the steps that are still to be done, each in a transaction of its own.
  ///
  /// The order of https://www.sqlite.org/lang_altertable.html §7: foreign keys off, change, check, commit, on again.
  ///
  /// - Parameter time: milliseconds since 1970, kept beside the step.
  public func migrate(_ database: Database, at time: Int64) throws {
    while let step = try pending(database).first {
      try database.execute("PRAGMA foreign_keys = OFF")
      defer {
        // It cannot fail: no transaction is open, and outside of one it only sets a flag.
        _ = try? database.execute("PRAGMA foreign_keys = ON")
      }
      do {
        try database.transaction {
          // Another process may have done this step while we waited for the lock.
          guard try pending(database).first?.id == step.id else { return }
          try run(step, database, time)
        }
      } catch let cause as SQLiteError {
        throw MigrationError.failed(id: step.id, cause: cause)
      }
    }
  }

  private func run(_ step: Migration, _ database: Database, _ time: Int64) throws {
    try database.execute("PRAGMA application_id = \(applicationID)")
    try database.script(
      """
      CREATE TABLE IF NOT EXISTS migrations(
        position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, applied_at INTEGER NOT NULL) STRICT
      """)
    try step.apply(database)
    let dangling = try database.fetchOne("PRAGMA foreign_key_check") { $0.text(0) }
    if let dangling { throw MigrationError.danglingRows(id: step.id, table: dangling) }
    try database.run("INSERT INTO migrations(id, applied_at) VALUES (?, ?)", step.id, time)
  }
}
