import Foundation
import SQLite

/// A folder of its own for each test, gone afterwards on every path.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appending(path: "sqlite-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  return try await body(folder)
}

/// A pool on a fresh file, closed afterwards.
func withPool<Result>(readers: Int = 2, _ body: (DatabasePool) async throws -> Result) async throws -> Result {
  try await withFolder { folder in
    let pool = try DatabasePool(path: folder + "/test.sqlite", readers: readers)
    defer { pool.close() }
    return try await body(pool)
  }
}

/// One connection in memory.
func withDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
  let database = try Database(path: ":memory:")
  defer { database.close() }
  return try body(database)
}

/// The error that `body` throws, nil if it throws none or another one.
func failure(_ body: () throws -> Void) -> SQLiteError? {
  do {
    try body()
    return nil
  } catch {
    return error as? SQLiteError
  }
}
