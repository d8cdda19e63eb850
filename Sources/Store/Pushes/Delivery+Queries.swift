package import Foundation
package import Model
package import SQLite

extension Delivery {
  package struct WithDevice: Sendable, Hashable {
    package let delivery: Delivery
    /// The device's present state, without tags; nil: removed since.
    package let device: Device?
    /// What the device reported; nil: nothing.
    package var receipt: Receipt?
    /// Which of the push's texts it got (``PushDraft/variants``); nil: there is one only, or nobody knows.
    package var variant: Int?
  }

  package struct WithPush: Sendable, Hashable {
    package let delivery: Delivery
    package let uid: String
    package let seed: UInt64
    package let title: String?
    package let body: String?
    package let createdAt: Date
  }

  /// The number of devices refused for one reason.
  package struct ReasonCount: Sendable, Hashable {
    package let platform: Platform
    package let provider: ProviderKind
    package let outcome: OutcomeKind
    /// Nil for accepted deliveries.
    package let reason: String?
    package let count: Int
  }

  /// The devices of a push that one service reaches, by outcome.
  package struct ProviderCounts: Sendable, Hashable {
    package let provider: ProviderKind
    package let target: Int
    package let counts: OutcomeCounts
  }

  /// When the last device of a push that has its outcome got it, in the order in which devices are handed over; nil:
  /// none has.
  package static func lastAt(_ database: Database, push: Int64) throws -> Date? {
    try database.fetchOne(
      "SELECT at FROM deliveries WHERE push_id = ? ORDER BY device_id DESC LIMIT 1", push
    ) { $0.date(0) }
  }

  /// A line for each service of a push; none until the audience is counted.
  package static func providerCounts(
    _ database: Database, push: Int64, _ reasons: [ReasonCount]
  ) throws -> [ProviderCounts] {
    let targets = try Push.targets(database, id: push)
    return ProviderKind.allCases.compactMap { provider in
      let target = targets.reduce(0) { $1.key.provider == provider ? $0 + $1.value : $0 }
      guard target > 0 else { return nil }
      var counts = OutcomeCounts()
      for reason in reasons where reason.provider == provider { counts[reason.outcome] += reason.count }
      return ProviderCounts(provider: provider, target: target, counts: counts)
    }
  }

