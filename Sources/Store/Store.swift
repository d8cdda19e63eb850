internal import Foundation
public import SQLite

/// Everything that Signalbox remembers: the database, and the key for what is secret in it.
///
/// Queries stand on the records (`App`, `Device`, `PushRecord`, …), take the `Database` of the surrounding transaction
/// and the time, and so compose: `try await store.write { try App.find($0, id: id) }`.
public struct Store: Sendable {
  /// The database.
  public let pool: DatabasePool
  /// Seals what may not stand readable in the file.
  public let sealer: any Sealer

  /// Takes an open database whose schema is up to date; ``open(path:sealer:readers:now:)`` makes one.
  public init(pool: DatabasePool, sealer: any Sealer) {
    self.pool = pool
    self.sealer = sealer
  }

  /// Runs `body` in one transaction on the writer; see `DatabasePool.write`.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await pool.write(body) }

  /// Runs `body` on a reader with one unchanging view; see `DatabasePool.read`.
  public func read<Result: Sendable>(
    limit: Duration? = nil, lane: DatabasePool.Lane = .requests,
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result { try await pool.read(limit: limit, lane: lane, body) }

  /// ``write(_:)`` for a thread that may wait.
  public func writeSync<Result>(_ body: (Database) throws -> Result) throws -> Result { try pool.writeSync(body) }

  /// ``read(limit:_:)`` for a thread that may wait.
  public func readSync<Result>(_ body: (Database) throws -> Result) throws -> Result { try pool.readSync(body) }

  /// Closes the database.
  public func close() { pool.close() }
}
