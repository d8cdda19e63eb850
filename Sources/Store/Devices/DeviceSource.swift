internal import Model
internal import SQLite

/// A query that yields device IDs in order directly from an index, for lists and audiences.
///
/// ``query(_:where:limit:)`` joins a source to `devices` in a form that SQLite runs row by row: "a subquery … as the
/// left-most … with CROSS JOIN … is implemented as a co-routine"
/// (https://www.sqlite.org/optoverview.html#subquery_co_routines). `LIMIT -1` keeps its ORDER BY and prevents
/// flattening; several arms are merged, because each is already ordered. Tests check the query plans.
struct DeviceSource {
  struct Range {
    /// Exclusive.
    var after: Int64 = -1
    /// Inclusive.
    var upTo: Int64 = .max
    var descending = false
  }

  /// One column, `id`.
  let sql: String
  let arguments: [SQLiteValue]

  private init(arms: [String], _ arguments: [SQLiteValue], distinct: Bool = false, _ range: Range) {
    let order = range.descending ? " DESC" : ""
    sql = arms.joined(separator: distinct ? " UNION " : " UNION ALL ") + " ORDER BY 1\(order) LIMIT -1"
    self.arguments = arguments
  }

  /// Devices by kind. Every combination is one arm; there are few.
  ///
  /// - Parameters:
  ///   - provider: nil: any. A platform's own one has no index of its own: the caller checks it.
  ///   - isWanted: leaves out the others of the combinations.
  static func kinds(
    apps: [Int64], environments: [Environment], platforms: [Platform], provider: ProviderKind? = nil,
    states: [DeviceState], _ range: Range, only isWanted: (Environment, Platform) -> Bool = { _, _ in true }
  ) -> DeviceSource? {
    var arms: [String] = []
    var arguments: [SQLiteValue] = []
    for app in apps {
      for environment in environments {
        for platform in platforms where isWanted(environment, platform) {
          let other = provider == platform.ownProvider ? nil : provider
          let index = other == nil ? "devices_kind" : "devices_provider"
          let ofProvider = other.map { " AND provider = \($0.code)" } ?? ""
          for state in states {
            arms.append(
              """
              SELECT id FROM devices INDEXED BY \(index) WHERE app_id = ? AND environment = ? AND platform = ?
              AND state = ? AND id > ? AND id <= ?\(ofProvider)
              """)
            arguments += [
              .integer(app), .integer(Int64(environment.code)), .integer(Int64(platform.code)),
              .integer(Int64(state.rawValue)), .integer(range.after), .integer(range.upTo),
            ]
          }
        }
      }
    }
    return arms.isEmpty ? nil : DeviceSource(arms: arms, arguments, range)
  }

  /// Devices with any of these tags.
  static func tags(_ ids: [Int64], _ range: Range) -> DeviceSource? {
    guard !ids.isEmpty else { return nil }
    let bounds: [SQLiteValue] = [.integer(range.after), .integer(range.upTo)]
    if ids.count > 100 {
      // Too many arms for a fast merge (SQLite's limit is 500): sorted instead.
      return DeviceSource(
        arms: [
          """
          SELECT DISTINCT device_id AS id FROM device_tags WHERE tag_id IN \(placeholders(ids.count)) AND device_id > ?
          AND device_id <= ?
          """
        ], ids.map { .integer($0) } + bounds, range)
    }
    return DeviceSource(
      arms: ids.map { _ in
        "SELECT device_id AS id FROM device_tags WHERE tag_id = ? AND device_id > ? AND device_id <= ?"
      },
      ids.flatMap { [.integer($0)] + bounds }, distinct: true, range)
  }

  /// Devices of any of these users, in one app or all.
  static func alias(_ aliases: [String], app: Int64?, _ range: Range) -> DeviceSource {
    looked(up: "alias", index: "devices_alias", aliases.map { .text($0) }, app: app, range)
  }

  /// Devices with any of these registration IDs, in one app or all.
  static func registrationID(_ ids: [String], app: Int64?, _ range: Range) -> DeviceSource {
    looked(up: "registration_id", index: "devices_registration_id", ids.map { .text($0) }, app: app, range)
  }

