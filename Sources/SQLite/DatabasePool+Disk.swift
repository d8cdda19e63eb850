internal import CSQLite
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Checks whether the disk under a database works.
extension DatabasePool {
  /// What is known of the disk.
  struct Disk {
    /// The last failure, unless the disk has worked since.
    var trouble: SQLiteError?
    var writtenAt: ContinuousClock.Instant?
    var triedAt: ContinuousClock.Instant?
    /// What the last ``DatabasePool/damage()`` found.
    var damage = Damage.none
  }

  /// The result of a suspicion of damage.
  package enum Damage: Sendable, Hashable {
    /// The file is readable and sound.
    case none
    /// The disk does not read the file.
    case unreadable(String)
    /// One sentence for each fault.
    case damaged([String])

    /// What to do; nil: nothing.
    package var text: String? {
      switch self {
      case .none: nil
      case .unreadable(let reason): "The database cannot be read from disk: \(reason)"
      case .damaged(let faults):
        """
        The database is damaged: \(faults.joined(separator: "; ")). Stop the server, keep a copy of the file, then \
        restore a backup.
        """
      }
    }
  }

  /// What the last ``damage()`` found.
  package var knownDamage: Damage { disk.withLock { $0.damage } }

  /// With less free space, in bytes, the disk counts as full: the next write may not fit.
  package static let leastSpace: UInt64 = 1 << 20

  /// The shortest time between two test writes, and how long any other write counts as one.
  private static let probePause = Duration.seconds(1)

  /// The last failure, nil if the disk has worked since.
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

  /// A successful read proves nothing: it may have come from memory.
  func noteRead<Success>(_ result: Result<Success, any Error>) {
    guard case .failure(let error as SQLiteError) = result, error.isOfDisk else { return }
    disk.withLock { $0.trouble = error }
  }

  /// Checks the free space, and writes a few bytes if nothing was written in the last second. Cheap to call often.
  ///
  /// - Returns: the disk's failure; nil if it works.
  package func checkDisk() async -> SQLiteError? {
    if let trouble = lostFiles ?? Self.spaceTrouble(path) { return trouble }
    let now = ContinuousClock.now
    let isDue = disk.withLock { disk in
      if disk.trouble == nil, let at = disk.writtenAt, now - at < Self.probePause { return false }
      if let at = disk.triedAt, now - at < Self.probePause { return false }
      disk.triedAt = now
      return true
    }
    guard isDue else { return diskTrouble }
    do {
      // The value is unchanged; SQLite writes the page all the same.
      try await write { try $0.script("PRAGMA user_version = \(try $0.int("PRAGMA user_version"))") }
      return diskTrouble
    } catch {
      return diskTrouble
    }
  }

  /// The file system's own report on a path: full, read-only, or missing; nil if it is in order.
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

  /// Checks the whole file after a suspicion of damage, on a thread and a connection of its own. Slow for a large file.
  @discardableResult
  package func damage() async -> Damage {
    let found = await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async { [path] in continuation.resume(returning: Self.damage(of: path)) }
    }
    disk.withLock { $0.damage = found }
    return found
  }

  private static func damage(of path: String) -> Damage {
    do {
      if let words = try unreadable(path) { return .unreadable(words) }
      if try faults(path).isEmpty { return .none }
      // A disk failure during the check would look like damage.
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
      // Some damage prevents opening the file.
      return [error.message]
    }
  }

  /// Why the disk does not read file and log to their ends; nil if it does.
  private static func unreadable(_ path: String) throws(SQLiteError) -> String? {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    // Without our settings, which read the schema.
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
      throw SQLiteError(connection: handle, sql: nil)
    }
    // The first query opens the log; its errors show below.
    sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil)
    let code = csqlite_read_through(handle)
    guard code != SQLITE_OK else { return nil }
    return sqlite3_errstr(code).map { "\(String(cString: $0)) (SQLite \(code))" } ?? "SQLite \(code)"
  }
}

/// Prepares the place of a database.
enum FileSystem {
  /// Creates the file if it is missing, readable by its owner only (SQLite gives log and index the same rights), and
  /// refuses a network file system.
  static func prepare(_ path: String) throws(SQLiteError) {
    // An existing file is not opened: closing it would drop the locks of other connections of this process
    // (https://www.sqlite.org/howtocorrupt.html §2.2). O_EXCL guarantees that the file is new.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
    } else if errno != EEXIST {
      throw SQLiteError(.cannotOpen, "\(String(cString: strerror(errno))): \(path)")
    }
    let kind = csqlite_file_system(path)
    guard kind >= 0 else {
      throw SQLiteError(.cannotOpen, "\(String(cString: strerror(errno))): \(path)")
    }
    if let name = networkFileSystem(UInt32(truncatingIfNeeded: kind)) {
      throw SQLiteError(
        .cannotOpen, "\(path) is on \(name), where write-ahead logging does not work; use a local disk")
    }
  }

  /// "WAL does not work over a network filesystem" (https://www.sqlite.org/wal.html §3). Numbers: statfs(2).
  static func networkFileSystem(_ kind: UInt32) -> String? {
    switch kind {
    case 0x6969: "NFS"
    case 0x517b, 0xff53_4d42, 0xfe53_4d42: "SMB/CIFS"
    case 0x5346_414f, 0x6b41_4653: "AFS"
    case 0x0bd0_0bd0: "Lustre"
    default: nil
    }
  }
}
