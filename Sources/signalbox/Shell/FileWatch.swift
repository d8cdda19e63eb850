import Logging
import SQLite

/// Says within a second that the database's files were replaced or removed under the server. Nothing can be kept of it:
/// an incident would be written to the files that are gone.
struct FileWatch: Sendable {
  private let pool: DatabasePool
  private let log: Logger
  private var told: SQLiteError?

  init(_ pool: DatabasePool, log: Logger) { (self.pool, self.log) = (pool, log) }

  /// - Throws: `CancellationError`.
  consuming func run() async throws {
    while true {
      look()
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// Says what has changed since the last look.
  mutating func look() {
    let loss = pool.lostFiles
    guard loss != told else { return }
    told = loss
    if let loss {
      log.error("the database's files were replaced or removed; nothing is saved", ["error": "\(loss.cause)"])
    } else {
      log.notice("the database's files are back")
    }
  }
}
