package import Model
internal import SQLite

extension DeliveryFilter {
  /// Whether it needs a scan: accepted deliveries have no index, which would be as large as the table, and the platform
  /// stands in the device's own row.
  var looksThroughAll: Bool {
    guard search.isEmpty else { return false }
    return isOfDevice || (outcome == .accepted && reason == nil)
  }

  /// What the device with this ID must be at present; nil: anything.
  func deviceCondition(_ id: String) -> String? {
    guard platform != nil || provider != nil else { return nil }
    var condition = "d.id = \(id)"
    if let platform { condition += " AND d.platform = \(platform.code)" }
    if let provider { condition += " AND coalesce(d.provider, d.platform) = \(provider.code)" }
    return "EXISTS (SELECT 1 FROM devices d WHERE \(condition))"
  }
}

extension Delivery {
  /// With a column more than ``columns`` if the filter ``DeliveryFilter/looksThroughAll``: whether the row matches.
  ///
  /// Nil: no delivery can match.
  static func query(
    _ database: Database, _ push: Int64, _ filter: DeliveryFilter, after: Int64, limit: Int
  ) throws -> (sql: String, arguments: [SQLiteValue])? {
    if filter.isWaiting { return nil }
    let device = filter.deviceCondition("x.device_id")
    var conditions: [String] = []
    if let reason = filter.reason {
      // Accepted deliveries have none.
      guard filter.outcome != .accepted, let id = try Reasons.find(database, reason) else { return nil }
      conditions.append("x.reason_id = \(id)")
    }
    if !filter.search.isEmpty {
      if let outcome = filter.outcome { conditions.append("x.outcome = \(outcome.rawValue)") }
      if let device { conditions.append(device) }
      if let receipt = filter.receipt {
        let reported = "q.push_id = x.push_id AND q.device_id = x.device_id AND q.\(receipt.name)_at IS NOT NULL"
        conditions.append("EXISTS (SELECT 1 FROM receipts q WHERE \(reported))")
      }
      let ids = try devices(database, filter.search)
      guard !ids.isEmpty else { return nil }
      let condition = conditions.map { " AND " + $0 }.joined()
      return (
        """
        SELECT \(columns) FROM deliveries x \(reasons)
        WHERE x.push_id = ? AND x.device_id IN \(placeholders(ids.count)) AND x.device_id > ?\(condition)
        ORDER BY x.device_id LIMIT \(limit)
        """, [.integer(push)] + ids.map { .integer($0) } + [.integer(after)]
      )
    }
    if filter.outcome == .accepted {
      let accepted = try database.fetchOne("SELECT accepted FROM pushes WHERE id = ?", push) { $0.int(0) }
      guard let accepted, accepted > 0 else { return nil }
    }
    if let receipt = filter.receipt {
      if let outcome = filter.outcome { conditions.append("x.outcome = \(outcome.rawValue)") }
      // Fewer devices report than are sent to.
      return scan(
        "receipts q CROSS JOIN deliveries x ON x.push_id = q.push_id AND x.device_id = q.device_id", by: "q",
        ["q.\(receipt.name)_at IS NOT NULL"] + conditions + [device].compactMap { $0 }, push, after: after)
    }
    if filter.outcome == .accepted || (filter.outcome == nil && filter.reason == nil && device != nil) {
      let accepted = filter.outcome == nil ? nil : "x.outcome = 1"
      return scan("deliveries x", by: "x", [accepted, device].compactMap { $0 }, push, after: after)
    }
    if filter.outcome == nil, filter.reason == nil {
      return (
        """
        SELECT \(columns) FROM deliveries x \(reasons) WHERE x.push_id = ? AND x.device_id > ?
        ORDER BY x.device_id LIMIT \(limit)
        """, [.integer(push), .integer(after)]
      )
    }
    // One arm for each outcome, each ordered by an index of unaccepted deliveries, merged.
    let outcomes = filter.outcome.map { [$0] } ?? OutcomeKind.allCases.filter { $0 != .accepted }
    if let device { conditions.append(orOfLot(device, "x")) }
    let condition = conditions.map { " AND " + $0 }.joined()
    let arm = """
      SELECT \(columns)\(device.map { ", " + $0 } ?? "") FROM deliveries x
      INDEXED BY \(filter.reason == nil ? "deliveries_trouble" : "deliveries_reason") \(reasons)
      WHERE x.push_id = ? AND x.outcome = ? AND x.outcome <> 1 AND x.device_id > ?\(condition)
      """
    return (
      outcomes.map { _ in arm }.joined(separator: " UNION ALL ") + " ORDER BY 2"
        + (device == nil ? " LIMIT \(limit)" : ""),
      outcomes.flatMap { outcome -> [SQLiteValue] in
        [.integer(push), .integer(Int64(outcome.rawValue)), .integer(after)]
      }
    )
  }

  /// All rows of a push in these tables that match.
  private static func scan(
    _ tables: String, by key: String, _ conditions: [String], _ push: Int64, after: Int64
  ) -> (sql: String, arguments: [SQLiteValue]) {
    let fits = conditions.joined(separator: " AND ")
    return (
      """
      SELECT \(columns), (\(fits)) FROM \(tables) \(reasons)
      WHERE \(key).push_id = ? AND \(key).device_id > ? AND \(orOfLot(fits, key)) ORDER BY \(key).device_id
      """, [.integer(push), .integer(after)]
    )
  }

  /// Lets one row of each lot through that does not match, so that a scan can be stopped there.
  private static func orOfLot(_ condition: String, _ key: String) -> String {
    "((\(condition)) OR \(key).device_id % \(Patience.lot) = 0)"
  }

  /// Devices of a search: of each part, the first thousand that are found.
  static func devices(_ database: Database, _ search: [DeliveryFilter.Search]) throws -> [Int64] {
    let limit = 1000
    var ids: Set<Int64> = []
    for search in search {
      let (sql, arguments): (String, [SQLiteValue]) =
        switch search {
        case .alias(let alias):
          ("SELECT id FROM devices INDEXED BY devices_alias WHERE alias = ?", [.text(alias)])
        case .registrationID(let id):
          ("SELECT id FROM devices INDEXED BY devices_registration_id WHERE registration_id = ?", [.text(id)])
        case .token(let prefix): DeviceSource.unordered(tokenPrefix: prefix)
        }
      try ids.formUnion(database.fetchAll(sql + " LIMIT \(limit)", arguments: arguments) { $0.int64(0) })
    }
    return ids.sorted()
  }
}

/// The filter of a list of deliveries; nil: any.
package struct DeliveryFilter: Sendable, Hashable {
  package enum Search: Sendable, Hashable {
    /// Exact alias.
    case alias(String)
    /// Exact registration ID.
    case registrationID(String)
    /// A token or its prefix.
    case token([UInt8])
  }

  package var outcome: OutcomeKind?
  /// Only devices that wait for another attempt, which have no outcome.
  package var isWaiting = false
  package var reason: String?
  /// Of the device at present; one that was removed has none.
  package var platform: Platform?
  /// As ``platform``.
  package var provider: ProviderKind?
  /// Only devices whose app reported this.
  package var receipt: ReceiptKind?
  /// Devices matching any of these; empty: all devices.
  package var search: [Search] = []
  /// Whether it asks for what only the device, or its app, can tell.
  package var isOfDevice: Bool { platform != nil || provider != nil || receipt != nil }

  package init() {}
}
