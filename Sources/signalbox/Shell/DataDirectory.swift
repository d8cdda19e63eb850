import Arguments
import Foundation
import Glibc
import OpenSSL
import Reactor
import SQLite
import Store
import Synchronization
import Text

/// The data folder: `signalbox.sqlite`, and `secret.key`, which seals the credentials in it.
final class DataDirectory: Sendable {
  enum Lock: Sendable {
    /// For a server, or for commands that replace the database.
    case exclusive
    /// For a command that delivers its own push: several can run at once, but not beside a server, which would pick up
    /// the same push.
    case shared
  }

  let path: String
  private let held = Mutex<Int32?>(nil)

  var database: String { path + "/signalbox.sqlite" }
  /// `secret.key` in the folder, or the path in `SIGNALBOX_SECRET_KEY_FILE`.
  let keyFile: String
  /// Whether Litestream replicates the database, and checkpoints its log: `serve --replicated`, or for every command
  /// `SIGNALBOX_REPLICATED`.
  let isReplicated: Bool
  /// Whether it is known or probable that Litestream replicates the database: it keeps a folder of its own beside it.
  var mayBeReplicated: Bool { isReplicated || access(path + "/.signalbox.sqlite-litestream", F_OK) == 0 }

  /// Does not access the disk.
  init(
    _ path: String, environment: [String: String] = ProcessInfo.processInfo.environment, isReplicated: Bool = false
  ) {
    self.path = path
    self.isReplicated =
      isReplicated || ["1", "true", "yes", "on"].contains(environment["SIGNALBOX_REPLICATED"]?.lowercased() ?? "")
    let named = environment["SIGNALBOX_SECRET_KEY_FILE"] ?? ""
    keyFile = named.isEmpty ? path + "/secret.key" : named
  }

  convenience init(_ values: Parsed, _ io: CommandIO, isReplicated: Bool = false) {
    self.init(values[CommonOptions.data], environment: io.environment, isReplicated: isReplicated)
  }

  deinit { unlock() }

  /// Whether the folder holds a database. An empty file does not count: an interrupted first start leaves one.
  var exists: Bool {
    var status = stat()
    return stat(database, &status) == 0 && status.st_size > 0
  }

  /// Why nobody can say whether there is a database, e.g. because this user may not enter the folder; nil if one can.
  var obstacle: SystemError? {
    var status = stat()
    guard stat(database, &status) != 0 else { return nil }
    let number = errno
    return number == ENOENT ? nil : SystemError("open \(database)", number: number)
  }

  /// Creates the folder, readable by its owner only, if it does not exist.
  func create() throws {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      guard isFolder.boolValue else { throw CommandFailure("\(path) is not a folder. Choose another one with --data.") }
      return
    }
    let folders = FileOwner.missingFolders(to: path)
    try NamedFile.makeFolder(path, option: "--data")
    for folder in folders { try FileOwner.hand(folder, like: [FileOwner.folder(of: folder)]) }
  }

  /// Opens the store and migrates its schema.
  ///
  /// - Parameters:
  ///   - creating: whether to create a missing folder, key and database; otherwise a missing database is an error.
  ///   - now: the time of the migration.
  func open(creating: Bool = false, readers: Int = 1, now: Date) throws -> Store {
    if creating {
      try create()
      try finishReplacement()
      try begin()
    } else {
      try mustExist()
    }
    try handOver()
    return try openStore(try key(), readers: readers, now: now)
  }

  /// Opens the store with a key that was read already, and migrates its schema.
  func openStore(_ sealer: any Sealer, readers: Int, now: Date) throws -> Store {
    var upgrade = Upgrade(self)
    defer { upgrade.stop() }
    try upgrade.begin()
    let store = try Store.open(
      path: database, sealer: sealer, readers: readers, isReplicated: isReplicated, now: now)
    do { try upgrade.finish(now.fileStamp) } catch {
      store.close()
      throw error
    }
    return store
  }

  /// Like ``open(creating:readers:now:)`` with `creating`, for a server. Takes the lock first and keeps it, so that no
  /// other process replaces the database in between.
  ///
  /// - Returns: nil if another process holds the lock.
  func openAlone(readers: Int, now: Date) throws -> Store? {
    try create()
    guard try lock() else { return nil }
    do {
      try finishReplacement()
      Replacement(directory: self).removeDraft()
      try begin()
      try handOver()
      try KeyRotation(directory: self).finishIfBrokenOff()
      let ring = try keyRing()
      let store = try openStore(ring, readers: readers, now: now)
      _ = try store.writeSync { try Sealing.recordKey($0, ring, now: now) }
      return store
    } catch {
      unlock()
      throw error
    }
  }

  /// Finishes an interrupted restore.
  ///
  /// - Throws: ``CommandFailure`` if there is no database.
  func mustExist() throws {
    try finishReplacement()
    guard exists else {
      if let obstacle {
        throw CommandFailure(
          "\(obstacle). Check that this user can write to the data folder, or choose another one with --data.")
      }
      let remains = remains
      guard remains.isEmpty else { throw lost(remains) }
      throw CommandFailure("\(database) not found. Set the data folder with --data or SIGNALBOX_DATA.")
    }
  }

  /// Takes the lock without waiting. It is held until ``unlock()`` or the end of the process, even after a crash.
  ///
  /// The lock is on the folder itself, because files in it get replaced.
  ///
  /// - Returns: false if another process, or another object of this process, holds a conflicting lock.
  func lock(_ kind: Lock = .exclusive) throws -> Bool {
    try held.withLock { held in
      if held != nil { return true }
      let file = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard file >= 0 else { throw SystemError("open \(path)") }
      if flock(file, (kind == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 {
        held = file
        return true
      }
      let error = SystemError("flock \(path)")
      Glibc.close(file)
      guard error.number == EWOULDBLOCK else { throw error }
      return false
    }
  }

  var isHeld: Bool { held.withLock { $0 != nil } }

  func unlock() {
    held.withLock { held in
      if let file = held { Glibc.close(file) }
      held = nil
    }
  }
}
