package import Foundation
package import SQLite

/// The database, and the key for its secrets.
///
/// Queries are methods of the records (`App`, `Device`, `Push`, …). They take the surrounding transaction's `Database`
/// and the time, so that they compose: `try await store.write { try App.find($0, id: id) }`.
package struct Store: Sendable {
  package let pool: DatabasePool
  /// Seals secrets.
  package let sealer: any Sealer
  let access = AccessCache()
  let results = ResultCache()
  package let times = ServiceTimes()

  /// Takes an open database with a current schema; ``open(path:sealer:readers:isReplicated:now:)`` creates one.
  package init(pool: DatabasePool, sealer: any Sealer) { (self.pool, self.sealer) = (pool, sealer) }

  /// See `DatabasePool.write`.
  package func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    let began = ContinuousClock.now
    defer { times.note(.database(isWrite: true), .now - began) }
    return try await pool.write(body)
  }

  /// See `DatabasePool.read`.
  package func read<Result: Sendable>(
    limit: Duration? = nil, lane: DatabasePool.Lane = .requests,
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    let began = ContinuousClock.now
    defer { times.note(.database(isWrite: false), .now - began) }
    return try await pool.read(limit: limit, lane: lane, body)
  }

  /// ``write(_:)`` for a thread that may block.
  package func writeSync<Result>(_ body: (Database) throws -> Result) throws -> Result { try pool.writeSync(body) }

  /// ``read(limit:_:)`` for a thread that may block.
  package func readSync<Result>(_ body: (Database) throws -> Result) throws -> Result { try pool.readSync(body) }

  /// Identifies a state of the database without a query; see `DatabasePool.ChangeMark`.
  package var changeMark: DatabasePool.ChangeMark? { pool.changeMark }

  package func close() { pool.close() }
}

extension Store {
  /// Opens or creates a file, and migrates its schema.
  ///
  /// - Parameter isReplicated: see `DatabasePool`.
  /// - Throws: `SQLiteError`, or `MigrationError` if the file is another program's, a newer version's, or older than
  /// the first release.
  package static func open(
    path: String, sealer: any Sealer, readers: Int = 4, isReplicated: Bool = false, now: Date
  ) throws -> Store {
    let pool = try DatabasePool(path: path, readers: readers, isReplicated: isReplicated)
    do {
      try pool.migrate(Schema.migrator, at: now.milliseconds)
    } catch {
      pool.close()
      throw error
    }
    return Store(pool: pool, sealer: sealer)
  }
}

/// A record that has an ID.
package protocol StoredRecord {
  /// Its name in an error's sentence.
  static var noun: String { get }
  static func find(_ database: Database, id: Int64) throws -> Self?
}

extension StoredRecord {
  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, id: Int64) throws -> Self {
    guard let found = try find(database, id: id) else { throw StoreError.notFound(noun: noun, id: "\(id)") }
    return found
  }
}
