public import Foundation
public import JSON
public import Model
public import SQLite

/// A handset of the built-in simulator, as it is kept from one start to the next.
public struct Phone: Sendable, Hashable, Identifiable {
  /// The simulator's own number.
  public var id: Int64
  /// What people call it.
  public var name: String
  /// What it runs.
  public var platform: Platform
  /// The app on it.
  public var bundleID: String
  /// The app's build.
  public var environment: Environment
  /// The token that the stand-in provider gave it.
  public var token: DeviceToken
  /// How it is at the moment, as the simulator writes it.
  public var state: JSONValue

  /// Creates a record.
  public init(
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
  public func save(_ database: Database, now: Date) throws {
    try database.run(
      """
      INSERT INTO phones(id, name, platform, bundle_id, environment, token, state, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT(id) DO UPDATE SET name = excluded.name, token = excluded.token, state = excluded.state
      """, id, name, platform.rawValue, bundleID, environment.rawValue, token.bytes, state.text(), now)
  }

  /// All phones, oldest first.
  public static func all(_ database: Database) throws -> [Phone] {
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
  public static func delete(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM phones WHERE id = ?", id) == 1
  }
}
