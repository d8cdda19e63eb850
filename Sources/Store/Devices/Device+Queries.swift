package import Foundation
package import Model
package import SQLite

extension Device {
  /// The order of a list of devices.
  package enum Order: Sendable {
    /// For pages.
    case newestFirst
    /// For exports.
    case oldestFirst
  }

  package static func find(_ database: Database, id: Int64) throws -> Device? {
    try one(database, "d.id = ?", id)
  }

  /// Without its tags and details.
  static func plain(_ database: Database, id: Int64) throws -> Device? {
    try database.fetchOne("SELECT \(columns) FROM devices d WHERE d.id = ?", id) { try Device($0) }
  }

  package static let noun = "device"

  package static func find(_ database: Database, app: Int64, token: DeviceToken) throws -> Device? {
    try one(database, "d.token = ? AND d.app_id = ?", token.bytes, app)
  }

  package static func find(_ database: Database, app: Int64, registrationID: String) throws -> Device? {
    try one(database, "d.registration_id = ? AND d.app_id = ?", registrationID, app)
  }

  /// The names of an app's devices, by their tokens; those without a name are left out.
  package static func names(
    _ database: Database, app: Int64, tokens: [DeviceToken]
  ) throws -> [DeviceToken: String] {
    try tokens.reduce(into: [:]) { names, token in
      names[token] = try database.fetchOne(
        "SELECT name FROM devices INDEXED BY devices_token WHERE token = ? AND app_id = ? AND name <> ''",
        token.bytes, app
      ) { $0.text(0) }
    }
  }

  /// The highest device ID so far; 0 without devices. A push goes to devices up to the one at its start.
  package static func lastID(_ database: Database) throws -> Int64 {
    try database.fetchOne("SELECT max(id) FROM devices") { $0.int64(0) } ?? 0
  }

  /// Devices registered for the first time in one hour.
  package struct NewCount: Sendable, Hashable {
    package let hour: Date
    package let platform: Platform
    package let count: Int
  }

  /// The devices of an app registered for the first time in a period, by hour, as far as they still exist. Reads every
  /// device of the app: give the read a limit.
  ///
  /// - Parameter from: the start of the first hour.
  package static func newCounts(
    _ database: Database, app: Int64, from: Date, before: Date
  ) throws -> [NewCount] {
    try database.fetchAll(
      """
      SELECT (created_at - ?2) / 3600000 AS hour, platform, count(*) FROM devices
      WHERE app_id = ?1 AND created_at >= ?2 AND created_at < ?3 GROUP BY hour, platform
      """, app, from, before
    ) { row in
      NewCount(
        hour: from.addingTimeInterval(Double(row.int(0) * 3600)), platform: try Platform(code: row.int(1)),
        count: row.int(2))
    }
  }

  /// A page of matching devices.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, _ filter: DeviceFilter, order: Order = .newestFirst, cursor: String? = nil, limit: Int
  ) throws -> Page<Device> {
    let (groups, cursor) = (try groups(database, filter), try position(cursor))
    var found = try groups.flatMap { apps -> [Device] in
      guard let (sql, arguments) = try query(database, filter, of: apps, order, cursor, limit + 1) else { return [] }
      return try database.fetchAll(sql, arguments: arguments) { try Device($0) }
    }
    if groups.count > 1 { found.sort { order == .newestFirst ? $0.id > $1.id : $0.id < $1.id } }
    let page = Page(found, limit: limit, key: \.id)
    return Page(items: try whole(database, page.items), next: page.next)
  }

  /// Apps whose devices one query lists. Each app has up to twelve arms (see ``DeviceSource``), and SQLite merges at most
  /// 500 (https://www.sqlite.org/limits.html#max_compound_select).
  private static let appsOfQuery = 40

  /// The apps whose devices are listed, in groups for one query each. Only a list by kind has arms for each app.
  private static func groups(_ database: Database, _ filter: DeviceFilter) throws -> [[Int64]] {
    if let app = filter.app { return [[app]] }
    let apps = try database.fetchAll("SELECT id FROM apps ORDER BY id") { $0.int64(0) }
    guard filter.isByKind else { return [apps] }
    return stride(from: 0, to: apps.count, by: appsOfQuery).map {
      Array(apps[$0..<min($0 + appsOfQuery, apps.count)])
    }
  }

  private static func one(
    _ database: Database, _ condition: String, _ arguments: any SQLiteBindable...
  ) throws -> Device? {
    let sql = "SELECT \(columns) FROM devices d WHERE \(condition)"
    guard let device = try database.fetchOne(sql, arguments: arguments, row: { try Device($0) }) else { return nil }
    return try whole(database, [device])[0]
  }

  /// Nil: no device can match.
  ///
  /// - Parameter apps: whose devices are listed, at most ``appsOfQuery``; read by a list by kind only.
  static func query(
    _ database: Database, _ filter: DeviceFilter, of apps: [Int64], _ order: Order, _ cursor: Int64?, _ limit: Int
  ) throws -> (sql: String, arguments: [SQLiteValue])? {
    var range = DeviceSource.Range()
    switch order {
    case .newestFirst:
      range.descending = true
      if let cursor { range.upTo = cursor - 1 }
    case .oldestFirst: if let cursor { range.after = cursor }
    }
    var condition = DeviceCondition()
    let source: DeviceSource?
    if let prefix = filter.tokenPrefix {
      source = .token(prefix: prefix, range)
      condition.add("app_id", equals: filter.app)
    } else if let prefix = filter.namePrefix {
      source = .name(prefix: prefix, range)
      condition.add("app_id", equals: filter.app)
    } else if let part = filter.namePart {
      source = .name(part: part, range)
      condition.add("app_id", equals: filter.app)
    } else if let id = filter.registrationID {
      source = .registrationID([id], app: filter.app, range)
    } else if let alias = filter.alias {
      source = .alias([alias], app: filter.app, range)
    } else if let tag = filter.tag {
      source = .tags(try Tag.ids(database, [tag], app: filter.app), range)
    } else {
      source = .kinds(
        apps: apps, environments: filter.environment.map { [$0] } ?? Environment.allCases,
        platforms: (filter.platform.map { [$0] } ?? Platform.allCases).filter { platform in
          filter.provider.map(platform.providers.contains) ?? true
        },
        provider: filter.provider,
        states: filter.state.map { [$0] } ?? DeviceState.allCases, range)
    }
    guard let source else { return nil }
    condition.add("environment", equals: filter.environment.map { Int64($0.code) })
    condition.add("platform", equals: filter.platform.map { Int64($0.code) })
    if let provider = filter.provider {
      condition.add("coalesce(d.provider, d.platform) = ?", [.integer(Int64(provider.code))])
    }
    condition.add("state", equals: filter.state.map { Int64($0.rawValue) })
    if filter.tokenPrefix != nil, let id = filter.registrationID {
      condition.add("registration_id", in: [.text(id)])
    }
    if filter.tokenPrefix != nil || filter.registrationID != nil, let alias = filter.alias {
      condition.add("alias", in: [.text(alias)])
    }
    if filter.tokenPrefix != nil || filter.registrationID != nil || filter.alias != nil, let tag = filter.tag {
      condition.addTags(try Tag.ids(database, [tag], app: filter.app))
    }
    return source.query(columns, where: condition, tail: "LIMIT \(limit)")
  }
}
