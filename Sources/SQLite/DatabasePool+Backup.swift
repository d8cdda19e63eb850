internal import CSQLite
internal import Glibc

extension DatabasePool {
  /// How far a backup is.
  package struct BackupProgress: Sendable, Hashable {
    /// Pages copied.
    package let done: Int
    /// Pages in all.
    package let total: Int
  }

  /// Copies the whole database, as it is at this moment, while reads and writes go on. Blocks its thread.
  ///
  /// The copy is complete or not there at all: it is written beside its place, checked, synced, and then renamed.
  /// While it runs, the write-ahead log grows with what others write.
  ///
  /// - Parameters:
  ///   - destination: the new file; one that exists already is refused.
  ///   - step: pages (4 KiB) at a time.
  ///   - progress: called after each step; what it throws stops the backup.
  /// - Throws: `SQLiteError`, or what `progress` throws.
  package func backup(
    to destination: String, step: Int = 1024, progress: (BackupProgress) throws -> Void = { _ in }
  ) throws {
    guard access(destination, F_OK) != 0 else {
      throw SQLiteError(.cannotOpen, "the file already exists and a backup does not overwrite it: \(destination)")
    }
    let partial = destination + ".partial"
    unlink(partial)
    try FileSystem.prepare(partial)
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(partial + suffix) } }
    try copy(to: partial, step: step, progress)
    // link, not rename: it refuses to replace a file that appeared meanwhile.
    guard link(partial, destination) == 0 else {
      throw SQLiteError(.cannotOpen, "\(String(cString: strerror(errno))): \(destination)")
    }
  }

  private func copy(to partial: String, step: Int, _ progress: (BackupProgress) throws -> Void) throws {
    let source = try Database(path: path, mode: .reader)
    let target = try Database(path: partial, mode: .backup)
    defer {
      source.close()
      target.close()
    }
    try source.snapshot {
      // The first query takes the view. An open read transaction is what keeps the copy from starting over whenever
      // somebody writes (https://www.sqlite.org/backup.html): for this connection nothing changes.
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
    let faults = try target.fetchAll("PRAGMA quick_check(1)") { $0.text(0) }
    guard faults == ["ok"] else { throw SQLiteError(.corrupt, "the copy is damaged: \(faults.joined())") }
  }
}
