package import Foundation
package import JSON
internal import OpenSSL
package import SQLite

/// A key with which an app registers its devices. It is in the app's binary, so it is no secret: it only says whose
/// device it is, and opens nothing but the registration.
///
/// An app has several while an earlier one is still in versions that people use.
package struct ClientKey: Sendable, Hashable {
  package let key: String
  package let appID: Int64
  package let createdBy: String
  package let createdAt: Date
  /// Accurate to a minute; nil: never.
  package let lastUsedAt: Date?
  /// Of a key that is for one phone; nil: valid until it is removed.
  package let expiresAt: Date?
  /// The phone that registered with such a key.
  package let deviceID: Int64?

  /// How long a key for one phone is valid: half an hour, in seconds.
  package static let enrollmentTime: TimeInterval = 1800
  /// Keys of one app.
  package static let limit = 10
  /// Characters of a longer text are not looked up.
  package static let length = 28

  private static let columns = "k.key, k.app_id, k.created_by, k.created_at, k.last_used_at, k.expires_at, k.device_id"

  private init(_ row: borrowing Row) {
    key = row.text(0)
    appID = row.int64(1)
    createdBy = row.text(2)
    createdAt = row.date(3)
    lastUsedAt = row.optionalDate(4)
    expiresAt = row.optionalDate(5)
    deviceID = row.optionalInt64(6)
  }

  /// An app's keys, newest first, without those for one phone.
  package static func all(_ database: Database, app: Int64) throws -> [ClientKey] {
    try database.fetchAll(
      "SELECT \(columns) FROM client_keys k WHERE k.app_id = ? AND k.expires_at IS NULL ORDER BY k.created_at DESC, k.key",
      app
    ) { ClientKey($0) }
  }

  package static func find(_ database: Database, key: String) throws -> ClientKey? {
    try database.fetchOne("SELECT \(columns) FROM client_keys k WHERE k.key = ?", key) { ClientKey($0) }
  }

  /// Gives an app another key, with a line of the activity log. Earlier ones stay valid until they are removed.
  ///
  /// - Parameters:
  ///   - address: the client's; nil: this machine.
  ///   - time: how long it is valid, in seconds; nil: until it is removed.
  /// - Throws: `StoreError.inUse` if it has ``limit`` keys.
  package static func add(
    _ database: Database, app: App, by actor: String, from address: String? = nil, for time: TimeInterval? = nil,
    now: Date
  ) throws -> ClientKey {
    // Kept for a day more, so that its page can say what became of it.
    try database.run("DELETE FROM client_keys WHERE expires_at < ?", now.addingTimeInterval(-86_400))
    let count = try database.int(
      "SELECT count(*) FROM client_keys WHERE app_id = ? AND expires_at IS NULL", app.id)
    guard time != nil || count < limit else {
      throw StoreError.inUse(noun: "app", by: ["\(limit) client keys, the most"])
    }
    let key = "sbc_" + Random.token(bytes: 18)
    try database.run(
      "INSERT INTO client_keys(key, app_id, created_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?)", key, app.id,
      actor, now, time.map { now.addingTimeInterval($0) })
    try note(database, "create", key, app, by: actor, from: address, now: now)
    guard let added = try find(database, key: key) else { throw StoreError.notFound(noun: "client key", id: key) }
    return added
  }

  /// Removes a key, with a line of the activity log: versions of the app that have it cannot register any more.
  ///
  /// - Returns: whether the app had it.
  package static func remove(
    _ database: Database, app: App, key: String, by actor: String, from address: String? = nil, now: Date
  ) throws -> Bool {
    guard try database.run("DELETE FROM client_keys WHERE key = ? AND app_id = ?", key, app.id) == 1 else {
      return false
    }
    try note(database, "delete", key, app, by: actor, from: address, now: now)
    return true
  }

  /// Records which phone registered with a key for one phone.
  static func note(_ database: Database, key: String, device: Int64) throws {
    try database.run("UPDATE client_keys SET device_id = ? WHERE key = ? AND device_id IS NULL", device, key)
  }

  /// Records its use, at most once a minute.
  package static func touch(_ database: Database, key: String, now: Date) throws {
    try database.run(
      "UPDATE client_keys SET last_used_at = ? WHERE key = ? AND coalesce(last_used_at, 0) < ?", now, key,
      now.addingTimeInterval(-60))
  }

  private static func note(
    _ database: Database, _ verb: String, _ key: String, _ app: App, by actor: String, from address: String?, now: Date
  ) throws {
    try AuditEntry.add(
      database, by: actor, "client_key.\(verb)", "app \(app.bundleID)", ["key": .string(key)], from: address, now: now)
  }
}

extension ClientKey: JSONObject {
  /// The schema `ClientKey`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("key", key)
    json.member("created_by", createdBy)
    json.member("created_at", createdAt)
    json.member("last_used_at", lastUsedAt)
  }
}
