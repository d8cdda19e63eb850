package import Foundation
package import JSON
package import Model
package import SQLite

package struct App: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  /// Such as `com.example.app`: the topic at APNs, and the app's name in the API.
  package let bundleID: String
  /// The Android package name, if it differs.
  package let packageName: String?
  /// What people call it.
  package let name: String
  /// An `AliasRule`'s text.
  package let aliasRule: String?
  package let createdAt: Date
  /// Whether a push to production waits for a second person's approval.
  package let needsApproval: Bool

  static let columns = "a.id, a.bundle_id, a.package_name, a.name, a.alias_rule, a.created_at, a.needs_approval"

  init(_ row: borrowing Row) {
    id = row.int64(0)
    bundleID = row.text(1)
    packageName = row.optionalText(2)
    name = row.text(3)
    aliasRule = row.optionalText(4)
    createdAt = row.date(5)
    needsApproval = row.bool(6)
  }
}

extension App {
  /// Adds an app.
  ///
  /// - Throws: `StoreError.taken` if the bundle ID exists.
  @discardableResult
  package static func add(
    _ database: Database, bundleID: String, name: String, packageName: String? = nil, aliasRule: String? = nil,
    now: Date
  ) throws -> App {
    do {
      try database.run(
        "INSERT INTO apps(bundle_id, package_name, name, alias_rule, created_at) VALUES (?, ?, ?, ?, ?)",
        bundleID, packageName, name, aliasRule, now)
    } catch let error as SQLiteError where error.isUniqueViolation {
      throw StoreError.taken(noun: "app", field: "bundle ID")
    }
    return try App.get(database, id: database.lastInsertedID)
  }

  package static func all(_ database: Database) throws -> [App] {
    try database.fetchAll("SELECT \(columns) FROM apps a ORDER BY a.name COLLATE NOCASE, a.id") { App($0) }
  }

  /// The bundle IDs of all apps, by their row IDs.
  package static func bundleIDs(_ database: Database) throws -> [Int64: String] {
    Dictionary(uniqueKeysWithValues: try all(database).map { ($0.id, $0.bundleID) })
  }

  /// The app that people most likely ask for: that of the newest push, else the one with the most devices, else the
  /// first.
  ///
  /// - Parameter apps: all of them, in their order.
  package static func usual(_ database: Database, of apps: [App]) throws -> App? {
    let used =
      try database.fetchOne("SELECT app_id FROM pushes ORDER BY id DESC LIMIT 1") { $0.int64(0) }
      ?? database.fetchOne(
        "SELECT app_id FROM device_counters WHERE count > 0 GROUP BY app_id ORDER BY sum(count) DESC, app_id LIMIT 1"
      ) { $0.int64(0) }
    return apps.first { $0.id == used } ?? apps.first
  }

  package static func find(_ database: Database, id: Int64) throws -> App? {
    try database.fetchOne("SELECT \(columns) FROM apps a WHERE a.id = ?", id) { App($0) }
  }

  package static func find(_ database: Database, bundleID: String) throws -> App? {
    try database.fetchOne("SELECT \(columns) FROM apps a WHERE a.bundle_id = ?", bundleID) { App($0) }
  }

  package static let noun = "app"

  /// The bundle ID cannot change, because tokens belong to it.
  @discardableResult
  package static func update(
    _ database: Database, id: Int64, name: String, packageName: String?, aliasRule: String?
  ) throws -> App {
    try database.run(
      "UPDATE apps SET name = ?, package_name = ?, alias_rule = ? WHERE id = ?", name, packageName, aliasRule, id)
    return try get(database, id: id)
  }

  /// Sets whether pushes to production need a second person's approval. What waits already goes on waiting.
  ///
  /// - Returns: whether it was set otherwise.
  package static func setApproval(
    _ database: Database, id: Int64, _ isNeeded: Bool, by audit: NewAuditEntry, now: Date
  ) throws -> Bool {
    let app = try get(database, id: id)
    guard app.needsApproval != isNeeded else { return false }
    try database.run("UPDATE apps SET needs_approval = ? WHERE id = ?", isNeeded, id)
    var entry = audit
    (entry.action, entry.subject) = ("app.approval", "app \(app.bundleID)")
    entry.detail = ["before": ["approval": .bool(!isNeeded)], "after": ["approval": .bool(isNeeded)]]
    try AuditEntry.add(database, entry, now: now)
    return true
  }

