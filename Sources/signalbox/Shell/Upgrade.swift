import Glibc
import Reactor
import SQLite
import Store
import Text

/// Keeps one copy of a database whose schema this version changes, so that the earlier version can go on with it.
///
/// The copy is of the version before the first step. It has a name of its own until the upgrade is whole, by which an
/// attempt that follows an interrupted one finds it: a further copy would be of a half-changed database.
struct Upgrade {
  let directory: DataDirectory
  /// Held while the schema is changed; nil: nothing is to be changed.
  private var lock: Int32?
  /// Whether this attempt has made the copy.
  private var isMade = false

  private var copy: String { directory.database + ".before-upgrade" }

  init(_ directory: DataDirectory) { self.directory = directory }

  /// Makes the copy if steps are to be run, and waits for another process that runs them.
  mutating func begin() throws {
    while try !pending().isEmpty {
      let file = open(copy, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else {
        try make()
        isMade = true
        continue
      }
      // Closed by `stop` after an error, too.
      lock = file
      if flock(file, LOCK_EX) == 0 {
        if try isCopy(file) && isUsable() { return }
      } else if errno != EINTR {
        throw SystemError("flock \(copy)")
      }
      stop()
    }
  }

  /// Names the copy after the time once no step is left. Also that of an attempt that was killed after the last one.
  func finish(_ time: String) throws {
    guard access(copy, F_OK) == 0, try pending().isEmpty else { return }
    var kept = "\(copy)-\(time)"
    while access(kept, F_OK) == 0 { kept += "+" }
    // Another process may have been faster.
    guard rename(copy, kept) == 0 || errno == ENOENT else { throw SystemError("rename \(copy) to \(kept)") }
    try Replacement.sync(directory.path)
  }

  /// Lets another process go on.
  mutating func stop() {
    if let lock { close(lock) }
    lock = nil
  }

  /// The steps to be run; none for a new database, of which no copy is needed.
  private func pending() throws -> [String] {
    guard directory.exists else { return [] }
    let present = try Database(path: directory.database, mode: .reader)
    defer { present.close() }
    return try Schema.migrator.applied(present).isEmpty ? [] : Schema.migrator.pending(present).map(\.id)
  }

  private func steps(_ path: String, _ mode: Database.Mode) throws -> Int {
    let database = try Database(path: path, mode: mode)
    defer { database.close() }
    return try Schema.migrator.applied(database).count
  }

  /// Whether the copy is of the version before the first step of this upgrade. One of the present version may be of an
  /// earlier attempt that changed nothing, after which the earlier version went on: it is made again.
  private func isUsable() throws -> Bool {
    // A reader leaves them beside a file that it must not change (https://www.sqlite.org/wal.html §5).
    defer { for suffix in ["-wal", "-shm"] { unlink(copy + suffix) } }
    // What cannot be read is not replaced either.
    guard let before = try? steps(copy, .readOnly) else { return true }
    let now = try steps(directory.database, .reader)
    if before < now || before == now && isMade { return true }
    unlink(copy)
    return false
  }

  /// Whether a descriptor is of the file that has the copy's name now.
  private func isCopy(_ file: Int32) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(file, &opened) == 0 && stat(copy, &named) == 0 && opened.st_ino == named.st_ino
  }

  private func make() throws {
    let pool = try DatabasePool(path: directory.database, readers: 1, isReplicated: directory.isReplicated)
    defer { pool.close() }
    do { try pool.backup(to: copy) } catch {
      // Another process may have made it meanwhile.
      guard access(copy, F_OK) != 0 else { return }
      throw CommandFailure(
        """
        This version changes the database and keeps a copy of it first, but the copy \(copy) cannot be made: \
        \(error). Nothing was changed.
        """)
    }
    try directory.handOver()
  }
}
