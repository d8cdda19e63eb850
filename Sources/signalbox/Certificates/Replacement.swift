import Foundation
import Glibc
import Reactor

/// Puts another file in the database's place, whole or not at all, whenever it dies.
///
/// The new file is made and synced beside the old one. Renaming it to a name that says where the old one goes is the
/// decision: before it, nothing has happened; after it, whoever opens the folder next finishes what is left, which can
/// be done as often as it takes. In between, nothing is opened.
struct Replacement {
  let directory: DataDirectory

  /// Where the new file is made; worth nothing until ``decide(aside:)``.
  var draft: String { directory.database + ".restoring" }

  private var decided: String { directory.database + ".restored." }
  private var asidePrefix: String { directory.database + ".before-restore-" }

  /// Takes away what a former try has left before its decision.
  func removeDraft() { for suffix in Self.suffixes { unlink(draft + suffix) } }

  /// A database, its log, and the index of that.
  static let suffixes = ["", "-wal", "-shm"]

  /// The name for what is set aside at a time.
  func aside(_ now: Date) -> String {
    let stamp = now.text.filter { $0 != "-" && $0 != ":" }
    var path = asidePrefix + stamp
    while access(path, F_OK) == 0 { path += "+" }
    return path
  }

  /// The decision. The draft is synced, and has no log.
  func decide(aside: String) throws {
    try move(draft, decided + aside.dropFirst(asidePrefix.count))
    try Self.sync(directory.path)
  }

  /// What was decided and is not finished, nil if nothing is.
  var pending: String? {
    let url = URL(fileURLWithPath: decided)
    // A folder that cannot be listed is told by whoever opens it.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    return names.first { $0.hasPrefix(url.lastPathComponent) }.map { directory.path + "/" + $0 }
  }

  /// Does what is left of what was decided. The caller holds the folder alone.
  func finish() throws {
    guard let pending else { return }
    let aside = asidePrefix + pending.dropFirst(decided.count)
    // The log goes with its database: alone, each would be another state.
    for suffix in ["-wal", "-shm", ""] where access(directory.database + suffix, F_OK) == 0 {
      try move(directory.database + suffix, aside + suffix)
    }
    try move(pending, directory.database)
    try Self.sync(directory.path)
  }

  private func move(_ path: String, _ target: String) throws {
    guard rename(path, target) == 0 else { throw SystemError("rename \(path) to \(target)") }
  }

  /// Sees a file or folder to the disk.
  static func sync(_ path: String) throws {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError("open \(path)") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw SystemError("fsync \(path)") }
  }
}

extension DataDirectory {
  /// Finishes a restore that was broken off after its decision.
  ///
  /// - Throws: ``CommandFailure`` while another process is at it.
  func finishReplacement() throws {
    let replacement = Replacement(directory: self)
    guard replacement.pending != nil else { return }
    let wasHeld = isHeld
    guard try lock() else {
      throw CommandFailure("A backup is being restored in \(path). Try again when it is done.")
    }
    defer { if !wasHeld { unlock() } }
    try replacement.finish()
  }

  /// What shows that the folder had a database, if it has none now; empty if it never had one.
  var remains: [String] {
    guard !exists else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // told by whoever opens it
    let (file, key) = ("signalbox.sqlite", "secret.key")
    return names.filter { name in
      name == file + "-wal" || name.hasPrefix(file + ".before-restore-")
        // The first start makes the database's file before the key: a key alone has opened something.
        || (name == key && access(database, F_OK) != 0)
    }.sorted()
  }

  /// Makes an empty file for a new database.
  ///
  /// - Throws: ``CommandFailure`` if there was one, which is lost: beginning anew would hide that.
  func begin() throws {
    guard !exists else { return }
    let remains = remains
    guard remains.isEmpty else { throw lost(remains) }
    let file = Glibc.open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 {
      close(file)
    } else if errno != EEXIST {
      throw SystemError("open \(database)")
    }
  }

  /// What to do about a database that is lost.
  func lost(_ remains: [String]) -> CommandFailure {
    CommandFailure(
      "\(database) is missing: \(path) contains \(remains.joined(separator: ", ")) but no database. Put it back, or restore a "
        + "backup: signalbox restore <backup> --data \(path). To start over, choose another folder with --data.")
  }
}
