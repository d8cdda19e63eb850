public import Push
public import SQLite

/// How many devices of one kind an app has.
public struct DeviceCount: Sendable, Hashable {
  /// The app.
  public let appID: Int64
  /// The environment.
  public let environment: Environment
  /// The platform.
  public let platform: Platform
  /// The state.
  public let state: DeviceState
  /// How many, more than 0.
  public let count: Int

  /// The counters of all apps, or of one: never counts devices.
  public static func all(_ database: Database, app: Int64? = nil) throws -> [DeviceCount] {
    try database.fetchAll(
      """
      SELECT app_id, environment, platform, state, count FROM device_counters
      WHERE count > 0 AND (?1 IS NULL OR app_id = ?1)
      """, app
    ) { row in
      DeviceCount(
        appID: row.int64(0), environment: try Environment(code: row.int(1)), platform: try Platform(code: row.int(2)),
        state: try row.value(3, as: DeviceState.self), count: row.int(4))
    }
  }
}
