package import Foundation
import JSON
internal import OpenSSL
package import SQLite

/// The key pair with which an app's server calls the API that is compatible with JPush. The master secret is shown once
/// and stored as a hash.
package struct JPushKey: Sendable, Hashable {
  package let appID: Int64
  /// The user name of HTTP Basic: 24 hexadecimal digits. Not secret, and the same after a rotation.
  package let appKey: String
  package let createdBy: String
  package let createdAt: Date
  /// When the present secret replaced another; nil: it is the first.
  package let rotatedAt: Date?
  /// Accurate to a minute.
  package let lastUsedAt: Date?
  let secretHash: [UInt8]

  /// Characters of app key and master secret (docs/protocols.md §4.1).
  package static let length = 24

  private static let columns = "app_id, app_key, secret_hash, created_by, created_at, rotated_at, last_used_at"

  private init(_ row: borrowing Row) {
    appID = row.int64(0)
    appKey = row.text(1)
    secretHash = row.blob(2)
    createdBy = row.text(3)
    createdAt = row.date(4)
    rotatedAt = row.optionalDate(5)
    lastUsedAt = row.optionalDate(6)
  }

  package static func find(_ database: Database, app: Int64) throws -> JPushKey? {
    try database.fetchOne("SELECT \(columns) FROM jpush_keys WHERE app_id = ?", app) { JPushKey($0) }
  }

  package static func find(_ database: Database, appKey: String) throws -> JPushKey? {
    try database.fetchOne("SELECT \(columns) FROM jpush_keys WHERE app_key = ?", appKey) { JPushKey($0) }
  }

  /// Gives an app a key pair, or a new master secret if it has one, with a line of the activity log. The old secret is
  /// refused from now on.
  ///
  /// - Parameter address: the client's; nil: this machine.
  /// - Returns: the key, and the secret, which is not stored.
  package static func issue(
    _ database: Database, app: App, by actor: String, from address: String? = nil, now: Date
  ) throws -> (key: JPushKey, secret: String) {
    let secret = Self.secret()
    try database.run(
      """
      INSERT INTO jpush_keys(app_id, app_key, secret_hash, created_by, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT(app_id) DO UPDATE SET secret_hash = excluded.secret_hash, rotated_at = ?5
      """, app.id, Random.bytes(length / 2).map { String(format: "%02x", $0) }.joined(), Secret.hash(secret), actor, now
    )
    guard let key = try find(database, app: app.id) else {
      throw StoreError.notFound(noun: "app", id: app.bundleID)
    }
    try note(database, key.rotatedAt == nil ? "create" : "rotate", key, app, by: actor, from: address, now: now)
    return (key, secret)
  }

  /// Removes an app's key pair, with a line of the activity log.
  ///
  /// - Returns: whether there was one.
  package static func remove(
    _ database: Database, app: App, by actor: String, from address: String? = nil, now: Date
  ) throws -> Bool {
    guard let key = try find(database, app: app.id) else { return false }
    try remove(database, appID: app.id)
    try note(database, "delete", key, app, by: actor, from: address, now: now)
    return true
  }

  static func remove(_ database: Database, appID: Int64) throws {
    try database.run("DELETE FROM jpush_keys WHERE app_id = ?", appID)
  }

  private static func note(
    _ database: Database, _ verb: String, _ key: JPushKey, _ app: App, by actor: String, from address: String?,
    now: Date
  ) throws {
    try AuditEntry.add(
      database, by: actor, "jpush_key.\(verb)", "app \(app.bundleID)", ["app_key": .string(key.appKey)],
      from: address, now: now)
  }

  /// Records its use, at most once a minute.
  package static func touch(_ database: Database, app: Int64, now: Date) throws {
    try database.run(
      "UPDATE jpush_keys SET last_used_at = ? WHERE app_id = ? AND coalesce(last_used_at, 0) < ?", now, app,
      now.addingTimeInterval(-60))
  }

  /// Whether it is the master secret; takes the same time for every wrong one.
  package func isRight(_ secret: String) -> Bool { constantTimeEqual(Secret.hash(secret), secretHash) }

  /// 24 letters and digits: 142 bits.
  private static func secret() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    var secret: [UInt8] = []
    while secret.count < length {
      // Numbers from 248 on would make the first letters more frequent.
      secret += Random.bytes(length).filter { $0 < 248 }.map { letters[Int($0) % letters.count] }
    }
    return String(decoding: secret.prefix(length), as: UTF8.self)
  }
}
