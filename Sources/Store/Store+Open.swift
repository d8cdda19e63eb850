public import Foundation
internal import SQLite

extension Store {
  /// Opens a file, or creates it, and brings its schema up to date.
  ///
  /// - Throws: `SQLiteError`, or `MigrationError` if the file is another program's or a newer version's.
  public static func open(path: String, sealer: any Sealer, readers: Int = 4, now: Date) throws -> Store {
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
