public import Foundation
public import Push
public import SQLite

/// A handset of the built-in simulator.
public struct Phone: Sendable, Hashable, Identifiable {
  /// Row id.
  public let id: Int64
  /// What people call it.
  public let name: String
  /// What it runs.
  public let platform: Platform
  /// The app on it.
  public let bundleID: String
  /// The app's build.
  public let environment: Environment
  /// The token that the stand-in provider gave it.
  public let token: DeviceToken
  /// How it is at the moment, as the simulator writes it.
  public let state: JSONValue
  /// When made.
  public let createdAt: Date

  static let columns = "id, name, platform, bundle_id, environment, token, state, created_at"

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    name = row.text(1)
    platform = try row.value(2, as: Platform.self)
    bundleID = row.text(3)
    environment = try row.value(4, as: Environment.self)
    token = DeviceToken(bytes: row.blob(5))
    state = try json(row.text(6), "phones.state") ?? .null
    createdAt = row.date(7)
  }

  /// Adds a phone.
  ///
  /// - Throws: `StoreError.taken` if another phone has the token.
  @discardableResult
  public static func add(
    _ database: Database, name: String, platform: Platform, bundleID: String, environment: Environment,
    token: DeviceToken, state: JSONValue, now: Date
  ) throws -> Phone {
    do {
      try database.run(
        """
        INSERT INTO phones(name, platform, bundle_id, environment, token, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        """, name, platform.rawValue, bundleID, environment.rawValue, token.bytes, state.text(), now)
    } catch let error as SQLiteError where error.isUniqueViolation {
      throw StoreError.taken(noun: "phone", field: "token")
    }
    let id = database.lastInsertedID
    guard let phone = try find(database, id: id) else { throw StoreError.notFound(noun: "phone", id: "\(id)") }
    return phone
  }

  /// All phones, oldest first.
  public static func all(_ database: Database) throws -> [Phone] {
    try database.fetchAll("SELECT \(columns) FROM phones ORDER BY id") { try Phone($0) }
  }

  /// One phone, nil if there is none.
  public static func find(_ database: Database, id: Int64) throws -> Phone? {
    try database.fetchOne("SELECT \(columns) FROM phones WHERE id = ?", id) { try Phone($0) }
  }

  /// The phones with this token in an environment: one for each app.
  public static func all(
    _ database: Database, token: DeviceToken, environment: Environment
  ) throws -> [Phone] {
    try database.fetchAll(
      "SELECT \(columns) FROM phones WHERE token = ? AND environment = ? ORDER BY id", token.bytes,
      environment.rawValue
    ) { try Phone($0) }
  }

  /// Changes what may change; a token changes when the app is installed again.
  public static func update(
    _ database: Database, id: Int64, name: String, token: DeviceToken, state: JSONValue
  ) throws {
    try database.run(
      "UPDATE phones SET name = ?, token = ?, state = ? WHERE id = ?", name, token.bytes, state.text(), id)
  }

  /// Removes a phone with what it received.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  public static func delete(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM phones WHERE id = ?", id) == 1
  }
}
