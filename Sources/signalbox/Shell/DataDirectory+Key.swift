import Foundation
import Glibc
import OpenSSL
import SQLite
import Store

extension DataDirectory {
  /// Where a new key stands while the old one is being changed for it.
  var nextKeyFile: String { keyFile + ".new" }

  /// The key that the database is sealed with, nil if its file is missing.
  ///
  /// A change of keys that was broken off between its two steps has left the new key beside the old one: which of the
  /// two is the right one the database says.
  ///
  /// - Throws: `SealingKeyFileError`.
  func storedKey() throws -> SealingKey? {
    if let next = try nextKey() { return next }
    return try SealingKey.load(path: keyFile)
  }

  /// The new key of a change that was broken off after everything was sealed with it; nil otherwise.
  func nextKey() throws -> SealingKey? {
    guard access(nextKeyFile, F_OK) == 0, exists, let next = try SealingKey.load(path: nextKeyFile) else { return nil }
    return try sealingIdentifier() == next.identifier ? next : nil
  }

  /// The identifier of the key that the database is sealed with; nil if it has none noted.
  func sealingIdentifier() throws -> String? {
    let database = try Database(path: database, mode: .reader)
    defer { database.close() }
    let isThere = try database.int("SELECT count(*) FROM sqlite_schema WHERE name = 'sealing_key'")
    return isThere == 1 ? try Sealing.identifier(database) : nil
  }

  /// The key; made only beside a new database, because a new key opens nothing that is there.
  func key() throws -> SealingKey {
    if let key = try storedKey() { return key }
    guard !exists else {
      throw CommandFailure(
        "\(keyFile) is missing, and stored credentials cannot be decrypted without it. Restore it from a backup, readable by "
          + "its owner only (chmod 600). If there is no backup, run signalbox rotate-key --lost and upload every "
          + "certificate and key again.")
    }
    return try SealingKey.loadOrCreate(path: keyFile)
  }

  /// The key for a server, which starts also without it: pages say what is lost, and how to go on.
  func keyRing() throws -> KeyRing {
    let keyFile = keyFile
    let known = try storedKey()
    let key = try known ?? (exists ? nil : SealingKey.loadOrCreate(path: keyFile))
    return KeyRing(key, path: keyFile) { try SealingKey.loadOrCreate(path: keyFile) }
  }
}
