package import Foundation
package import JSON
package import Model
package import SQLite
internal import Text

/// A broadcast channel of APNs, as known here.
package struct Channel: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let appID: Int64
  package let environment: Environment
  /// Apple's ID.
  package let channel: String
  /// Nil: not known.
  package let policy: ChannelPolicy?
  /// For people; may be empty.
  package let name: String
  /// Nil: found in Apple's list.
  package let createdBy: String?
  package let createdAt: Date
  /// When Apple last listed it.
  package let listedAt: Date?
  /// When Apple first listed others without it; nil: it exists.
  package let missingSince: Date?

  /// Characters of a name.
  package static let nameLimit = 100

  private static let columns = """
    id, app_id, environment, channel, policy, name, created_by, created_at, listed_at, missing_since
    """

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    appID = row.int64(1)
    environment = try row.value(2, as: Environment.self)
    channel = row.text(3)
    policy = row.optionalInt(4).flatMap(ChannelPolicy.init)
    name = row.text(5).singleLine
    createdBy = row.optionalText(6)
    createdAt = row.date(7)
    listedAt = row.optionalDate(8)
    missingSince = row.optionalDate(9)
  }

  /// An app's channels, the newest first.
  ///
  /// - Parameter environment: nil: both.
  package static func all(
    _ database: Database, app: Int64, environment: Environment? = nil
  ) throws -> [Channel] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM channels WHERE app_id = ?1 AND (?2 IS NULL OR environment = ?2)
      ORDER BY created_at DESC, id DESC
      """, app, environment?.rawValue
    ) { try Channel($0) }
  }

  /// Every app's channels that exist, for the send form; at most 500.
  package static func offered(_ database: Database) throws -> [Channel] {
    try database.fetchAll(
      "SELECT \(columns) FROM channels WHERE missing_since IS NULL ORDER BY created_at DESC, id DESC LIMIT 500"
    ) { try Channel($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> Channel? {
    try database.fetchOne("SELECT \(columns) FROM channels WHERE id = ?", id) { try Channel($0) }
  }

  package static func find(
    _ database: Database, app: Int64, environment: Environment, channel: String
  ) throws -> Channel? {
    try database.fetchOne(
      "SELECT \(columns) FROM channels WHERE app_id = ? AND environment = ? AND channel = ?", app,
      environment.rawValue, channel
    ) { try Channel($0) }
  }

  /// Keeps a channel that Apple has just created, or one that was read there; a name that is given replaces the old.
  @discardableResult
  package static func keep(
    _ database: Database, app: Int64, environment: Environment, channel: String, policy: ChannelPolicy?,
    name: String = "", by creator: String?, now: Date
  ) throws -> Channel {
    try database.run(
      """
      INSERT INTO channels(app_id, environment, channel, policy, name, created_by, created_at, listed_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
      ON CONFLICT(app_id, environment, channel) DO UPDATE SET
        policy = coalesce(excluded.policy, policy), name = iif(excluded.name = '', name, excluded.name),
        listed_at = excluded.listed_at, missing_since = NULL
      """, app, environment.rawValue, channel, policy?.rawValue, name, creator, now)
    guard let kept = try find(database, app: app, environment: environment, channel: channel) else {
      throw StoreError.notFound(noun: "channel", id: channel)
    }
    return kept
  }

  /// Compares what is known with Apple's complete list: adds what is new, and marks what is missing.
  package static func reconcile(
    _ database: Database, app: Int64, environment: Environment, listed: [String], now: Date
  ) throws {
    for channel in listed {
      try keep(database, app: app, environment: environment, channel: channel, policy: nil, by: nil, now: now)
    }
    let present = Set(listed)
    for known in try all(database, app: app, environment: environment)
    where known.missingSince == nil && !present.contains(known.channel) {
      try database.run("UPDATE channels SET missing_since = ? WHERE id = ?", now, known.id)
    }
  }

  /// Forgets a channel that is deleted at Apple.
  ///
  /// - Returns: whether it was known.
  @discardableResult
  package static func remove(
    _ database: Database, app: Int64, environment: Environment, channel: String
  ) throws -> Bool {
    try database.run(
      "DELETE FROM channels WHERE app_id = ? AND environment = ? AND channel = ?", app, environment.rawValue, channel)
      > 0
  }
}

extension Channel: JSONObject {
  /// The schema `Channel`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("channel", channel)
    json.member("environment", environment.rawValue)
    json.member("name", name)
    json.member("storage", policy?.word.rawValue)
    json.member("created_by", createdBy)
    json.member("created_at", createdAt)
    json.member("listed_at", listedAt)
    json.member("missing_since", missingSince)
  }
}
