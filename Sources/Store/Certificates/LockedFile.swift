package import Foundation
import JSON
internal import OpenSSL
internal import Model
package import SQLite

/// An uploaded file that could not be opened or stored yet. It is kept sealed for a quarter of an hour, because a
/// browser does not upload a file twice by itself. Only its uploader can use it, and has one at a time.
package struct LockedFile: Sendable, Hashable {
  /// The ID in forms.
  package let uid: String
  package let name: String
  /// As uploaded.
  package let content: Data

  /// In seconds.
  package static let lifetime: TimeInterval = 900

  /// Replaces the uploader's previous file.
  ///
  /// - Throws: ``SealingMismatch`` if sealing is impossible.
  package static func add(
    _ database: Database, name: String, content: Data, sealer: any Sealer, by user: String, now: Date
  ) throws -> LockedFile {
    try sweep(database, now: now)
    try database.run("DELETE FROM locked_files WHERE created_by = ?", user)
    let uid = Random.token(bytes: 12)
    try database.run(
      "INSERT INTO locked_files(uid, created_by, created_at, sealed) VALUES (?, ?, ?, x'')", uid, user, now)
    let id = database.lastInsertedID
    let members: JSONValue = ["name": .string(name), "content": .string(content.base64EncodedString())]
    try Sealing.keep(database, members.bytes, "locked_files", id, sealer, now: now)
    return LockedFile(uid: uid, name: name, content: content)
  }

  /// Nil if there is none, it has expired, or it cannot be unsealed.
  package static func find(
    _ database: Database, uid: String, by user: String, sealer: any Sealer, now: Date
  ) throws -> LockedFile? {
    let found = try database.fetchOne(
      "SELECT id, sealed FROM locked_files WHERE uid = ? AND created_by = ? AND created_at > ?", uid, user,
      now.addingTimeInterval(-lifetime)
    ) { ($0.int64(0), $0.blob(1)) }
    guard let (id, sealed) = found,
      let bytes = try Sealing.opened({ try sealer.open(sealed, associatedData: place("locked_files", id)) })
    else { return nil }
    let members = try json(String(decoding: bytes, as: UTF8.self), "locked_files.sealed")
    return LockedFile(
      uid: uid, name: members?["name"]?.string ?? "",
      content: Data(base64Encoded: members?["content"]?.string ?? "") ?? Data())
  }

  /// Deletes a file that was opened and stored.
  package static func delete(_ database: Database, uid: String) throws {
    try database.run("DELETE FROM locked_files WHERE uid = ?", uid)
  }

  /// Deletes expired files.
  package static func sweep(_ database: Database, now: Date) throws {
    try database.run("DELETE FROM locked_files WHERE created_at <= ?", now.addingTimeInterval(-lifetime))
  }
}
