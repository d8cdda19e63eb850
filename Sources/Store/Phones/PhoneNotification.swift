package import Foundation
package import JSON
package import SQLite
import Model

/// What a phone received, as it is kept.
package struct PhoneNotification: Sendable, Hashable, Identifiable {
  /// The simulator's own number: counts up over all phones.
  package var id: Int64
  /// The phone.
  package var phoneID: Int64
  /// When.
  package var at: Date
  /// As the sender said it, or the stand-in provider made it up.
  package var apnsID: String?
  /// The request's headers, and what became of it on the phone, as the simulator writes it.
  package var headers: JSONValue
  /// The request's body.
  package var payload: [UInt8]
  package init(id: Int64, phoneID: Int64, at: Date, apnsID: String?, headers: JSONValue, payload: [UInt8]) {
    self.id = id
    self.phoneID = phoneID
    self.at = at
    self.apnsID = apnsID
    self.headers = headers
    self.payload = payload
  }

  /// Keeps a notification, new or known.
  package func save(_ database: Database) throws {
    try database.run(
      """
      INSERT INTO phone_notifications(id, phone_id, at, apns_id, headers, payload) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT(id) DO UPDATE SET at = excluded.at, headers = excluded.headers
      """, id, phoneID, at, apnsID, headers.text(), payload)
  }

  /// What every phone received, newest first.
  package static func all(_ database: Database) throws -> [Int64: [PhoneNotification]] {
    let found = try database.fetchAll(
      "SELECT id, phone_id, at, apns_id, headers, payload FROM phone_notifications ORDER BY id DESC"
    ) { row in
      PhoneNotification(
        id: row.int64(0), phoneID: row.int64(1), at: row.date(2), apnsID: row.optionalText(3),
        headers: try json(row.text(4), "phone_notifications.headers") ?? .null, payload: row.blob(5))
    }
    return Dictionary(grouping: found, by: \.phoneID)
  }

  /// Forgets notifications, known or not.
  package static func delete(_ database: Database, ids: [Int64]) throws {
    for id in ids { try database.run("DELETE FROM phone_notifications WHERE id = ?", id) }
  }
}