  /// A page of a push's deliveries by device.
  ///
  /// Some filters need a scan: a page may be short, and the next one continues where `patience` ended.
  ///
  /// - Parameters:
  ///   - isLocalized: whether the push has texts in several languages, so that it is asked which one a device got.
  ///   - cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, push: Int64, _ filter: DeliveryFilter = DeliveryFilter(), isLocalized: Bool = false,
    cursor: String? = nil, limit: Int, patience: Patience = Patience()
  ) throws -> Page<WithDevice> {
    let after = try position(cursor) ?? -1
    guard let (sql, arguments) = try query(database, push, filter, after: after, limit: limit + 1) else {
      return Page(items: [], next: nil)
    }
    var patience = patience
    var found: [Delivery] = []
    var reached: Int64?
    try database.forEach(sql, arguments: arguments) { row in
      let delivery = try Delivery(row)
      guard filter.looksThroughAll else {
        found.append(delivery)
        return .continue
      }
      if row.bool(columnCount) { found.append(delivery) }
      if found.count > limit { return .stop }
      guard delivery.deviceID % Int64(Patience.lot) == 0, patience.isOver() else { return .continue }
      reached = delivery.deviceID
      return .stop
    }
    var page = Page(found, limit: limit, key: \.deviceID)
    if page.next == nil { page = Page(items: page.items, next: reached.map { String($0) }) }
    return try page.map { delivery in
      let device = delivery.deviceID
      return WithDevice(
        delivery: delivery, device: try Device.plain(database, id: device),
        receipt: try Receipt.find(database, push: push, device: device),
        variant: isLocalized ? try variant(database, push: push, device: device) : nil)
    }
  }

  /// A delivery with its device and tags, nil if there is none yet.
  package static func find(_ database: Database, push: Int64, device: Int64) throws -> WithDevice? {
    let delivery = try database.fetchOne(
      "SELECT \(columns) FROM deliveries x \(reasons) WHERE x.push_id = ? AND x.device_id = ?", push, device
    ) { try Delivery($0) }
    return try delivery.map {
      WithDevice(
        delivery: $0, device: try Device.find(database, id: device),
        receipt: try Receipt.find(database, push: push, device: device),
        variant: try variant(database, push: push, device: device))
    }
  }

  /// The last push before this one that a provider accepted for the device; nil: there is none.
  package static func lastSuccess(_ database: Database, device: Int64, before push: Int64) throws -> WithPush? {
    try database.fetchOne(
      """
      SELECT \(columns), p.uid, p.seed, p.title, p.body, p.created_at
      FROM deliveries x INDEXED BY deliveries_device JOIN pushes p ON p.id = x.push_id \(reasons)
      WHERE x.device_id = ? AND x.push_id < ? AND x.outcome = \(OutcomeKind.accepted.rawValue)
      ORDER BY x.push_id DESC LIMIT 1
      """, device, push
    ) { try withPush($0) }
  }

  /// The number that a counting badge became on a device; nil: the push does not count, or was not accepted.
  package static func badge(_ database: Database, push: Int64, device: Int64) throws -> Int? {
    try number(database, "badge", push: push, device: device)
  }

  /// Which of the push's texts a device got. It is not among the ``columns``, because no index has it.
  private static func variant(_ database: Database, push: Int64, device: Int64) throws -> Int? {
    try number(database, "variant", push: push, device: device)
  }

  private static func number(_ database: Database, _ column: String, push: Int64, device: Int64) throws -> Int? {
    try database.fetchOne("SELECT \(column) FROM deliveries WHERE push_id = ? AND device_id = ?", push, device) {
      $0.optionalInt(0)
    } ?? nil
  }

  /// A page of a device's deliveries, newest push first, with those of the devices that were merged into it.
  package static func list(
    _ database: Database, device: Int64, cursor: String? = nil, limit: Int
  ) throws -> Page<WithPush> {
    // One list, also after several merges: a merged device's timeline came along.
    let merged = try database.fetchAll(
      """
      SELECT json_extract(detail, '$.device') FROM device_events
      WHERE device_id = ? AND kind IN (?, ?) AND json_extract(detail, '$.device') IS NOT NULL
      """, device, DeviceEvent.Kind.merged.rawValue, DeviceEvent.Kind.tokenChanged.rawValue
    ) { $0.int64(0) }
    // Of a push that both had, the device's own: a page must not end between the two.
    let once = """
      AND (x.device_id = ?1
        OR NOT EXISTS (SELECT 1 FROM deliveries y WHERE y.push_id = x.push_id AND y.device_id = ?1))
      """
    let found = try database.fetchAll(
      """
      SELECT \(columns), p.uid, p.seed, p.title, p.body, p.created_at
      FROM deliveries x INDEXED BY deliveries_device JOIN pushes p ON p.id = x.push_id \(reasons)
      WHERE x.device_id IN (?1\(merged.map { ", \($0)" }.joined())) \(merged.isEmpty ? "" : once)
        AND x.push_id < ?2 ORDER BY x.push_id DESC LIMIT ?3
      """, device, try position(cursor) ?? .max, limit + 1
    ) { try withPush($0) }
    return Page(found, limit: limit, key: \.delivery.pushID)
  }

  private static func withPush(_ row: borrowing Row) throws -> WithPush {
    let next = columnCount
    return WithPush(
      delivery: try Delivery(row), uid: row.text(next), seed: UInt64(bitPattern: row.int64(next + 1)),
      title: row.optionalText(next + 2), body: row.optionalText(next + 3), createdAt: row.date(next + 4))
  }

  /// The reasons of refusals, most frequent first, and the accepted number; from counters.
  package static func reasonCounts(_ database: Database, push: Int64) throws -> [ReasonCount] {
    try database.fetchAll(
      """
      SELECT n.platform, n.provider, n.outcome, r.text, n.count FROM push_reasons n LEFT JOIN reasons r ON r.id = n.reason_id
      WHERE n.push_id = ? ORDER BY n.count DESC, n.outcome, r.text
      """, push
    ) { row in
      ReasonCount(
        platform: try Platform(code: row.int(0)), provider: try ProviderKind(code: row.int(1)),
        outcome: try row.value(2, as: OutcomeKind.self), reason: row.optionalText(3), count: row.int(4))
    }
  }

  static let reasons = "LEFT JOIN reasons r ON r.id = x.reason_id"
}

/// FCM names each message that it accepts, and Google’s support asks for that name. A push to millions of devices has as
/// many, so only the first ones are asked for and kept.
extension Delivery {
  /// Longer names, which FCM does not give, are not kept.
  private static let longestName = 200

  /// Keeps the names of messages by their devices' IDs.
  package static func keep(_ database: Database, names: [Int64: String], push: Int64) throws {
    for (device, name) in names where name.utf8.count <= longestName {
      try database.run(
        "INSERT OR REPLACE INTO message_names(push_id, device_id, name) VALUES (?, ?, ?)", push, device, name)
    }
  }

  /// The kept names of a push, by device.
  package static func names(_ database: Database, push: Int64) throws -> [Int64: String] {
    let rows = try database.fetchAll("SELECT device_id, name FROM message_names WHERE push_id = ?", push) {
      ($0.int64(0), $0.text(1))
    }
    return Dictionary(rows) { first, _ in first }
  }

  /// The name of the message to a device; nil: it was not kept, or the service gives none.
  package static func name(_ database: Database, push: Int64, device: Int64) throws -> String? {
    try database.fetchOne(
      "SELECT name FROM message_names WHERE push_id = ? AND device_id = ?", push, device
    ) { $0.text(0) }
  }
}
