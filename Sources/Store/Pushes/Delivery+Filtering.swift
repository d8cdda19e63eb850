package import Model
internal import SQLite

extension DeliveryFilter {
  /// Whether it needs a scan: accepted deliveries have no index, which would be as large as the table.
  var looksThroughAll: Bool { outcome == .accepted && reason == nil && search.isEmpty }
}

extension Delivery {
  /// Nil: no delivery can match.
  static func query(
    _ database: Database, _ push: Int64, _ filter: DeliveryFilter, after: Int64, limit: Int
  ) throws -> (sql: String, arguments: [SQLiteValue])? {
    if filter.isWaiting { return nil }
    var conditions: [String] = []
    var values: [SQLiteValue] = []
    if let reason = filter.reason {
      guard let id = try Reasons.find(database, reason) else { return nil }
      conditions.append("x.reason_id = ?")
      values.append(.integer(id))
    }
    if !filter.search.isEmpty {
      if let outcome = filter.outcome {
        conditions.append("x.outcome = ?")
        values.append(.integer(Int64(outcome.rawValue)))
      }
      let ids = try devices(database, filter.search)
      guard !ids.isEmpty else { return nil }
      let condition = conditions.map { " AND " + $0 }.joined()
      return (
        """
        SELECT \(columns) FROM deliveries x \(reasons)
        WHERE x.push_id = ? AND x.device_id IN \(placeholders(ids.count)) AND x.device_id > ?\(condition)
        ORDER BY x.device_id LIMIT \(limit)
        """, [.integer(push)] + ids.map { .integer($0) } + [.integer(after)] + values
      )
    }
    if filter.looksThroughAll {
      // A scan, because nearly all rows usually match. It also returns one of each lot of other rows, so that it can be
      // stopped.
      let accepted = try database.fetchOne("SELECT accepted FROM pushes WHERE id = ?", push) { $0.int(0) }
      guard let accepted, accepted > 0 else { return nil }
      return (
        """
        SELECT \(columns) FROM deliveries x \(reasons)
        WHERE x.push_id = ? AND x.device_id > ? AND (x.outcome = 1 OR x.device_id % \(Patience.lot) = 0)
        ORDER BY x.device_id
        """, [.integer(push), .integer(after)]
      )
    }
    // Accepted deliveries have no reason.
    if filter.outcome == .accepted { return nil }
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
    let condition = conditions.map { " AND " + $0 }.joined()
    let arm = """
      SELECT \(columns) FROM deliveries x
      INDEXED BY \(filter.reason == nil ? "deliveries_trouble" : "deliveries_reason") \(reasons)
      WHERE x.push_id = ? AND x.outcome = ? AND x.outcome <> 1 AND x.device_id > ?\(condition)
      """
    return (
      outcomes.map { _ in arm }.joined(separator: " UNION ALL ") + " ORDER BY 2 LIMIT \(limit)",
      outcomes.flatMap { [.integer(push), .integer(Int64($0.rawValue)), .integer(after)] + values }
    )
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
  /// Devices matching any of these; empty: all devices.
  package var search: [Search] = []

  package init() {}
}
