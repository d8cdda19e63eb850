public import Foundation
public import Push
public import SQLite

/// What a phone received.
public struct PhoneNotification: Sendable, Hashable, Identifiable {
  /// Row id.
  public let id: Int64
  /// The phone.
  public let phoneID: Int64
  /// When.
  public let at: Date
  /// As the sender said it, or the stand-in provider made it up.
  public let apnsID: String?
  /// The request's headers.
  public let headers: JSONValue
  /// The request's body.
  public let payload: [UInt8]

  /// Keeps a notification; of the phone's older ones only as many stay that there are `keep`.
  @discardableResult
  public static func add(
    _ database: Database, phone: Int64, apnsID: String?, headers: JSONValue, payload: [UInt8], keep: Int = 200,
    now: Date
  ) throws -> Int64 {
    try database.run(
      "INSERT INTO phone_notifications(phone_id, at, apns_id, headers, payload) VALUES (?, ?, ?, ?, ?)", phone, now,
      apnsID, headers.text(), payload)
    let id = database.lastInsertedID
    try database.run(
      """
      DELETE FROM phone_notifications WHERE phone_id = ?1 AND id <= (
        SELECT id FROM phone_notifications WHERE phone_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
      """, phone, keep)
    return id
  }

  /// A page of what a phone received, newest first.
  public static func list(
    _ database: Database, phone: Int64, cursor: String? = nil, limit: Int
  ) throws -> Page<PhoneNotification> {
    let found = try database.fetchAll(
      """
      SELECT id, phone_id, at, apns_id, headers, payload FROM phone_notifications
      WHERE phone_id = ? AND id < ? ORDER BY id DESC LIMIT ?
      """, phone, try position(cursor) ?? .max, limit + 1
    ) { try read($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// One notification, nil if there is none.
  public static func find(_ database: Database, id: Int64) throws -> PhoneNotification? {
    try database.fetchOne(
      "SELECT id, phone_id, at, apns_id, headers, payload FROM phone_notifications WHERE id = ?", id
    ) { try read($0) }
  }

  /// Forgets what a phone received.
  public static func clear(_ database: Database, phone: Int64) throws {
    try database.run("DELETE FROM phone_notifications WHERE phone_id = ?", phone)
  }

  private static func read(_ row: borrowing Row) throws -> PhoneNotification {
    PhoneNotification(
      id: row.int64(0), phoneID: row.int64(1), at: row.date(2), apnsID: row.optionalText(3),
      headers: try json(row.text(4), "phone_notifications.headers") ?? .null, payload: row.blob(5))
  }
}
