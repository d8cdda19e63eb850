package import Foundation
import Model
package import SQLite

extension WaitingDelivery {
  /// A waiting device for people.
  package struct Listed: Sendable, Hashable {
    package let waiting: WaitingDelivery
    /// Without tags; nil: removed since.
    package let device: Device?

    /// Whether another attempt follows.
    package var isRetried: Bool { waiting.isRetried(device?.state) }

    /// The last attempt, as if it had been final.
    package func delivery(push: Int64) -> Delivery.WithDevice {
      Delivery.WithDevice(delivery: Delivery(waiting, push: push), device: device)
    }
  }

  /// A push that waits to be tried again on a device.
  package struct WithPush: Sendable, Hashable {
    package let waiting: WaitingDelivery
    package let uid: String
    package let title: String?
    package let body: String?
  }

  /// Whether an attempt is under way, so that no time of the next one is known.
  package var isUnderWay: Bool { dueAt >= Date(milliseconds: Self.onItsWay) }

  /// Whether another attempt follows: the next is under way, or what it goes to is still there and active.
  ///
  /// - Parameter state: the device's; nil: it was removed.
  package func isRetried(_ state: DeviceState?) -> Bool {
    isUnderWay || state == .active || AudienceMember.subscribers(id: deviceID) != nil
  }

  /// What is to come for a push's waiting devices.
  package struct Outlook: Sendable, Hashable {
    /// Devices that are not retried, because they are no longer active; by the reason of their last attempt.
    package var inactive: [String: Int] = [:]
    /// Whether more devices wait than were looked at.
    package var isPartial = false
    /// When the first retry is due; nil: none of those looked at is retried later.
    package var nextDue: Date?

    package init() {}

    package var inactiveCount: Int { inactive.values.reduce(0, +) }
  }

  /// Looks at the devices that are due first, by an index: a push may wait for millions.
  ///
  /// - Parameter most: how many are looked at.
  package static func outlook(_ database: Database, push: Int64, most: Int = 1000) throws -> Outlook {
    var outlook = Outlook()
    let found = try database.fetchAll(
      """
      SELECT \(columns), d.state
      FROM push_waiting w JOIN reasons r ON r.id = w.reason_id LEFT JOIN devices d ON d.id = w.device_id
      WHERE w.push_id = ? ORDER BY w.due_at, w.device_id LIMIT ?
      """, push, most + 1
    ) { row -> (WaitingDelivery, DeviceState?) in
      try (WaitingDelivery(row), row.isNull(7) ? nil : row.value(7, as: DeviceState.self))
    }
    outlook.isPartial = found.count > most
    for (waiting, state) in found.prefix(most) {
      if !waiting.isRetried(state) {
        outlook.inactive[waiting.last.reason ?? "", default: 0] += 1
      } else if !waiting.isUnderWay, outlook.nextDue == nil {
        outlook.nextDue = waiting.dueAt
      }
    }
    return outlook
  }

  /// A page of a push's waiting devices, by device.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Returns: nothing if the filter asks for an outcome or a report.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, push: Int64, _ filter: DeliveryFilter, cursor: String? = nil, limit: Int
  ) throws -> Page<Listed> {
    let after = try position(cursor) ?? -1
    guard filter.outcome == nil, filter.receipt == nil else { return Page(items: [], next: nil) }
    var condition = filter.deviceCondition("w.device_id").map { " AND " + $0 } ?? ""
    var values: [SQLiteValue] = []
    if let reason = filter.reason {
      guard let id = try Reasons.find(database, reason) else { return Page(items: [], next: nil) }
      condition += " AND w.reason_id = ?"
      values.append(.integer(id))
    }
    if !filter.search.isEmpty {
      let ids = try Delivery.devices(database, filter.search)
      guard !ids.isEmpty else { return Page(items: [], next: nil) }
      condition += " AND w.device_id IN \(placeholders(ids.count))"
      values += ids.map { .integer($0) }
    }
    let found = try database.fetchAll(
      """
      SELECT \(columns)
      FROM push_waiting w JOIN reasons r ON r.id = w.reason_id
      WHERE w.push_id = ? AND w.device_id > ?\(condition) ORDER BY w.device_id LIMIT \(limit + 1)
      """, arguments: [.integer(push), .integer(after)] + values
    ) { try WaitingDelivery($0) }
    return try Page(found, limit: limit, key: \.deviceID).map {
      Listed(waiting: $0, device: try Device.plain(database, id: $0.deviceID))
    }
  }

  /// The pushes that wait to be tried again on a device, the next one first.
  ///
  /// Few pushes are under way at a time: each is asked for this device by primary key, so that sending needs no further
  /// index.
  package static func list(_ database: Database, device: Int64, limit: Int) throws -> [WithPush] {
    try database.fetchAll(
      """
      SELECT \(columns), p.uid, p.title, p.body
      FROM pushes p INDEXED BY pushes_state CROSS JOIN push_waiting w ON w.push_id = p.id AND w.device_id = ?
        JOIN reasons r ON r.id = w.reason_id
      WHERE p.state <> 'finished' AND p.state IN ('queued', 'sending', 'paused')
      ORDER BY w.due_at, p.id LIMIT ?
      """, device, limit
    ) { row in
      WithPush(
        waiting: try WaitingDelivery(row), uid: row.text(7), title: row.optionalText(8), body: row.optionalText(9))
    }
  }

  /// Nil: the device does not wait.
  package static func find(_ database: Database, push: Int64, device: Int64) throws -> Listed? {
    let found = try database.fetchOne(
      """
      SELECT \(columns)
      FROM push_waiting w JOIN reasons r ON r.id = w.reason_id WHERE w.push_id = ? AND w.device_id = ?
      """, push, device
    ) { try WaitingDelivery($0) }
    return try found.map { Listed(waiting: $0, device: try Device.find(database, id: device)) }
  }
}
