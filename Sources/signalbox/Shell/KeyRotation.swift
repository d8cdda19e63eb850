import Foundation
import Glibc
import JSON
import OpenSSL
import Model
import Reactor
import SQLite
import Store

/// Changes the key that everything is sealed with.
///
/// Whatever happens in the midst of it, one of the two files opens everything, and the database says which: the new
/// key is on disk before anything is sealed with it; everything is sealed anew, and the new key noted, in one
/// transaction; and the old key goes only when that is on disk. What was broken off is finished by the next that holds
/// the folder alone.
struct KeyRotation {
  let directory: DataDirectory

  /// What was done.
  struct Done {
    let old: String
    let new: String
    let count: Int
    let closed: [Sealing.Closed]
  }

  /// Puts the new key of a change that was broken off in the old one's place. The caller holds the folder alone.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  func finishIfBrokenOff() throws -> Bool {
    removeUnfinished()
    guard try directory.nextKey() != nil else {
      // Nothing was sealed with it.
      unlink(directory.nextKeyFile)
      return false
    }
    // What hinders it hinders nobody from going on with the new key.
    _ = scrub()
    try finish()
    return true
  }

  /// Keys that were being written when a process was killed: they never had their name, and seal nothing.
  private func removeUnfinished() {
    let next = URL(fileURLWithPath: directory.nextKeyFile)
    let folder = next.deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // told by what comes next
    for name in names where name.hasPrefix(next.lastPathComponent + ".") { unlink("\(folder)/\(name)") }
  }

  /// The first step: the new key, on disk.
  func prepare() throws -> SealingKey {
    unlink(directory.nextKeyFile)
    return try SealingKey.loadOrCreate(path: directory.nextKeyFile)
  }

  /// The second step: everything sealed anew, on disk.
  func reseal(from old: SealingKey, to new: SealingKey, now: Date) throws -> Done {
    let store = try Store.open(path: directory.database, sealer: old, readers: 1, now: now)
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
    // After a power cut too the old key may go only when nothing needs it: the log's end is on disk then.
    try store.pool.checkpoint(waiting: true)
    return Done(old: old.identifier, new: new.identifier, count: count, closed: closed)
  }

  /// The third step: what the old key sealed is taken out of the file's free pages, too, where versions before this
  /// one, and other builds of SQLite, left it.
  ///
  /// - Returns: why that was not possible, nil if it is done.
  func scrub() -> String? {
    do {
      let pool = try DatabasePool(path: directory.database, readers: 1)
      defer { pool.close() }
      try pool.vacuum()
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// The fourth step: the new key takes the old one's place and name.
  func finish() throws {
    // Behind a link stands the file itself.
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
