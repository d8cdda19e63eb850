import Foundation
import Glibc
import OpenSSL
import SQLite
import Store
import Text

extension DataDirectory {
  /// The new key's place during a key rotation.
  var nextKeyFile: String { keyFile + ".new" }

  /// The key that seals the database; nil if its file is missing.
  ///
  /// An interrupted key rotation leaves the new key beside the old one. The database says which of the two is in use.
  ///
  /// - Throws: `SealingKeyFileError`.
  func storedKey() throws -> SealingKey? {
    if let next = try nextKey() { return next }
    return try SealingKey.load(path: keyFile)
  }

  /// The new key of a key rotation that was interrupted after everything was re-sealed; nil otherwise.
  func nextKey() throws -> SealingKey? {
    guard access(nextKeyFile, F_OK) == 0, exists, let next = try SealingKey.load(path: nextKeyFile) else { return nil }
    return try sealingIdentifier() == next.identifier ? next : nil
  }

  /// The identifier of the key that seals the database; nil if none is recorded.
  func sealingIdentifier() throws -> String? {
    let database = try Database(path: database, mode: .reader)
    defer { database.close() }
    let isThere = try database.int("SELECT count(*) FROM sqlite_schema WHERE name = 'sealing_key'")
    return isThere == 1 ? try Sealing.identifier(database) : nil
  }

  /// The key. It is created only for a new database, because a new key cannot open existing data.
  func key() throws -> SealingKey {
    if let key = try storedKey() { return key }
    guard !exists else {
      throw CommandFailure(
        """
        \(keyFile) is missing, and stored credentials cannot be decrypted without it. Copy it back from where you \
        keep it (backups do not contain it), readable by its owner only (chmod 600). If it is lost, run signalbox \
        rotate-key --lost and upload every certificate and key again.
        """)
    }
    return try createKey()
  }

  /// Creates the key file with a new key, unless it is there, for the service's user.
  func createKey() throws -> SealingKey { try Self.createKey(keyFile, like: [database, path]) }

  private static func createKey(_ keyFile: String, like models: [String]) throws -> SealingKey {
    let key = try SealingKey.loadOrCreate(path: keyFile)
    try FileOwner.hand(keyFile, like: models)
    return key
  }

  /// The key for a server. The server also starts without it: pages then show what is lost, and how to continue.
  func keyRing() throws -> KeyRing {
    let keyFile = keyFile
    let known = try storedKey()
    let key = try known ?? (exists ? nil : createKey())
    // Without this object, whose end releases the folder's lock.
    let models = [database, path]
    return KeyRing(key, path: keyFile) { try Self.createKey(keyFile, like: models) }
  }
}
