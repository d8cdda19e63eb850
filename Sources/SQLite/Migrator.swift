/// Brings a file's schema up to date. Steps are only ever appended.
package struct Migrator: Sendable {
  package let applicationID: Int32
  /// In the order in which they run.
  package let migrations: [Migration]

  /// - Precondition: the ids are unique.
  package init(applicationID: Int32, _ migrations: [Migration]) {
    precondition(Set(migrations.map(\.id)).count == migrations.count, "a migration's id is used twice")
    self.applicationID = applicationID
    self.migrations = migrations
  }

  /// The steps that a file has, in order; none for a file without our table.
  package func applied(_ database: Database) throws -> [String] {
    let tables = try database.int("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'")
    guard tables == 1 else { return [] }
    return try database.fetchAll("SELECT id FROM migrations ORDER BY position") { $0.text(0) }
  }

  /// Checks whether this program may use the file.
  ///
  /// - Returns: the steps still to be run.
  /// - Throws: `MigrationError.foreign`, `.newer`, `.unreleased`.
  package func pending(_ database: Database) throws -> ArraySlice<Migration> {
    let found = try database.int("PRAGMA application_id")
    let isEmpty = try database.int("SELECT count(*) FROM sqlite_schema") == 0
    guard found == Int(applicationID) || (found == 0 && isEmpty) else {
      throw MigrationError.foreign(path: database.path, applicationID: found)
    }
    let applied = try applied(database)
    // A newer version has other steps after ours, never before them.
    guard applied.isEmpty || applied[0] == migrations.first?.id else {
      throw MigrationError.unreleased(path: database.path)
    }
    let known = Set(migrations.map(\.id))
    let unknown = applied.filter { !known.contains($0) }
    guard unknown.isEmpty else { throw MigrationError.newer(path: database.path, unknown: unknown) }
    guard applied.elementsEqual(migrations.prefix(applied.count).map(\.id)) else {
      throw MigrationError.unreleased(path: database.path)
    }
    return migrations[applied.count...]
  }

  /// Runs the pending steps, each in a transaction of its own.
  ///
  /// The order of https://www.sqlite.org/lang_altertable.html §7: foreign keys off, change, check, commit, on again.
  ///
  /// - Parameter time: milliseconds since 1970, stored with the step.
  package func migrate(_ database: Database, at time: Int64) throws {
    while let step = try pending(database).first {
      try database.execute("PRAGMA foreign_keys = OFF")
      defer {
        // Cannot fail: no transaction is open, so it only sets a flag.
        _ = try? database.execute("PRAGMA foreign_keys = ON")
      }
      do {
        try database.transaction {
          // Another process may have run this step while we waited for the lock.
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

/// One step of the schema. Once released it never changes; a later step corrects it.
package struct Migration: Sendable {
  /// Unique, such as `2026-11-20 apps`.
  package let id: String
  let apply: @Sendable (Database) throws -> Void

  /// A step of SQL statements.
  package init(id: String, sql: String) {
    self.id = id
    apply = { database in try database.script(sql) }
  }

  /// A step in Swift. It must not use today's records, because they change and the step does not.
  package init(id: String, _ apply: @escaping @Sendable (Database) throws -> Void) {
    self.id = id
    self.apply = apply
  }
}

/// Why a schema could not be brought up to date.
package enum MigrationError: Error, Sendable, Hashable, CustomStringConvertible {
  case foreign(path: String, applicationID: Int)
  /// Written by a newer version of this program.
  case newer(path: String, unknown: [String])
  /// Made by a build that was never released: its first steps are not ours.
  case unreleased(path: String)
  /// A step failed; the file is unchanged.
  case failed(id: String, cause: SQLiteError)
  /// A step would leave rows that refer to nothing; the file is unchanged.
  case danglingRows(id: String, table: String)

  package var description: String {
    switch self {
    case .foreign(let path, let id):
      "\(path) is another program's database (application ID \(id)); choose another file"
    case .newer(let path, let unknown):
      "\(path) was written by a newer version (\(unknown.joined(separator: ", "))); use that version or restore a backup"
    case .unreleased(let path):
      "\(path) was made by a build from before the first release, and its tables cannot be converted; start with a new "
        + "data folder, or keep using the program that made the file"
    case .failed(let id, let cause): "the step \(id) failed: \(cause)"
    case .danglingRows(let id, let table): "the step \(id) left rows in \(table) that refer to nothing"
    }
  }
}
