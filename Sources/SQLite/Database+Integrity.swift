internal import CSQLite

extension Database {
  package struct Checkpoint: Sendable, Hashable {
    /// Pages in the write-ahead log.
    package let logged: Int
    /// How many of them are in the database file now.
    package let moved: Int
    /// A reader or writer prevented a complete checkpoint.
    package let isPartial: Bool
  }

  /// Checks the whole file: structure, indexes, foreign keys. Slow for a large one.
  ///
  /// - Returns: one sentence for each fault, at most `limit`; none if the file is sound.
  package func integrityCheck(limit: Int = 100) throws -> [String] {
    var faults: [String]
    do {
      faults = try fetchAll("PRAGMA integrity_check(\(limit))") { $0.text(0) }
    } catch let error as SQLiteError where error.code == .corrupt {
      // Some damage makes the check itself fail.
      return [error.message]
    }
    if faults == ["ok"] { faults = [] }
    guard faults.isEmpty else { return faults }
    try forEach("PRAGMA foreign_key_check") { row in
      faults.append("table \(row.text(0)), row \(row.int64(1)): no such row in \(row.text(2))")
      return faults.count < limit ? .continue : .stop
    }
    return faults
  }

  /// Rewrites the whole file without freed content, and empties the log. Takes as long as copying the file, and
  /// temporarily as much space beside the file and in the folder for temporary files.
  ///
  /// - Throws: `SQLiteError`, `.full` if there is no space; then the file is unchanged.
  package func vacuum() throws {
    // In memory it would need as much as the whole file.
    try script("PRAGMA temp_store = FILE")
    defer { try? script("PRAGMA temp_store = MEMORY") }  // a failure costs only speed
    try script("VACUUM")
    try checkpoint(waiting: true)
  }

  /// Checkpoints and truncates the write-ahead log unless there are readers; does not wait.
  ///
  /// Until then, the log still contains deleted data.
  @discardableResult
  func emptyLogIfIdle() throws -> Checkpoint {
    try script("PRAGMA busy_timeout = 0")
    defer { try? script("PRAGMA busy_timeout = \(Self.busyTimeout)") }  // a failure only shortens the next wait
    return try checkpoint(waiting: true)
  }

  /// Checkpoints and leaves WAL mode, so that the file alone is the database. The next ``init(path:mode:)`` for writing
  /// enters it again.
  ///
  /// - Returns: false if another connection has it open.
  package func leaveLog() throws -> Bool {
    try fetchOne("PRAGMA journal_mode = DELETE") { $0.text(0) } == "delete"
  }

  /// Checkpoints and truncates the write-ahead log; does nothing in the mode `replicated`.
  ///
  /// - Parameter waiting: whether to wait for readers, up to the busy time-out.
  @discardableResult
  package func checkpoint(waiting: Bool = false) throws(SQLiteError) -> Checkpoint {
    guard !leavesCheckpoints else { return Checkpoint(logged: 0, moved: 0, isPartial: false) }
    let connection = try connection()
    var logged: Int32 = 0
    var moved: Int32 = 0
    let mode = waiting ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    let code = sqlite3_wal_checkpoint_v2(connection, nil, mode, &logged, &moved)
    guard code == SQLITE_OK || code == SQLITE_BUSY else { throw SQLiteError(connection: connection, sql: nil) }
    return Checkpoint(logged: Int(logged), moved: Int(moved), isPartial: code == SQLITE_BUSY || moved < logged)
  }
}