  /// Devices with any of these tokens, in one app or all.
  static func token(_ tokens: [DeviceToken], app: Int64?, _ range: Range) -> DeviceSource {
    looked(up: "token", index: "devices_token", tokens.map { .blob($0.bytes) }, app: app, range)
  }

  /// Devices of an app whose alias begins with this text, sorted: for few.
  static func alias(prefix: String, app: Int64, _ range: Range) -> DeviceSource {
    DeviceSource(
      arms: [aliasRange + " AND +id > ? AND +id <= ?"],
      [.text(prefix), .text(prefix + "\u{10FFFF}"), .integer(app), .integer(range.after), .integer(range.upTo)], range)
  }

  private static let aliasRange =
    "SELECT id FROM devices INDEXED BY devices_alias WHERE alias >= ? AND alias < ? AND app_id = ?"

  /// Devices of an app whose alias begins with this text; nil: too many to sort for each page.
  static func weight(_ database: Database, aliasPrefix prefix: String, app: Int64) throws -> Int? {
    let most = 10_000
    let count = try database.int(
      """
      SELECT count(*) FROM (SELECT app_id FROM devices INDEXED BY devices_alias WHERE alias >= ? AND alias < ?
        LIMIT \(most + 1))
      """, prefix, prefix + "\u{10FFFF}")
    return count > most ? nil : count
  }

  /// A column of `device_details`, which has an index of its name.
  enum Detail: String, Sendable, Hashable {
    case appVersion = "app_version"
    case timeZone = "time_zone"
    case language
  }

  /// Devices, of any app, that told one of these values.
  static func details(_ detail: Detail, _ values: [String], _ range: Range) -> DeviceSource? {
    guard !values.isEmpty else { return nil }
    return DeviceSource(
      arms: values.map { _ in
        """
        SELECT device_id AS id FROM device_details INDEXED BY device_details_\(detail.rawValue)
        WHERE \(detail.rawValue) = ? AND device_id > ? AND device_id <= ?
        """
      }, values.flatMap { [.text($0), .integer(range.after), .integer(range.upTo)] }, range)
  }

  /// Devices that told one of these values; nil: too many values to merge.
  static func weight(_ database: Database, _ detail: Detail, _ values: [String]) throws -> Int? {
    guard values.count <= 100 else { return nil }
    // Beyond it, the exact number no longer matters for the choice.
    let most = 100_000
    return try database.fetchOne(
      """
      SELECT count(*) FROM (SELECT 1 FROM device_details INDEXED BY device_details_\(detail.rawValue)
        WHERE \(detail.rawValue) IN \(placeholders(values.count)) LIMIT \(most))
      """, arguments: values
    ) { $0.int(0) }
  }

  /// The values that exist, each with one step along the index.
  static func values(_ database: Database, _ detail: Detail) throws -> [String] {
    let (column, index) = (detail.rawValue, "device_details_\(detail.rawValue)")
    return try database.fetchAll(
      """
      WITH RECURSIVE v(x) AS (
        SELECT min(\(column)) FROM device_details INDEXED BY \(index) WHERE \(column) IS NOT NULL
        UNION ALL
        SELECT (SELECT min(\(column)) FROM device_details INDEXED BY \(index) WHERE \(column) > v.x) FROM v
        WHERE v.x IS NOT NULL
      ) SELECT x FROM v WHERE x IS NOT NULL
      """
    ) { $0.text(0) }
  }

  /// Devices whose name begins with this text.
  static func name(prefix: String, _ range: Range) -> DeviceSource {
    // The last character of all ends what begins with the prefix.
    DeviceSource(
      arms: [
        """
        SELECT id FROM devices INDEXED BY devices_name WHERE name IS NOT NULL AND name COLLATE NOCASE >= ?
        AND name COLLATE NOCASE < ? AND +id > ? AND +id <= ?
        """
      ], [.text(prefix), .text(prefix + "\u{10FFFF}"), .integer(range.after), .integer(range.upTo)], range)
  }

