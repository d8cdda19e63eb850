public import SQLite

/// Changes to the counters of devices and tags, summed up in memory and written once a transaction.
public struct DeviceCounters {
  /// What a device is counted as.
  struct Kind: Hashable {
    var environment: Int
    var platform: Int
    var state: Int
  }

  private struct Key: Hashable {
    let owner: Int64
    let kind: Kind
  }

  private var devices: [Key: Int] = [:]
  private var tags: [Key: Int] = [:]

  init() {}

  mutating func add(_ count: Int, app: Int64, _ kind: Kind) {
    devices[Key(owner: app, kind: kind), default: 0] += count
  }

  mutating func add(_ count: Int, tag: Int64, _ kind: Kind) { tags[Key(owner: tag, kind: kind), default: 0] += count }

  /// Writes the changes and forgets them.
  mutating func flush(_ database: Database) throws {
    for (table, owner, changes) in [("device_counters", "app_id", devices), ("tag_counters", "tag_id", tags)] {
      try database.withStatement(
        """
        INSERT INTO \(table)(\(owner), environment, platform, state, count) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """
      ) { statement in
        for (key, count) in changes where count != 0 {
          try statement.bind(1, key.owner)
          try statement.bind(2, key.kind.environment)
          try statement.bind(3, key.kind.platform)
          try statement.bind(4, key.kind.state)
          try statement.bind(5, count)
          try statement.run()
        }
      }
    }
    devices = [:]
    tags = [:]
  }

  private static let counted = [
    (
      "device_counters", "app_id",
      "SELECT app_id, environment, platform, state, count(*) AS count FROM devices GROUP BY 1, 2, 3, 4"
    ),
    (
      "tag_counters", "tag_id",
      """
      SELECT m.tag_id, d.environment, d.platform, d.state, count(*) AS count
      FROM device_tags m JOIN devices d ON d.id = m.device_id GROUP BY 1, 2, 3, 4
      """
    ),
  ]

  /// How many counters differ from the rows they count. Looks at every device: for `doctor`, not for pages.
  public static func faults(_ database: Database) throws -> Int {
    try counted.reduce(0) { sum, table in
      let kept = "SELECT \(table.1), environment, platform, state, count FROM \(table.0) WHERE count <> 0"
      return try sum
        + database.int("SELECT count(*) FROM (SELECT * FROM (\(kept)) EXCEPT SELECT * FROM (\(table.2)))")
        + database.int("SELECT count(*) FROM (SELECT * FROM (\(table.2)) EXCEPT SELECT * FROM (\(kept)))")
    }
  }

  /// Counts anew. Looks at every device.
  public static func recount(_ database: Database) throws {
    for table in counted {
      try database.execute("DELETE FROM \(table.0)")
      try database.execute("INSERT INTO \(table.0)(\(table.1), environment, platform, state, count) \(table.2)")
    }
  }
}
