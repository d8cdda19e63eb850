internal import CSQLite
internal import Glibc
internal import Synchronization

extension DatabasePool {
  package struct BackupProgress: Sendable, Hashable {
    package let done: Int
    package let total: Int
  }

  /// Copies a consistent state of the whole database while reads and writes continue. Blocks its thread.
  ///
  /// The copy appears complete or not at all: it is written beside its place, checked, synced, and then renamed.
  /// Meanwhile the write-ahead log grows.
  ///
  /// - Parameters:
  ///   - destination: must not exist.
  ///   - number: what ``backupNumber(_:)`` tells of the copy; nil: what it tells of the original.
  ///   - step: pages (4 KiB) at a time.
  ///   - progress: called after each step; throwing stops the backup.
  /// - Throws: `SQLiteError`, or what `progress` throws.
  package func backup(
    to destination: String, number: Int32? = nil, step: Int = 1024, progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    guard access(destination, F_OK) != 0 else {
      throw SQLiteError(.cannotOpen, "the file already exists and a backup does not overwrite it: \(destination)")
    }
    let partial = destination + ".partial"
    unlink(partial)
    try FileSystem.prepare(partial)
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(partial + suffix) } }
    try copy(to: partial, number: number, step: step, progress)
    // link, not rename, because it refuses to replace a file that appeared meanwhile.
    guard link(partial, destination) == 0 else {
      throw SQLiteError(.cannotOpen, "\(String(cString: strerror(errno))): \(destination)")
    }
  }

  /// The number that a backup was given: the user version in the header of the file
  /// (https://www.sqlite.org/fileformat.html §1.3.15), which nothing else uses. Nil if the file cannot be read.
  package static func backupNumber(_ path: String) -> Int32? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: 4)
    guard pread(file, &bytes, 4, 60) == 4 else { return nil }
    return Int32(bitPattern: bytes.reduce(0) { $0 << 8 | UInt32($1) })
  }

  private func copy(
    to partial: String, number: Int32?, step: Int, _ progress: (BackupProgress) throws -> Void
  ) throws {
    let source = try Database(path: path, mode: .reader)
    let target = try Database(path: partial, mode: .backup)
    defer {
      source.close()
      target.close()
    }
    try source.snapshot {
      // The first query takes the view. The open read transaction prevents the copy from starting over after each write
      // (https://www.sqlite.org/backup.html): for this connection nothing changes.
      _ = try source.int("SELECT count(*) FROM sqlite_schema")
      let connection = try target.connection()
      guard let backup = try sqlite3_backup_init(connection, "main", source.connection(), "main") else {
        throw SQLiteError(connection: connection, sql: nil)
      }
      defer { sqlite3_backup_finish(backup) }
      var code = SQLITE_OK
      while code == SQLITE_OK {
        code = sqlite3_backup_step(backup, Int32(step))
        let total = Int(sqlite3_backup_pagecount(backup))
        try progress(BackupProgress(done: total - Int(sqlite3_backup_remaining(backup)), total: total))
      }
      guard code == SQLITE_DONE else {
        throw SQLiteError(.init(rawValue: code), String(cString: sqlite3_errstr(code)), sql: nil)
      }
    }
    if let number { try target.execute("PRAGMA user_version = \(number)") }
    let faults = try target.fetchAll("PRAGMA quick_check(1)") { $0.text(0) }
    guard faults == ["ok"] else { throw SQLiteError(.corrupt, "the copy is damaged: \(faults.joined())") }
  }
}

extension DatabasePool {
  /// Identifies a state of the file: equal marks mean that no process committed in between.
  ///
  /// `PRAGMA data_version` tells the same, but as a query it must wait for a connection; a mark is read from memory
  /// that all processes' connections share.
  package struct ChangeMark: Sendable, Hashable {
    private let counter: UInt64
    private let salt: UInt64
    private let checksum: UInt64

    init(_ state: csqlite_log_state) {
      (counter, salt, checksum) = (state.counter, state.salt, state.checksum)
    }
  }

  /// The present mark; nil once the database is closed. A query that begins later sees at least this state.
  package var changeMark: ChangeMark? {
    // The lock is held while the memory is read, because ``close()`` clears the address before SQLite frees the memory.
    logIndex.withLock { index in index == 0 ? nil : ChangeMark(csqlite_read_log_state(index)) }
  }
}

extension Database {
  /// The address of the log's index, 0 if there is none.
  func logIndex() throws -> UInt {
    // The first query opens the log.
    _ = try int("PRAGMA schema_version")
    return csqlite_log_index(handle)
  }
}
