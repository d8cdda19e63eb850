package import Foundation
import JSON
internal import Model
package import SQLite

/// A person or chat that receives reminders.
package struct Receiver: Sendable, Hashable, Identifiable, StoredRecord {
  /// The raw values are stored and used in the API.
  package enum Channel: String, Sendable, Hashable, CaseIterable {
    case email, webhook, slack, dingtalk, feishu, wecom
  }

  package struct Details: Sendable, Hashable {
    package var channel: Channel
    package var name: String
    /// The visible part of the address: all of a mail address, the host of a webhook.
    package var target: String
    package var language: String
    /// Only reminders of this app; nil: all.
    package var appID: Int64?
    /// Whether it receives anything.
    package var isActive: Bool
    /// Whether it is told when an incident opens, and when it closes.
    package var getsIncidents: Bool

    package init(
      channel: Channel, name: String, target: String, language: String = "en", appID: Int64? = nil,
      isActive: Bool = true, getsIncidents: Bool = false
    ) {
      (self.channel, self.name, self.target, self.language) = (channel, name, target, language)
      (self.appID, self.isActive, self.getsIncidents) = (appID, isActive, getsIncidents)
    }
  }

  /// Address and signing secret. Sealed in the file.
  package struct Secrets: Sendable, Hashable {
    /// A mail address, or a webhook's address, which is secret itself.
    package var address: String
    package var secret: String

    package init(address: String, secret: String = "") { (self.address, self.secret) = (address, secret) }

    /// As sealed.
    var bytes: [UInt8] { JSONValue.object(["address": .string(address), "secret": .string(secret)]).bytes }

    /// - Parameter column: for the error.
    init(opened bytes: [UInt8], column: String) throws {
      let value = try json(String(decoding: bytes, as: UTF8.self), column)
      self.init(address: value?["address"]?.string ?? "", secret: value?["secret"]?.string ?? "")
    }
  }

  package let id: Int64
  package let details: Details
  package let createdBy: String
  package let createdAt: Date

  private static let columns =
    "id, channel, name, target, language, app_id, is_active, created_by, created_at, incidents"

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    details = Details(
      channel: try row.value(1, as: Channel.self), name: row.text(2), target: row.text(3), language: row.text(4),
      appID: row.optionalInt64(5), isActive: row.bool(6), getsIncidents: row.bool(9))
    createdBy = row.text(7)
    createdAt = row.date(8)
  }

  package static func add(
    _ database: Database, _ details: Details, _ secrets: Secrets, sealer: any Sealer, by user: String, now: Date
  ) throws -> Receiver {
    try database.run(
      """
      INSERT INTO receivers(channel, name, target, sealed, language, app_id, is_active, incidents, created_by,
        created_at)
      VALUES (?, ?, ?, x'', ?, ?, ?, ?, ?, ?)
      """, details.channel.rawValue, details.name, details.target, details.language, details.appID, details.isActive,
      details.getsIncidents, user, now)
    let id = database.lastInsertedID
    try Sealing.keep(database, secrets.bytes, "receivers", id, sealer, now: now)
    return try get(database, id: id)
  }

  /// Nil `secrets` stay unchanged.
  @discardableResult
  package static func update(
    _ database: Database, id: Int64, _ details: Details, _ secrets: Secrets?, sealer: any Sealer, now: Date
  ) throws -> Receiver {
    try database.run(
      """
      UPDATE receivers SET channel = ?, name = ?, target = ?, language = ?, app_id = ?, is_active = ?, incidents = ?
      WHERE id = ?
      """, details.channel.rawValue, details.name, details.target, details.language, details.appID, details.isActive,
      details.getsIncidents, id)
    if let secrets { try Sealing.keep(database, secrets.bytes, "receivers", id, sealer, now: now) }
    return try get(database, id: id)
  }

  /// Unseals the address and secret.
  ///
  /// - Throws: `StoreError.notFound`, or the sealer's error if the row was changed.
  package static func secrets(_ database: Database, id: Int64, sealer: any Sealer) throws -> Secrets {
    let sealed = try database.fetchOne("SELECT sealed FROM receivers WHERE id = ?", id) { $0.blob(0) }
    guard let sealed else { throw StoreError.notFound(noun: "receiver", id: "\(id)") }
    return try Secrets(
      opened: try sealer.open(sealed, associatedData: place("receivers", id)), column: "receivers.sealed")
  }

  package static func all(_ database: Database) throws -> [Receiver] {
    try database.fetchAll("SELECT \(columns) FROM receivers ORDER BY name COLLATE NOCASE, id") { try Receiver($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> Receiver? {
    try database.fetchOne("SELECT \(columns) FROM receivers WHERE id = ?", id) { try Receiver($0) }
  }

  package static let noun = "receiver"

  /// Deletes a receiver. Sent messages stay in the log; pending ones are dropped.
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

/// The password of the mail server, sealed and therefore apart from its other settings.
package enum MailPassword {
  /// There is one mail server.
  private static let id: Int64 = 1

  /// Nil if none is stored.
  ///
  /// - Throws: the sealer's error if it was sealed with another key.
  package static func find(_ database: Database, sealer: any Sealer) throws -> String? {
    let sealed = try database.fetchOne("SELECT sealed FROM mail_passwords WHERE id = ?", id) { $0.blob(0) }
    guard let sealed else { return nil }
    return String(decoding: try sealer.open(sealed, associatedData: place("mail_passwords", id)), as: UTF8.self)
  }

  /// Nil deletes it.
  ///
  /// - Throws: ``SealingMismatch`` if the database is sealed with another key.
  package static func set(_ database: Database, _ password: String?, sealer: any Sealer, now: Date) throws {
    guard let password else {
      try database.run("DELETE FROM mail_passwords WHERE id = ?", id)
      return
    }
    let sealed = try Sealing.seal(database, Array(password.utf8), "mail_passwords", id, sealer, now: now)
    try database.run(
      "INSERT INTO mail_passwords(id, sealed) VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET sealed = excluded.sealed", id,
      sealed)
  }
}
