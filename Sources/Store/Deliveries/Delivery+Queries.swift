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

  /// How many rows one page looks through at most for the accepted ones among those that were not; it may so have fewer
  /// items than asked for, and the next page goes on behind them.
  static let lookedThrough = 50_000

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
    var page = Page(found, limit: limit, key: \.deviceID)
    if filter.looksThroughAll, found.count <= limit {
      let last = try database.fetchOne(
        "SELECT device_id FROM deliveries WHERE push_id = ? AND device_id > ? ORDER BY device_id LIMIT 1 OFFSET ?",
        push, after, lookedThrough - 1
      ) { $0.int64(0) }
      page = Page(items: found, next: last.map { String($0) })
    }
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

  static let reasons = "LEFT JOIN reasons r ON r.id = x.reason_id"
}
