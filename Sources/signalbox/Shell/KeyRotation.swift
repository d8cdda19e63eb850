import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import Reactor
import SQLite
import Store

/// Replaces the key that seals all secrets.
///
/// A crash at any point leaves one file that opens everything, and the database says which one: the new key is on disk
/// before it is used; re-sealing everything and recording the new key is one transaction; and the old key is removed
/// only after that transaction is on disk. The next process that holds the folder's lock finishes an interrupted
/// rotation.
struct KeyRotation {
  let directory: DataDirectory

  struct Done {
    let old: String
    let new: String
    let count: Int
    let closed: [Sealing.Closed]
  }

  /// Finishes an interrupted rotation. The caller holds the exclusive lock.
  ///
  /// - Returns: whether there was one to finish.
  @discardableResult
  func finishIfBrokenOff() throws -> Bool {
    removeUnfinished()
    guard try directory.nextKey() != nil else {
      // The new key was never used.
      unlink(directory.nextKeyFile)
      return false
    }
    // A failed cleanup does not prevent switching to the new key.
    _ = scrub()
    try finish()
    return true
  }

  /// Removes temporary files of key writes that a crash interrupted: these keys were never used.
  private func removeUnfinished() {
    let next = URL(fileURLWithPath: directory.nextKeyFile)
    let folder = next.deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // the next step reports the error
    for name in names where name.hasPrefix(next.lastPathComponent + ".") { unlink("\(folder)/\(name)") }
  }

  /// Step 1: writes the new key to disk.
  func prepare() throws -> SealingKey {
    unlink(directory.nextKeyFile)
    let key = try SealingKey.loadOrCreate(path: directory.nextKeyFile)
    // It takes the old one's place.
    try FileOwner.hand(directory.nextKeyFile, like: [directory.keyFile, directory.database, directory.path])
    return key
  }

  /// Step 2: re-seals everything, and waits until it is on disk.
  func reseal(from old: SealingKey, to new: SealingKey, now: Date) throws -> Done {
    let store = try directory.openStore(old, readers: 1, now: now)
    defer { store.close() }
    let (count, closed) = try store.writeSync { database in
      guard try Sealing.state(database, old) == .fits else { throw SealingMismatch.other }
      let result = try Sealing.reseal(database, from: old, to: new, now: now)
      try audit(
        database, "key.rotate", "secret.key",
        [
          "before": .string(old.identifier), "after": .string(new.identifier), "sealed": .integer(Int64(result.count)),
          "not_opened": .integer(Int64(result.closed.count)),
        ], now: now)
      return result
    }
    // The old key may be removed only if a power cut cannot bring back rows that need it. A replicated log, which stays,
    // is on the disk too: each commit is synced.
    try store.pool.checkpoint(waiting: true)
    return Done(old: old.identifier, new: new.identifier, count: count, closed: closed)
  }

  /// Step 3: removes values sealed with the old key from the database's free pages. Earlier versions and other builds
  /// of SQLite leave them there. In a replicated database, they go when Litestream next checkpoints its log.
  ///
  /// - Returns: the error if that failed, else nil.
  func scrub() -> String? {
    do {
      let pool = try DatabasePool(path: directory.database, readers: 1, isReplicated: directory.isReplicated)
      defer { pool.close() }
      try pool.vacuum()
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Step 4: moves the new key to the old key's path.
  func finish() throws {
    // If the path is a symbolic link, replaces its target.
    let target = realpath(directory.keyFile)
    guard rename(directory.nextKeyFile, target) == 0 else {
      throw SystemError("rename \(directory.nextKeyFile) to \(target)")
    }
    let folder = Glibc.open((target as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  private func realpath(_ path: String) -> String {
    guard let resolved = Glibc.realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
