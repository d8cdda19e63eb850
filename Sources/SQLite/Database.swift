internal import CSQLite

/// One connection. Used by one thread at a time, which ``DatabasePool`` guarantees.
package final class Database {
  package enum Mode: Sendable {
    /// Creates the file if it is missing; every commit is synced to the disk.
    case readWrite
    /// The same, but leaves checkpoints to another program, which replicates the write-ahead log.
    case replicated
    /// Refuses every change, for queries of a database that others write.
    case reader
    /// For a file that must not be touched, such as a backup under inspection.
    case readOnly
    /// For the target file of a backup: no log beside it, synced at the end.
    case backup
  }

  /// How long to wait for another connection's lock, in milliseconds.
  static let busyTimeout = 5000

  package let path: String
  private let mode: Mode
  private(set) var handle: OpaquePointer?
  private var cache = StatementCache()
  private var depth = 0

  /// Opens a database with the settings below.
  ///
  /// SQLITE_OPEN_NOMUTEX: "the new database connection will use the multi-thread threading mode. This means that
  /// separate threads are allowed to use SQLite at the same time, as long as each thread is using a different database
  /// connection." (https://www.sqlite.org/c3ref/open.html) The pool's serial queue guarantees it.
  package init(path: String, mode: Mode = .readWrite) throws(SQLiteError) {
    self.path = path
    self.mode = mode
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    switch mode {
    case .readWrite, .replicated: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .reader, .backup: flags |= SQLITE_OPEN_READWRITE
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    }
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK else {
      // "Whether or not an error occurs when it is opened, resources … should be released" (the same page).
      let error = SQLiteError(connection: handle, sql: nil)
      sqlite3_close_v2(handle)
      handle = nil
      throw SQLiteError(error.extendedCode, "\(error.message): \(path)")
    }
    do { try configure(mode) } catch {
      close()
      // Name the file in place of the statement, which is only one of our settings.
      throw SQLiteError(error.extendedCode, "\(error.message): \(path)")
    }
  }

  deinit { close() }

  /// Finalizes all statements and closes the connection. Idempotent.
  package func close() {
    cache.removeAll()
    // close_v2: a statement in use keeps the connection until it is finalized.
    sqlite3_close_v2(handle)
    handle = nil
  }

  /// The row id of the connection's last INSERT.
  package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// How many rows the last INSERT, UPDATE or DELETE changed, without triggers.
  package var changes: Int { Int(sqlite3_changes64(handle)) }

  package var isInTransaction: Bool { handle != nil && sqlite3_get_autocommit(handle) == 0 }

  package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement(connection: connection(), sql: sql, persistent: true)
  }

  /// Lends a statement from the cache to `body`, then resets it and clears its bindings.
  package func withStatement<Result>(_ sql: String, _ body: (Statement) throws -> Result) throws -> Result {
    let statement = try cache.take(sql, connection: connection())
    defer {
      statement.reset()
      statement.clearBindings()
      statement.isLent = false
    }
    return try body(statement)
  }

  /// Runs `body` in a transaction, or in a savepoint of the transaction that is already open.
  ///
  /// - Throws: what `body` throws, after a rollback.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    // IMMEDIATE takes the write lock now: a transaction that read first could not upgrade once another had written.
    let nested = isInTransaction
    let name = "nested\(depth)"
    try execute(nested ? "SAVEPOINT \(name)" : "BEGIN IMMEDIATE")
    depth += 1
    defer { depth -= 1 }
    do {
      let result = try body()
      try execute(nested ? "RELEASE \(name)" : "COMMIT")
      return result
    } catch {
      // SQLite may have rolled back by itself (disk full, I/O error); the first error is the one to report.
      if isInTransaction {
        do {
          if nested { try execute("ROLLBACK TO \(name)") }
          try execute(nested ? "RELEASE \(name)" : "ROLLBACK")
        } catch let second as SQLiteError {
          throw SQLiteError(second.extendedCode, "\(second.message), while undoing after: \(error)", sql: second.sql)
        }
      }
      throw error
    }
  }

  /// Runs `body` with one consistent view of the database.
  func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
    // Deferred: the first query takes the view (https://www.sqlite.org/lang_transaction.html).
    try execute("BEGIN")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      if isInTransaction { try execute("ROLLBACK") }
      throw error
    }
  }

  /// Whether another program checkpoints the log.
  var leavesCheckpoints: Bool { mode == .replicated }

  func connection() throws(SQLiteError) -> OpaquePointer {
    guard let handle else { throw SQLiteError(.misuse, "the database was closed") }
    return handle
  }

  private func configure(_ mode: Mode) throws(SQLiteError) {
    // Double-quoted text is an error, not a string; the schema may not call functions with side effects; and no
    // statement may write to the file's internals (https://www.sqlite.org/c3ref/c_dbconfig_defensive.html).
    for verb in [SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_TRUSTED_SCHEMA] {
      _ = csqlite_config_flag(handle, verb, 0)
    }
    _ = csqlite_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    try script("PRAGMA busy_timeout = \(Self.busyTimeout)")
    // No mmap_size: for a mapped file the system reads the disk's read-ahead, here 8 MB, around each page. 14 rows from
    // a cold file took 90 ms that way and 3 without; warm, both are equally fast.
    switch mode {
    case .readWrite, .replicated:
      // FULL: "answered 202" means that the push will be sent, even after a power cut; in WAL mode NORMAL does not
      // guarantee that (https://www.sqlite.org/pragma.html#pragma_synchronous).
      try script(
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536;
        PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = 8192; PRAGMA temp_store = MEMORY
        """)
      // Zero deleted and overwritten data, also in freed pages, so that replaced secrets and keys do not remain in the
      // file. Not FAST, which leaves freed pages as they are: a long secret has pages of its own. Set explicitly,
      // because SQLite's builds differ (Debian's has it on). For every table, because calls around secrets alone could
      // be forgotten: a broadcast's results free nothing and cost the same (400 000 rows: 0.7 s of CPU with ON, FAST
      // and OFF); removing as many writes 46 MB instead of 43.
      // (https://www.sqlite.org/pragma.html#pragma_secure_delete)
      try script("PRAGMA secure_delete = ON")
      guard mode == .replicated else { break }
      // Frames that are checkpointed before they were copied would be missing in the replica
      // (https://litestream.io/tips/#disable-autocheckpoints-for-high-write-load-servers).
      try script("PRAGMA wal_autocheckpoint = 0")
      _ = csqlite_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    case .reader:
      try script(
        """
        PRAGMA query_only = ON; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY
        """)
      // Even the last connection, once it is closed: another program may replicate the log.
      _ = csqlite_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    case .readOnly: try script("PRAGMA query_only = ON")
    case .backup: try script("PRAGMA synchronous = FULL")
    }
  }
}
