import Arguments
import Foundation
import Glibc
import OpenSSL
import Reactor
import Store
import Synchronization

/// The folder that holds everything: `signalbox.sqlite`, and `secret.key`, which opens the credentials in it.
final class DataDirectory: Sendable {
  /// Who may hold the folder at the same time.
  enum Lock: Sendable {
    /// For a server, or for what replaces its file: alone.
    case exclusive
    /// For a command that delivers a push of its own: beside others like it, but not beside a server, which would take
    /// up the push as well.
    case shared
  }

  let path: String
  private let held = Mutex<Int32?>(nil)

  var database: String { path + "/signalbox.sqlite" }
  /// `secret.key` in the folder, unless `SIGNALBOX_SECRET_KEY_FILE` names another place.
  let keyFile: String

  /// Names a folder; nothing is looked at yet.
  init(_ path: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.path = path
    let named = environment["SIGNALBOX_SECRET_KEY_FILE"] ?? ""
    keyFile = named.isEmpty ? path + "/secret.key" : named
  }

  /// The folder of `--data`.
  convenience init(_ values: Parsed, _ io: CommandIO) {
    self.init(values[CommonOptions.data], environment: io.environment)
  }

  deinit { unlock() }

  /// Whether there is a database in it. An empty file is none: a first start that was broken off left it.
  var exists: Bool {
    var status = stat()
    return stat(database, &status) == 0 && status.st_size > 0
  }

  /// Makes the folder, for its owner alone, unless it is there.
  func create() throws {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      guard isFolder.boolValue else { throw CommandFailure("\(path) is not a folder. Choose another one with --data.") }
      return
    }
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFailure(
        "\(path) cannot be created: \(error.localizedDescription) Choose another folder with --data.")
    }
  }

  /// Opens the store, and brings its schema up to date.
  ///
  /// - Parameters:
  ///   - creating: makes folder, key and database if they are missing; otherwise a folder without a database is told.
  ///   - now: the time of the migration.
  func open(creating: Bool = false, readers: Int = 1, now: Date) throws -> Store {
    if creating {
      try create()
      try finishReplacement()
      try begin()
    } else {
      try mustExist()
    }
    return try Store.open(path: database, sealer: try key(), readers: readers, now: now)
  }

  /// As ``open(creating:readers:now:)`` with `creating`, for a server: takes the lock first and keeps it, so that the
  /// file is not replaced between the two.
  ///
  /// - Returns: nil if somebody else holds the folder.
  func openAlone(readers: Int, now: Date) throws -> Store? {
    try create()
    guard try lock() else { return nil }
    do {
      try finishReplacement()
      Replacement(directory: self).removeDraft()
      try begin()
      try KeyRotation(directory: self).finishIfBrokenOff()
      let ring = try keyRing()
      let store = try Store.open(path: database, sealer: ring, readers: readers, now: now)
      _ = try store.writeSync { try Sealing.recordKey($0, ring, now: now) }
      return store
    } catch {
      unlock()
      throw error
    }
  }

  /// Finishes a restore that was broken off.
  ///
  /// - Throws: what to do if there is no database.
  func mustExist() throws {
    try finishReplacement()
    guard exists else {
      let remains = remains
      guard remains.isEmpty else { throw lost(remains) }
      throw CommandFailure(
        "\(database) not found. Set the data folder with --data or SIGNALBOX_DATA.")
    }
  }

  /// Takes the lock, and keeps it until ``unlock()`` or the end of the process, however that ends. Does not wait.
  ///
  /// It stands on the folder itself, because files in it are replaced; the database has SQLite's own locks.
  ///
  /// - Returns: false if another process, or another object of this one, holds it in a way that excludes this.
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

  /// Whether this object has the lock.
  var isHeld: Bool { held.withLock { $0 != nil } }

  /// Gives the lock back.
  func unlock() {
    held.withLock { held in
      if let file = held { Glibc.close(file) }
      held = nil
    }
  }
}
