package import Foundation
package import JSON
package import Model
package import SQLite

/// A stored phone of the built-in simulator.
package struct Phone: Sendable, Hashable, Identifiable {
  /// The simulator's ID.
  package var id: Int64
  package var name: String
  package var platform: Platform
  package var bundleID: String
  package var environment: Environment
  /// The token given by the simulator.
  package var token: DeviceToken
  /// In the simulator's format.
  package var state: JSONValue
  package init(
    id: Int64, name: String, platform: Platform, bundleID: String, environment: Environment, token: DeviceToken,
    state: JSONValue
  ) {
    (self.id, self.name, self.platform, self.bundleID) = (id, name, platform, bundleID)
    (self.environment, self.token, self.state) = (environment, token, state)
  }

  /// Adds or updates a phone.
  package func save(_ database: Database, now: Date) throws {
    try database.run(
      """
      INSERT INTO phones(id, name, platform, bundle_id, environment, token, state, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT(id) DO UPDATE SET name = excluded.name, token = excluded.token, state = excluded.state
      """, id, name, platform.rawValue, bundleID, environment.rawValue, token.bytes, state.text(), now)
  }

  package static func all(_ database: Database) throws -> [Phone] {
    try database.fetchAll(
      "SELECT id, name, platform, bundle_id, environment, token, state FROM phones ORDER BY id"
    ) { row in
      Phone(
        id: row.int64(0), name: row.text(1), platform: try row.value(2, as: Platform.self), bundleID: row.text(3),
        environment: try row.value(4, as: Environment.self), token: DeviceToken(bytes: row.blob(5)),
        state: try json(row.text(6), "phones.state") ?? .null)
    }
  }

  /// Deletes a phone with its notifications.
  ///
  /// - Returns: whether it existed.
  @discardableResult
  package static func delete(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM phones WHERE id = ?", id) == 1
  }
}

/// A stored notification of a simulated phone.
package struct PhoneNotification: Sendable, Hashable, Identifiable {
  /// The simulator's ID, counting over all phones.
  package var id: Int64
  package var phoneID: Int64
  package var at: Date
  /// Given by the sender, or made by the simulator.
  package var apnsID: String?
  /// The request's headers and its effects on the phone, in the simulator's format.
  package var headers: JSONValue
  package var payload: [UInt8]
  package init(id: Int64, phoneID: Int64, at: Date, apnsID: String?, headers: JSONValue, payload: [UInt8]) {
    (self.id, self.phoneID, self.at) = (id, phoneID, at)
    (self.apnsID, self.headers, self.payload) = (apnsID, headers, payload)
  }

  /// Adds or updates a notification.
  package func save(_ database: Database) throws {
    try database.run(
      """
      INSERT INTO phone_notifications(id, phone_id, at, apns_id, headers, payload) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT(id) DO UPDATE SET at = excluded.at, headers = excluded.headers
      """, id, phoneID, at, apnsID, headers.text(), payload)
  }

  /// By phone, newest first.
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

  /// Deletes notifications; unknown IDs are ignored.
  package static func delete(_ database: Database, ids: [Int64]) throws {
    for id in ids { try database.run("DELETE FROM phone_notifications WHERE id = ?", id) }
  }
}
