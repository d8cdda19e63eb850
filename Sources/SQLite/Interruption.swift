internal import CSQLite
internal import Synchronization

/// Stops a query that is no longer wanted: its task was cancelled, or its time is up.
final class Interruption: Sendable {
  private let cancelled = Atomic(false)
  private let deadline: ContinuousClock.Instant?

  init(limit: Duration?) { deadline = limit.map { .now + $0 } }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  private var isDue: Bool {
    if isCancelled { return true }
    guard let deadline else { return false }
    return ContinuousClock.now >= deadline
  }

  /// Watches over `body` on a connection.
  func watch<Result>(_ database: Database, _ body: () throws -> Result) throws -> Result {
    let connection = try database.connection()
    // Every 10 000 steps of the virtual machine: about a millisecond.
    sqlite3_progress_handler(
      connection, 10_000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().isDue ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { sqlite3_progress_handler(connection, 0, nil, nil) }
    do {
      if isCancelled { throw CancellationError() }
      return try withExtendedLifetime(self) { try body() }
    } catch let error as SQLiteError where error.code == .interrupt {
      if isCancelled { throw CancellationError() }
      throw SQLiteError(error.extendedCode, "the query exceeded its time limit", sql: error.sql)
    }
  }
}
