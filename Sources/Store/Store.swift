package import Foundation
package import SQLite

/// Everything that Signalbox remembers: the database, and the key for what is secret in it.
///
/// Queries stand on the records (`App`, `Device`, `Push`, …), take the `Database` of the surrounding transaction
/// and the time, and so compose: `try await store.write { try App.find($0, id: id) }`.
package struct Store: Sendable {
  /// The database.
  package let pool: DatabasePool
  /// Seals what may not stand readable in the file.
  package let sealer: any Sealer
  let access = AccessCache()

  /// Takes an open database whose schema is up to date; ``open(path:sealer:readers:now:)`` makes one.
  package init(pool: DatabasePool, sealer: any Sealer) {
    self.pool = pool
    self.sealer = sealer
  }

  /// Runs `body` in one transaction on the writer; see `DatabasePool.write`.
  package func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await pool.write(body) }

  /// Runs `body` on a reader with one unchanging view; see `DatabasePool.read`.
  package func read<Result: Sendable>(
    limit: Duration? = nil, lane: DatabasePool.Lane = .requests,
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await pool.read(limit: limit, lane: lane, body) }

  /// ``read(limit:lane:_:)`` for a row that is found by its key: on the thread that calls, if a reader is free.
  package func readRow<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result
  {
    if let result = try pool.readAtOnce(body) { return result }
    return try await pool.read(body)
  }

  /// ``write(_:)`` for a thread that may wait.
  package func writeSync<Result>(_ body: (Database) throws -> Result) throws -> Result { try pool.writeSync(body) }

  /// ``read(limit:_:)`` for a thread that may wait.
  package func readSync<Result>(_ body: (Database) throws -> Result) throws -> Result { try pool.readSync(body) }

  /// Tells states of the database apart without a query; see `DatabasePool.ChangeMark`.
  package var changeMark: DatabasePool.ChangeMark? { pool.changeMark }

  /// Closes the database.
  package func close() { pool.close() }
}

extension Store {
  /// Opens a file, or creates it, and brings its schema up to date.
  ///
  /// - Throws: `SQLiteError`, or `MigrationError` if the file is another program's, a newer version's, or older than the first
  ///   release.
  package static func open(path: String, sealer: any Sealer, readers: Int = 4, now: Date) throws -> Store {
    let pool = try DatabasePool(path: path, readers: readers)
    do {
      try pool.migrate(Schema.migrator, at: now.milliseconds)
    } catch {
      pool.close()
      throw error
    }
    return Store(pool: pool, sealer: sealer)
  }
}
