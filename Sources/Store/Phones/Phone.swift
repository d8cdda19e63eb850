package import Foundation
package import JSON
package import Model
package import SQLite

/// A handset of the built-in simulator, as it is kept from one start to the next.
package struct Phone: Sendable, Hashable, Identifiable {
  /// The simulator's own number.
  package var id: Int64
  /// What people call it.
  package var name: String
  /// What it runs.
  package var platform: Platform
  /// The app on it.
  package var bundleID: String
  /// The app's build.
  package var environment: Environment
  /// The token that the stand-in provider gave it.
  package var token: DeviceToken
  /// How it is at the moment, as the simulator writes it.
  package var state: JSONValue
  package init(
    id: Int64, name: String, platform: Platform, bundleID: String, environment: Environment, token: DeviceToken,
    state: JSONValue
  ) {
    self.id = id
    self.name = name
    self.platform = platform
    self.bundleID = bundleID
    self.environment = environment
    self.token = token
    self.state = state
  }

  /// Keeps a phone, new or known.
  package func save(_ database: Database, now: Date) throws {
    try database.run(
      """
      INSERT INTO phones(id, name, platform, bundle_id, environment, token, state, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT(id) DO UPDATE SET name = excluded.name, token = excluded.token, state = excluded.state
      """, id, name, platform.rawValue, bundleID, environment.rawValue, token.bytes, state.text(), now)
  }

  /// All phones, oldest first.
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

  /// Removes a phone with what it received.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package static func delete(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM phones WHERE id = ?", id) == 1
  }
}