  /// What is deleted with an app.
  package struct Belongings: Sendable, Hashable {
    /// Devices in any state.
    package let devices: Int
    /// With all their deliveries.
    package let pushes: Int
    /// The certificates themselves stay.
    package let credentials: Int
    package let schedules: Int
    /// With their runs.
    package let smokeTests: Int
    package let webhooks: Int
  }

  /// What ``delete(_:id:)`` would delete too.
  package static func belongings(_ database: Database, id: Int64) throws -> Belongings {
    Belongings(
      devices: try database.int("SELECT coalesce(sum(count), 0) FROM device_counters WHERE app_id = ?", id),
      pushes: try database.int("SELECT count(*) FROM pushes WHERE app_id = ?", id),
      credentials: try database.int("SELECT count(*) FROM credentials WHERE app_id = ?", id),
      schedules: try database.int("SELECT count(*) FROM schedules WHERE app_id = ? AND state <> 'ended'", id),
      smokeTests: try database.int("SELECT count(*) FROM smoke_tests WHERE app_id = ?", id),
      webhooks: try database.int("SELECT count(*) FROM webhooks WHERE app_id = ?", id))
  }

  /// Deletes an app and everything that belongs to it, except certificates. Blocks the writer, for a million devices
  /// for seconds.
  /// - Returns: whether it existed.
  @discardableResult
  package static func delete(_ database: Database, id: Int64) throws -> Bool {
    let pushes = "(SELECT id FROM pushes WHERE app_id = ?1)"
    let tags = "(SELECT id FROM tags WHERE app_id = ?1)"
    let devices = "(SELECT id FROM devices WHERE app_id = ?1)"
    let schedules = "(SELECT id FROM schedules WHERE app_id = ?1)"
    for table in [
      "deliveries", "push_reasons", "push_latencies", "push_targets", "receipts", "receipt_counters", "jpush_messages",
      "incident_pushes", "message_names", "delivery_answers",
    ] {
      try database.run("DELETE FROM \(table) WHERE push_id IN \(pushes)", id)
    }
    try database.run("UPDATE pushes SET parent_id = NULL WHERE parent_id IN \(pushes)", id)
    for (table, column, rows) in [
      ("pushes", "app_id", "(?1)"), ("schedule_occurrences", "schedule_id", schedules),
      ("schedules", "app_id", "(?1)"), ("device_tags", "tag_id", tags), ("tag_counters", "tag_id", tags),
      ("tags", "app_id", "(?1)"), ("device_events", "device_id", devices), ("devices", "app_id", "(?1)"),
      ("device_counters", "app_id", "(?1)"), ("incidents", "app_id", "(?1)"),
    ] {
      try database.run("DELETE FROM \(table) WHERE \(column) IN \(rows)", id)
    }
    return try database.run("DELETE FROM apps WHERE id = ?", id) > 0
  }
}

extension App {
  /// The rule for aliases.
  package var rule: AliasRule { aliasRule.flatMap(AliasRule.init) ?? .none }
}

extension App {
  /// The values written to the audit log.
  package var audited: JSONValue {
    ["name": .string(name), "package_name": .optional(packageName), "alias_rule": .optional(aliasRule)]
  }

  /// With what goes with it.
  private func audited(_ belongings: Belongings) -> JSONValue {
    let counts: [String: JSONValue] = [
      "devices": .integer(Int64(belongings.devices)), "pushes": .integer(Int64(belongings.pushes)),
      "credentials": .integer(Int64(belongings.credentials)),
    ]
    return .object((audited.object ?? [:]).merging(counts) { $1 })
  }

  /// Deletes the app with everything that belongs to it, with an entry of the activity log.
  ///
  /// - Parameter audit: its detail is filled in.
  /// - Throws: `StoreError.inUse` while pushes of the app wait or are sent: the engine must not lose the row of a push
  ///   while it records results.
  package func remove(_ database: Database, audit: NewAuditEntry, now: Date) throws {
    var filter = PushFilter(app: id)
    filter.states = [.queued, .sending, .paused]
    let running = try Push.list(database, filter, limit: 10).items
    if !running.isEmpty {
      throw StoreError.inUse(noun: "app", by: running.map { "push \($0.uid), which is being sent" })
    }
    var entry = audit
    entry.detail = ["before": audited(try App.belongings(database, id: id)), "after": .null]
    try App.delete(database, id: id)
    try AuditEntry.add(database, entry, now: now)
  }
}
