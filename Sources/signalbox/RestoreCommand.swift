import Arguments
import Foundation
import Glibc
import Reactor
import SQLite
import Store

/// `signalbox restore FILE`
enum RestoreCommand {
  private static let file = Argument<String>("file", "What backup wrote.")

  static let command = Command<Action>(
    "restore", "Puts a backup in the database's place; the former database is kept beside it.",
    discussion: "Refuses a damaged file, one of a newer version, and to work while a server runs.",
    parameters: [file.parameter, CommonOptions.data.parameter]
  ) { values, io in
    let directory = DataDirectory(values, io)
    let now = io.now()
    try directory.create()
    let hasKey = access(directory.keyFile, F_OK) == 0
    if try !directory.lock() {
      throw CommandFailure("\(directory.path) is in use by a running signalbox. Stop it first.")
    }
    defer { directory.unlock() }
    try check(values[file], io)
    let copy = directory.database + ".restoring"
    defer { for suffix in ["", "-wal", "-shm"] { unlink(copy + suffix) } }
    try prepare(values[file], copy, now: now)
    let aside = try setAside(directory, now: now)
    guard rename(copy, directory.database) == 0 else {
      let error = SystemError("rename \(copy)")
      if let aside { for suffix in ["", "-wal", "-shm"] { rename(aside + suffix, directory.database + suffix) } }
      throw error
    }
    try syncFolder(directory.path)
    io.print("Restored \(values[file]) to \(directory.database).")
    if let aside { io.print("The former database is \(aside).") }
    if hasKey {
      try tellUnreadable(directory, io, now: now)
    } else {
      io.note("there is no \(directory.keyFile): put the one of the backup's server there before you start this one.")
    }
    return ExitCode.done
  }

  /// - Throws: ``CommandFailure`` if the file should not take the database's place.
  private static func check(_ path: String, _ io: CommandIO) throws {
    guard access(path, R_OK) == 0 else { throw CommandFailure("\(SystemError("open \(path)"))") }
    io.progress("looking through \(path)")
    defer { io.endProgress() }
    do {
      let database = try Database(path: path, mode: .readOnly)
      defer { database.close() }
      _ = try Schema.migrator.pending(database)
      guard try !Schema.migrator.applied(database).isEmpty else {
        throw CommandFailure("\(path) is empty: it is no backup.")
      }
      let faults = try database.integrityCheck(limit: 3)
      guard faults.isEmpty else {
        throw CommandFailure("\(path) is damaged (\(faults.joined(separator: "; "))). Take another backup.")
      }
    } catch let error as SQLiteError where [.corrupt, .notADatabase].contains(error.code) {
      throw CommandFailure("\(path) is damaged or no backup: \(error.message). Take another one.")
    } catch let error as MigrationError {
      throw CommandFailure("\(error)")
    }
  }

  /// Copies the file beside its place and brings it up to date there: what fails, fails before anything is changed.
  private static func prepare(_ path: String, _ copy: String, now: Date) throws {
    for suffix in ["", "-wal", "-shm"] { unlink(copy + suffix) }
    do { try FileManager.default.copyItem(atPath: path, toPath: copy) } catch {
      throw CommandFailure("\(path) cannot be copied to \(copy): \(error.localizedDescription)")
    }
    guard chmod(copy, 0o600) == 0 else { throw SystemError("chmod \(copy)") }
    let pool = try DatabasePool(path: copy, readers: 1)
    defer { pool.close() }
    try pool.migrate(Schema.migrator, at: Int64(now.timeIntervalSince1970 * 1000))
    try pool.checkpoint(waiting: true)
    try sync(copy)
  }

  /// Renames the database with its log, which belongs to it.
  ///
  /// - Returns: its new path; nil if there was none.
  private static func setAside(_ directory: DataDirectory, now: Date) throws -> String? {
    guard directory.exists else { return nil }
    let stamp = now.text.filter { $0 != "-" && $0 != ":" }
    var aside = "\(directory.database).before-restore-\(stamp)"
    while access(aside, F_OK) == 0 { aside += "+" }
    for suffix in ["-wal", "-shm", ""] where access(directory.database + suffix, F_OK) == 0 {
      guard rename(directory.database + suffix, aside + suffix) == 0 else {
        throw SystemError("rename \(directory.database + suffix)")
      }
    }
    return aside
  }

  /// A restored credential that this key does not open would only be noticed when it is used.
  private static func tellUnreadable(_ directory: DataDirectory, _ io: CommandIO, now: Date) throws {
    let store = try directory.open(now: now)
    defer { store.close() }
    let (state, closed) = try store.readSync { database in
      (
        try Sealing.state(database, store.sealer), try TrackedCertificate.unreadable(database, sealer: store.sealer)
      )
    }
    guard state != .fits || !closed.isEmpty else { return }
    let names = closed.isEmpty ? "" : " Closed: " + closed.map { singleLine($0.details.name) }.joined(separator: ", ")
    if state == .fits {
      io.note("\(directory.keyFile) does not open:\(names). Upload them again.")
    } else {
      io.note(
        "\(directory.keyFile) is another key than the one that this backup is sealed with, and does not open it. Put "
          + "the backup's key there; if it is lost, run: signalbox rotate-key --lost.\(names)")
    }
  }

  private static func sync(_ path: String) throws {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError("open \(path)") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw SystemError("fsync \(path)") }
  }

  private static func syncFolder(_ path: String) throws { try sync(path) }
}

extension TrackedCertificate {
  /// Those whose private key does not open.
  static func unreadable(_ database: Database, sealer: any Sealer) throws -> [TrackedCertificate] {
    let closed = try Sealing.closed(database, in: "certificates", sealer)
    return try all(database).filter { closed.contains($0.id) && $0.details.hasPrivateKey }
  }
}
