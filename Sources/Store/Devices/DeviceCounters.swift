package import Model
package import SQLite

/// Changes to the counters of devices and tags, collected in memory and written once per transaction.
package struct DeviceCounters {
  struct Kind: Hashable {
    var environment: Int
    var platform: Int
    /// ``ProviderKind/code``.
    var provider: Int
    var state: Int

    /// As stored in `devices.provider`.
    var ownProvider: Int? { provider == platform ? nil : provider }
  }

  private struct Key: Hashable {
    let owner: Int64
    let kind: Kind
  }

  private var devices: [Key: Int] = [:]
  private var tags: [Key: Int] = [:]

  mutating func add(_ count: Int, app: Int64, _ kind: Kind) {
    devices[Key(owner: app, kind: kind), default: 0] += count
  }

  mutating func add(_ count: Int, tag: Int64, _ kind: Kind) { tags[Key(owner: tag, kind: kind), default: 0] += count }

  /// Where the number of parked or dead devices changes.
  var unreachable: Set<IncidentPlace> {
    get throws {
      try Set(
        devices.filter { $0.value != 0 && $0.key.kind.state != DeviceState.active.rawValue }.map { key, _ in
          IncidentPlace(
            app: key.owner, environment: try Environment(code: key.kind.environment),
            provider: try ProviderKind(code: key.kind.provider))
        })
    }
  }

  /// Writes the changes and resets them.
  mutating func flush(_ database: Database) throws {
    for (table, owner, changes) in [("device_counters", "app_id", devices), ("tag_counters", "tag_id", tags)] {
      try database.withStatement(
        """
        INSERT INTO \(table)(\(owner), environment, platform, provider, state, count) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
      ) { statement in
        for (key, count) in changes where count != 0 {
          try statement.bind(1, key.owner)
          try statement.bind(2, key.kind.environment)
          try statement.bind(3, key.kind.platform)
          try statement.bind(4, key.kind.provider)
          try statement.bind(5, key.kind.state)
          try statement.bind(6, count)
          try statement.run()
        }
      }
    }
    devices = [:]
    tags = [:]
  }
}

package struct DeviceCount: Sendable, Hashable {
  package let appID: Int64
  package let environment: Environment
  package let platform: Platform
  package let provider: ProviderKind
  package let state: DeviceState
  /// More than 0.
  package let count: Int

  /// From counters; of all apps, or of one.
  package static func all(_ database: Database, app: Int64? = nil) throws -> [DeviceCount] {
    try database.fetchAll(
      """
      SELECT app_id, environment, platform, provider, state, count FROM device_counters
      WHERE count > 0 AND (?1 IS NULL OR app_id = ?1)
      """, app
    ) { row in
      DeviceCount(
        appID: row.int64(0), environment: try Environment(code: row.int(1)), platform: try Platform(code: row.int(2)),
        provider: try ProviderKind(code: row.int(3)), state: try row.value(4, as: DeviceState.self), count: row.int(5))
    }
  }
}
