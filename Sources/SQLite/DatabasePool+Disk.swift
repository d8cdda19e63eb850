internal import CSQLite
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Whether the disk under a database does what it is asked.
extension DatabasePool {
  /// What is known of the disk.
  struct Disk {
    /// What it refused last, and has not done since.
    var trouble: SQLiteError?
    /// When it was last written to.
    var writtenAt: ContinuousClock.Instant?
    /// When it was last tried.
    var triedAt: ContinuousClock.Instant?
  }

  /// What a suspicion of damage comes to.
  package enum Damage: Sendable, Hashable {
    /// The file reads, and is sound.
    case none
    /// It cannot be looked through: the disk does not read it.
    case unreadable(String)
    /// It reads, and is not sound: one sentence for each fault.
    case damaged([String])
  }

  /// Less free space than this, in bytes, is a full disk: what is written next may not fit.
  package static let leastSpace: UInt64 = 1 << 20

  /// Trials are not made more often than this, and not at all when something else was written meanwhile.
  private static let probePause = Duration.seconds(1)

  /// What the disk refused last and has not done since, nil if nothing.
  package var diskTrouble: SQLiteError? { disk.withLock { $0.trouble } }

  func noteWrite<Success>(_ result: Result<Success, any Error>) {
    switch result {
    case .success:
      disk.withLock { disk in
        disk.trouble = nil
        disk.writtenAt = .now
      }
    case .failure: noteRead(result)
    }
  }

  /// A read that works proves nothing: what it read may have been in memory.
  func noteRead<Success>(_ result: Result<Success, any Error>) {
    guard case .failure(let error as SQLiteError) = result, error.isOfDisk else { return }
    disk.withLock { $0.trouble = error }
  }

  /// Whether the disk takes and gives what it is asked now: looks for space, and writes a few bytes if nothing was
  /// written in the last second. Asked more often, it answers from what it knows.
  ///
  /// - Returns: what it refuses; nil if all is well.
  package func checkDisk() async -> SQLiteError? {
    if let trouble = Self.spaceTrouble(path) { return trouble }
    let now = ContinuousClock.now
    let isDue = disk.withLock { disk in
      if disk.trouble == nil, let at = disk.writtenAt, now - at < Self.probePause { return false }
      if let at = disk.triedAt, now - at < Self.probePause { return false }
      disk.triedAt = now
      return true
    }
    guard isDue else { return diskTrouble }
    do {
      // The number is what it was; SQLite writes the page all the same.
      try await write { try $0.script("PRAGMA user_version = \(try $0.int("PRAGMA user_version"))") }
      return diskTrouble
    } catch {
      return diskTrouble
    }
  }

  /// What the file system of a path says by itself: full, read-only, or not there; nil if all is well.
  package static func spaceTrouble(_ path: String) -> SQLiteError? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else {
      return SQLiteError(.cannotOpen, "\(path): \(String(cString: strerror(errno)))")
    }
    if status.f_flag & UInt(ST_RDONLY) != 0 { return SQLiteError(.readOnly, "the disk of \(path) is read-only") }
    let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
    guard free < leastSpace else { return nil }
    return SQLiteError(.full, "only \(free / 1024) kB are left on the disk of \(path)")
  }

  /// Looks through the whole file because something spoke of damage, on a thread and a connection of its own. Takes
  /// its time on a large file.
  package func damage() async -> Damage {
    await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async { [path] in continuation.resume(returning: Self.damage(of: path)) }
    }
  }

  private static func damage(of path: String) -> Damage {
    do {
      if let words = try unreadable(path) { return .unreadable(words) }
      if try faults(path).isEmpty { return .none }
      // The disk may have failed while the check was reading: then the check said so in the words of damage.
      if let words = try unreadable(path) { return .unreadable(words) }
      let faults = try faults(path)
      return faults.isEmpty ? .none : .damaged(faults)
    } catch {
      return .unreadable("\(error)")
    }
  }

  private static func faults(_ path: String) throws -> [String] {
    do {
      let database = try Database(path: path, mode: .reader)
      defer { database.close() }
      return try database.integrityCheck(limit: 3)
    } catch let error as SQLiteError where error.suspectsDamage {
      // Some damage stops the opening itself.
      return [error.message]
    }
  }

  /// Why the disk does not read file and log to their ends; nil: it does.
  private static func unreadable(_ path: String) throws(SQLiteError) -> String? {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    // Without the house's settings, which read the schema.
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
      throw SQLiteError(connection: handle, sql: nil)
    }
    // The first query opens the log; what comes of it is found below.
    sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil)
    let code = csqlite_read_through(handle)
    guard code != SQLITE_OK else { return nil }
    return sqlite3_errstr(code).map { "\(String(cString: $0)) (SQLite \(code))" } ?? "SQLite \(code)"
  }
}
