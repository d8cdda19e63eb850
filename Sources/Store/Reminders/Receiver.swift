package import Foundation
import JSON
internal import Model
package import SQLite

/// Somebody, or some chat, that is reminded of what ends.
package struct Receiver: Sendable, Hashable, Identifiable {
  /// How it is reached. The raw values are stored, and stand in the API.
  package enum Channel: String, Sendable, Hashable, CaseIterable {
    case email, webhook, slack, dingtalk, feishu, wecom
  }

  /// What people choose.
  package struct Details: Sendable, Hashable {
    /// How it is reached.
    package var channel: Channel
    /// What people call it.
    package var name: String
    /// What may be shown of the address: all of a mail address, the host of a webhook.
    package var target: String
    /// Language tag of what it gets.
    package var language: String
    /// Only what is of this app; nil: everything.
    package var appID: Int64?
    /// Whether it gets anything.
    package var isActive: Bool

    /// Creates details.
    package init(
      channel: Channel, name: String, target: String, language: String = "en", appID: Int64? = nil,
      isActive: Bool = true
    ) {
      self.channel = channel
      self.name = name
      self.target = target
      self.language = language
      self.appID = appID
      self.isActive = isActive
    }
  }

  /// Where to, and what signs it. Sealed in the file.
  package struct Secrets: Sendable, Hashable {
    /// A mail address, or the address of a webhook, which is a secret itself.
    package var address: String
    /// Signs what is sent; empty: nothing does.
    package var secret: String

    /// Creates secrets.
    package init(address: String, secret: String = "") {
      self.address = address
      self.secret = secret
    }

    fileprivate var bytes: [UInt8] {
      JSONValue.object(["address": .string(address), "secret": .string(secret)]).bytes
    }
  }

  /// Row id.
  package let id: Int64
  /// What people chose.
  package let details: Details
  /// Who made it.
  package let createdBy: String
  /// When.
  package let createdAt: Date

  private static let columns = "id, channel, name, target, language, app_id, is_active, created_by, created_at"

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    details = Details(
      channel: try row.value(1, as: Channel.self), name: row.text(2), target: row.text(3), language: row.text(4),
      appID: row.optionalInt64(5), isActive: row.bool(6))
    createdBy = row.text(7)
    createdAt = row.date(8)
  }

  /// Adds one; where to is sealed to this very row.
  package static func add(
    _ database: Database, _ details: Details, _ secrets: Secrets, sealer: any Sealer, by user: String, now: Date
  ) throws -> Receiver {
    try database.run(
      """
      INSERT INTO receivers(channel, name, target, sealed, language, app_id, is_active, created_by, created_at)
      VALUES (?, ?, ?, x'', ?, ?, ?, ?, ?)
      """, details.channel.rawValue, details.name, details.target, details.language, details.appID, details.isActive,
      user, now)
    let id = database.lastInsertedID
    try seal(database, id: id, secrets, sealer, now: now)
    return try get(database, id: id)
  }

  /// Changes one; `secrets` nil: where to stays as it is.
  @discardableResult
  package static func update(
    _ database: Database, id: Int64, _ details: Details, _ secrets: Secrets?, sealer: any Sealer, now: Date
  ) throws -> Receiver {
    try database.run(
      """
      UPDATE receivers SET channel = ?, name = ?, target = ?, language = ?, app_id = ?, is_active = ? WHERE id = ?
      """, details.channel.rawValue, details.name, details.target, details.language, details.appID, details.isActive,
      id)
    if let secrets { try seal(database, id: id, secrets, sealer, now: now) }
    return try get(database, id: id)
  }

  private static func seal(
    _ database: Database, id: Int64, _ secrets: Secrets, _ sealer: any Sealer, now: Date
  ) throws {
    let sealed = try Sealing.seal(database, secrets.bytes, "receivers", id, sealer, now: now)
    try database.run("UPDATE receivers SET sealed = ? WHERE id = ?", sealed, id)
  }

  /// Where to, unsealed.
  ///
  /// - Throws: `StoreError.notFound`, or what the sealer throws for a row that was tampered with.
  package static func secrets(_ database: Database, id: Int64, sealer: any Sealer) throws -> Secrets {
    let sealed = try database.fetchOne("SELECT sealed FROM receivers WHERE id = ?", id) { $0.blob(0) }
    guard let sealed else { throw StoreError.notFound(noun: "receiver", id: "\(id)") }
    let text = String(decoding: try sealer.open(sealed, associatedData: place("receivers", id)), as: UTF8.self)
    let value = try json(text, "receivers.sealed")
    return Secrets(address: value?["address"]?.string ?? "", secret: value?["secret"]?.string ?? "")
  }

  /// All of them, by name.
  package static func all(_ database: Database) throws -> [Receiver] {
    try database.fetchAll("SELECT \(columns) FROM receivers ORDER BY name COLLATE NOCASE, id") { try Receiver($0) }
  }

  /// One of them, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> Receiver? {
    try database.fetchOne("SELECT \(columns) FROM receivers WHERE id = ?", id) { try Receiver($0) }
  }

  /// One of them.
  ///
  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, id: Int64) throws -> Receiver {
    guard let found = try find(database, id: id) else { throw StoreError.notFound(noun: "receiver", id: "\(id)") }
    return found
  }

  /// Removes one. What was sent to it stays in the log; what was not is dropped.
  ///
  /// - Throws: `StoreError.notFound`.
  package static func delete(_ database: Database, id: Int64) throws {
    try database.run(
      "UPDATE reminder_messages SET state = 'dropped' WHERE receiver_id = ? AND state = 'pending'", id)
    guard try database.run("DELETE FROM receivers WHERE id = ?", id) > 0 else {
      throw StoreError.notFound(noun: "receiver", id: "\(id)")
    }
  }
}
