import Foundation
import Glibc
import Reactor
import Text

/// Replaces the database with another file, completely or not at all, even if the process dies.
///
/// The new file is made and synced next to the old one. The decision is a rename to a name that says where the old file
/// goes: before it, nothing has happened; after it, the next process that opens the folder finishes the rest, which is
/// idempotent. In between, no database is opened.
struct Replacement {
  let directory: DataDirectory

  /// Where the new file is made; it counts for nothing until ``decide(aside:)``.
  var draft: String { directory.database + ".restoring" }

  private var decided: String { directory.database + ".restored." }
  private var asidePrefix: String { directory.database + ".before-restore-" }

  /// Removes what an earlier attempt left before its decision.
  func removeDraft() { for suffix in Self.suffixes { unlink(draft + suffix) } }

  /// A database, its write-ahead log, and the index of that log.
  static let suffixes = ["", "-wal", "-shm"]

  /// The path at which the old database is set aside; no file has it yet.
  func aside(_ now: Date) -> String {
    var path = asidePrefix + now.fileStamp
    while access(path, F_OK) == 0 { path += "+" }
    return path
  }

  /// Renames the draft, which is the decision. The draft must be synced and have no log.
  func decide(aside: String) throws {
    try move(draft, decided + aside.dropFirst(asidePrefix.count))
    try Self.sync(directory.path)
  }

  /// The replacement that is decided but not finished; nil if there is none.
  var pending: String? {
    let url = URL(fileURLWithPath: decided)
    // A folder that cannot be listed is reported when it is opened.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    return names.first { $0.hasPrefix(url.lastPathComponent) }.map { directory.path + "/" + $0 }
  }

  /// Finishes a decided replacement. The caller must hold the folder's lock.
  func finish() throws {
    guard let pending else { return }
    let aside = asidePrefix + pending.dropFirst(decided.count)
    // The log moves with its database: either one alone would be a different state.
    for suffix in ["-wal", "-shm", ""] where access(directory.database + suffix, F_OK) == 0 {
      try move(directory.database + suffix, aside + suffix)
    }
    try move(pending, directory.database)
    try Self.sync(directory.path)
  }

  private func move(_ path: String, _ target: String) throws {
    guard rename(path, target) == 0 else { throw SystemError("rename \(path) to \(target)") }
  }

  /// Syncs a file or folder to the disk.
  static func sync(_ path: String) throws(SystemError) {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError("open \(path)") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw SystemError("fsync \(path)") }
  }
}

extension DataDirectory {
  /// Finishes a restore that was interrupted after its decision.
  ///
  /// - Throws: ``CommandFailure`` while another process restores a backup.
  func finishReplacement() throws {
    let replacement = Replacement(directory: self)
    guard replacement.pending != nil else { return }
    let wasHeld = isHeld
    guard try lock() else { throw CommandFailure("A backup is being restored in \(path). Try again when it is done.") }
    defer { if !wasHeld { unlock() } }
    try replacement.finish()
  }

  /// The files that show that the folder had a database, if it has none now; empty if it never had one.
  var remains: [String] {
    guard !exists else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // opening a file reports the error
    let (file, key) = ("signalbox.sqlite", "secret.key")
    return names.filter { name in
      name == file + "-wal" || name.hasPrefix(file + ".before-restore-")
        // The first start creates the database file before the key, so a lone key means a lost database.
        || (name == key && access(database, F_OK) != 0)
    }.sorted()
  }

  /// Creates an empty file for a new database.
  ///
  /// - Throws: ``CommandFailure`` if an earlier database is lost: a new one would hide that.
  func begin() throws {
    guard !exists else { return }
    let remains = remains
    guard remains.isEmpty else { throw lost(remains) }
    let file = Glibc.open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 {
      close(file)
      try FileOwner.hand(database, like: [path])
    } else if errno != EEXIST {
      let error = SystemError("open \(database)")
      throw CommandFailure.start(error, otherAddress: "\(error)")
    }
  }

  /// The error for a lost database, with what to do.
  func lost(_ remains: [String]) -> CommandFailure {
    CommandFailure(
      """
      \(database) is missing: \(path) contains \(remains.joined(separator: ", ")) but no database. Put it back, or \
      restore a backup: signalbox restore <backup> --data \(path). To start over, choose another folder with --data.
      """)
  }
}