  /// The names that are looked at for a part of one: no index finds it.
  static let lookedAt = 200_000

  /// Devices whose name contains this text, among the first ``lookedAt`` names.
  static func name(part: String, _ range: Range) -> DeviceSource {
    let pattern = part.replacing(/[\\%_]/) { "\\\($0.output)" }
    return DeviceSource(
      arms: [
        """
        SELECT id FROM (SELECT id, name FROM devices INDEXED BY devices_name WHERE name IS NOT NULL LIMIT \(lookedAt))
        WHERE name LIKE ? ESCAPE '\\' AND id > ? AND id <= ?
        """
      ], [.text("%\(pattern)%"), .integer(range.after), .integer(range.upTo)], range)
  }

  /// Devices whose token has this prefix.
  static func token(prefix: [UInt8], _ range: Range) -> DeviceSource {
    let (sql, arguments) = unordered(tokenPrefix: prefix)
    return DeviceSource(
      arms: [sql + " AND +id > ? AND +id <= ?"],
      arguments + [.integer(range.after), .integer(range.upTo)], range)
  }

  /// Devices whose token has this prefix, in the order of the tokens: for few matches among many devices.
  static func unordered(tokenPrefix prefix: [UInt8]) -> (sql: String, arguments: [SQLiteValue]) {
    // The first value above the prefix: the prefix incremented by one, without trailing 0xff.
    var above = prefix
    while above.last == 0xff { above.removeLast() }
    if let last = above.popLast() { above.append(last + 1) }
    return (
      "SELECT id FROM devices INDEXED BY devices_token WHERE token >= ?\(above.isEmpty ? "" : " AND token < ?")",
      [.blob(prefix)] + (above.isEmpty ? [] : [.blob(above)])
    )
  }

  /// Devices of a push with one of these outcomes, except `accepted`, and without these reasons.
  static func outcomes(
    push: Int64, _ outcomes: [OutcomeKind], withoutReasons reasons: [Int64], _ range: Range
  ) -> DeviceSource? {
    guard !outcomes.isEmpty else { return nil }
    let reasonFilter = reasons.isEmpty ? "" : " AND ifnull(reason_id, 0) NOT IN \(placeholders(reasons.count))"
    let arm = """
      SELECT device_id AS id FROM deliveries INDEXED BY deliveries_trouble
      WHERE push_id = ? AND outcome = ? AND outcome <> 1 AND device_id > ? AND device_id <= ?\(reasonFilter)
      """
    return DeviceSource(
      arms: outcomes.map { _ in arm },
      outcomes.flatMap { outcome in
        [.integer(push), .integer(Int64(outcome.rawValue)), .integer(range.after), .integer(range.upTo)]
          + reasons.map { .integer($0) }
      }, range)
  }

  /// The query over `devices d` for the source's IDs.
  func query(_ columns: String, where filter: DeviceCondition, tail: String) -> (sql: String, arguments: [SQLiteValue])
  {
    let condition = filter.sql.isEmpty ? "" : " WHERE " + filter.sql
    return (
      "SELECT \(columns) FROM (\(sql)) m CROSS JOIN devices d ON d.id = m.id\(condition) \(tail)",
      arguments + filter.arguments
    )
  }

  private static func looked(
    up column: String, index: String, _ values: [SQLiteValue], app: Int64?, _ range: Range
  ) -> DeviceSource {
    // Unary plus keeps the planner on the index (§ "Disqualifying WHERE-clause terms").
    DeviceSource(
      arms: [
        """
        SELECT id FROM devices INDEXED BY \(index) WHERE \(column) IN \(placeholders(values.count))\
        \(app == nil ? "" : " AND app_id = ?") AND +id > ? AND +id <= ?
        """
      ], values + (app.map { [.integer($0)] } ?? []) + [.integer(range.after), .integer(range.upTo)], range)
  }
}

/// `(?,?,?)`.
func placeholders(_ count: Int) -> String { "(" + repeatElement("?", count: count).joined(separator: ",") + ")" }
