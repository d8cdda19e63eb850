public import Foundation
public import Push
public import SQLite

extension Delivery {
  /// A delivery with the device that it was for.
  public struct WithDevice: Sendable, Hashable {
    /// The delivery.
    public let delivery: Delivery
    /// The device as it is now, without its tags; nil: removed since.
    public let device: Device?
  }

  /// A delivery with the push that it was of.
  public struct WithPush: Sendable, Hashable {
    /// The delivery.
    public let delivery: Delivery
    /// The push's public id.
    public let uid: String
    /// The push's seed.
    public let seed: UInt64
    /// The push's title.
    public let title: String?
    /// The push's body.
    public let body: String?
    /// When the push was asked for.
    public let createdAt: Date
  }

  /// How many devices were refused for one reason.
  public struct ReasonCount: Sendable, Hashable {
    /// What they run.
    public let platform: Platform
    /// What became of it.
    public let outcome: OutcomeKind
    /// Why; nil for what was accepted.
    public let reason: String?
    /// How many.
    public let count: Int
  }

  /// A page of a push's deliveries, by device.
  ///
  /// - Parameter cursor: `next` of the page before; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  public static func list(
    _ database: Database, push: Int64, _ filter: DeliveryFilter = DeliveryFilter(), cursor: String? = nil, limit: Int
  ) throws -> Page<WithDevice> {
    let after = try position(cursor) ?? -1
    guard let (sql, arguments) = try query(database, push, filter, after: after, limit: limit + 1) else {
      return Page(items: [], next: nil)
    }
    let found = try database.fetchAll(sql, arguments: arguments) { row in
      try Delivery(row)
    }
    let page = Page(found, limit: limit, key: \.deviceID)
    return try page.map { delivery in
      let device = try database.fetchOne("SELECT \(Device.columns) FROM devices d WHERE d.id = ?", delivery.deviceID) {
        try Device($0)
      }
      return WithDevice(delivery: delivery, device: device)
    }
  }

  /// One delivery with its device (and the device's tags), nil if there is none yet.
  public static func find(_ database: Database, push: Int64, device: Int64) throws -> WithDevice? {
    let delivery = try database.fetchOne(
      "SELECT \(columns) FROM deliveries x \(reasons) WHERE x.push_id = ? AND x.device_id = ?", push, device
    ) { try Delivery($0) }
    return try delivery.map { WithDevice(delivery: $0, device: try Device.find(database, id: device)) }
  }

  /// A page of a device's deliveries, newest push first.
  public static func list(
    _ database: Database, device: Int64, cursor: String? = nil, limit: Int
  ) throws -> Page<WithPush> {
    let found = try database.fetchAll(
      """
      SELECT \(columns), p.uid, p.seed, p.title, p.body, p.created_at
      FROM deliveries x INDEXED BY deliveries_device JOIN pushes p ON p.id = x.push_id \(reasons)
      WHERE x.device_id = ? AND x.push_id < ? ORDER BY x.push_id DESC LIMIT ?
      """, device, try position(cursor) ?? .max, limit + 1
    ) { row in
      let next = columnCount
      return WithPush(
        delivery: try Delivery(row), uid: row.text(next), seed: UInt64(bitPattern: row.int64(next + 1)),
        title: row.optionalText(next + 2), body: row.optionalText(next + 3), createdAt: row.date(next + 4))
    }
    return Page(found, limit: limit, key: \.delivery.pushID)
  }

  /// Why devices were refused, most frequent first; with what was accepted. Read from counters.
  public static func reasonCounts(_ database: Database, push: Int64) throws -> [ReasonCount] {
    try database.fetchAll(
      """
      SELECT n.platform, n.outcome, r.text, n.count FROM push_reasons n LEFT JOIN reasons r ON r.id = n.reason_id
      WHERE n.push_id = ? ORDER BY n.count DESC, n.outcome, r.text
      """, push
    ) { row in
      ReasonCount(
        platform: try Platform(code: row.int(0)), outcome: try row.value(1, as: OutcomeKind.self),
        reason: row.optionalText(2), count: row.int(3))
    }
  }

  private static let reasons = "LEFT JOIN reasons r ON r.id = x.reason_id"

  /// Nil: nothing can fit.
  static func query(
    _ database: Database, _ push: Int64, _ filter: DeliveryFilter, after: Int64, limit: Int
  ) throws -> (sql: String, arguments: [SQLiteValue])? {
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
    var outcomes = filter.outcome.map { [$0] } ?? []
    if filter.reason != nil, outcomes.isEmpty { outcomes = OutcomeKind.allCases.filter { $0 != .accepted } }
    if outcomes.isEmpty || outcomes == [.accepted] {
      if !outcomes.isEmpty { conditions.append("x.outcome = 1") }
      let condition = conditions.map { " AND " + $0 }.joined()
      return (
        """
        SELECT \(columns) FROM deliveries x \(reasons) WHERE x.push_id = ? AND x.device_id > ?\(condition)
        ORDER BY x.device_id LIMIT \(limit)
        """, [.integer(push), .integer(after)] + values
      )
    }
    // One arm for each outcome, each in order by the index of what was not accepted, merged.
    let condition = conditions.map { " AND " + $0 }.joined()
    let arm = """
      SELECT \(columns) FROM deliveries x INDEXED BY deliveries_trouble \(reasons)
      WHERE x.push_id = ? AND x.outcome = ? AND x.outcome <> 1 AND x.device_id > ?\(condition)
      """
    return (
      outcomes.map { _ in arm }.joined(separator: " UNION ALL ") + " ORDER BY 2 LIMIT \(limit)",
      outcomes.flatMap { [.integer(push), .integer(Int64($0.rawValue)), .integer(after)] + values }
    )
  }

  private static func devices(_ database: Database, _ search: [DeliveryFilter.Search]) throws -> [Int64] {
    // A search that finds more than this is none.
    let limit = 10_000
    var ids: Set<Int64> = []
    for search in search {
      let source: DeviceSource =
        switch search {
        case .alias(let alias): .alias([alias], app: nil, DeviceSource.Range())
        case .registrationID(let id): .registrationID([id], app: nil, DeviceSource.Range())
        case .token(let prefix): .token(prefix: prefix, DeviceSource.Range())
        }
      try ids.formUnion(
        database.fetchAll("SELECT id FROM (\(source.sql)) LIMIT \(limit)", arguments: source.arguments) { $0.int64(0) })
    }
    return ids.sorted()
  }
}
