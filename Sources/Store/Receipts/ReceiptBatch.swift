package import Foundation
package import Model
internal import OpenSSL
package import SQLite

/// The reports of one device.
package struct ReceiptBatch: Sendable {
  /// How the device names itself. Both are known only to it and to the senders.
  package enum Sender: Sendable, Hashable {
    case token(DeviceToken)
    case registrationID(String)
  }

  package struct Item: Sendable, Hashable {
    /// The push's public ID.
    package var push: String
    package var signature: String
    package var kind: ReceiptKind
    /// When it happened by the device's clock; nil: on arrival.
    package var at: Date?
    package init(push: String, signature: String, kind: ReceiptKind, at: Date? = nil) {
      (self.push, self.signature, self.kind, self.at) = (push, signature, kind, at)
    }
  }

  package var sender: Sender
  package var items: [Item]

  package init(_ sender: Sender, _ items: [Item]) { (self.sender, self.items) = (sender, items) }
}

/// What became of one report.
package enum ReceiptResult: String, Sendable, Hashable, CaseIterable {
  case recorded
  /// The device has reported it before.
  case known
  /// The push is older than ``ReceiptRule/days``.
  case expired
  /// No such push, signature, or device, or one registered after the push began. One word for all: who guesses does not
  /// learn which was right.
  case unknown
}

/// The results of several batches, and the pushes whose counts changed.
package struct ReceiptOutcome: Sendable, Hashable {
  package var results: [ReceiptResult] = []
  /// Row IDs.
  package var changed: Set<Int64> = []

  package init() {}
}

extension ReceiptBatch {
  /// Records the reports of several devices in the surrounding transaction; one outcome for each, in order.
  ///
  /// A report counts once for each device, push and kind, and says that its device was there.
  package static func record(
    _ database: Database, _ batches: [ReceiptBatch], now: Date
  ) throws -> [ReceiptOutcome] {
    let writer = ReceiptWriter(database, now: now)
    let outcomes = try batches.map { try writer.record($0) }
    try writer.flush()
    return outcomes
  }
}

/// Writes receipts and counts them; looks up each push once, and notes each device once.
private final class ReceiptWriter {
  private struct FoundPush {
    let id: Int64
    let app: Int64
    let signature: [UInt8]
    let startedAt: Date
    /// Devices registered later were not sent to.
    let lastDevice: Int64
  }

  private struct FoundDevice {
    let id: Int64
    let platform: Int
    let provider: Int
  }

  private struct Key: Hashable {
    let push: Int64
    let platform: Int
    let provider: Int
  }

  private let database: Database
  private let now: Date
  private var pushes: [String: FoundPush?] = [:]
  private var counts: [Key: ReceiptCounts] = [:]
  private var reporting: Set<Int64> = []

  init(_ database: Database, now: Date) { (self.database, self.now) = (database, now) }

  func record(_ batch: ReceiptBatch) throws -> ReceiptOutcome {
    var outcome = ReceiptOutcome()
    outcome.results.reserveCapacity(batch.items.count)
    // A batch is about pushes of one app, as a rule.
    var devices: [Int64: FoundDevice?] = [:]
    for item in batch.items {
      guard let push = try push(item.push), constantTimeEqual(push.signature, Array(item.signature.utf8)) else {
        outcome.results.append(.unknown)
        continue
      }
      guard let device = try device(batch.sender, push.app, &devices), device.id <= push.lastDevice else {
        outcome.results.append(.unknown)
        continue
      }
      guard now.timeIntervalSince(push.startedAt) <= Double(ReceiptRule.days) * 86_400 else {
        outcome.results.append(.expired)
        continue
      }
      // The clocks of phones are often wrong: no report is from before the push, or from the future.
      let at = min(max(item.at ?? now, push.startedAt), now)
      let isNew = try write(push, device, item.kind, at)
      outcome.results.append(isNew ? .recorded : .known)
      if isNew {
        outcome.changed.insert(push.id)
        reporting.insert(device.id)
      }
    }
    return outcome
  }

  /// - Returns: whether it is the first report of this kind.
  private func write(_ push: FoundPush, _ device: FoundDevice, _ kind: ReceiptKind, _ at: Date) throws -> Bool {
    let sql = Self.sql[kind.rawValue - 1]
    let key = Key(push: push.id, platform: device.platform, provider: device.provider)
    let isFirst = try database.run(sql.insert, push.id, device.id, at) == 1
    guard try isFirst || database.run(sql.update, push.id, device.id, at) == 1 else { return false }
    count(kind, isFirst: isFirst, in: &counts[key, default: ReceiptCounts()])
    return true
  }

  private func count(_ kind: ReceiptKind, isFirst: Bool, in counts: inout ReceiptCounts) {
    counts[kind] += 1
    if isFirst { counts.devices += 1 }
  }

  func flush() throws {
    for (key, count) in counts {
      try database.run(
        """
        INSERT INTO receipt_counters(push_id, platform, provider, devices, displayed, opened, dismissed)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET devices = devices + excluded.devices, displayed = displayed + excluded.displayed,
          opened = opened + excluded.opened, dismissed = dismissed + excluded.dismissed
        """, key.push, key.platform, key.provider, count.devices, count.displayed, count.opened, count.dismissed)
    }
    counts = [:]
    // The app contacts the server when it reports, whenever it happened.
    for device in reporting.sorted() {
      try database.run("UPDATE devices SET seen_at = ?1 WHERE id = ?2 AND seen_at < ?1", now, device)
    }
    reporting = []
  }

  private func push(_ uid: String) throws -> FoundPush? {
    if let found = pushes[uid] { return found }
    let found = try database.fetchOne(
      """
      SELECT id, app_id, signature, coalesce(started_at, created_at), last_device_id FROM pushes
      WHERE uid = ? AND signature IS NOT NULL
      """, uid
    ) {
      FoundPush(
        id: $0.int64(0), app: $0.int64(1), signature: Array($0.text(2).utf8), startedAt: $0.date(3),
        lastDevice: $0.optionalInt64(4) ?? .max)
    }
    pushes[uid] = .some(found)
    return found
  }

  private func device(
    _ sender: ReceiptBatch.Sender, _ app: Int64, _ known: inout [Int64: FoundDevice?]
  ) throws -> FoundDevice? {
    if let device = known[app] { return device }
    let device = try find(sender, app: app)
    known[app] = .some(device)
    return device
  }

  private func find(_ sender: ReceiptBatch.Sender, app: Int64) throws -> FoundDevice? {
    let (column, value): (String, any SQLiteBindable) =
      switch sender {
      case .token(let token): ("token", token.bytes)
      case .registrationID(let id): ("registration_id", id)
      }
    return try database.fetchOne(
      "SELECT id, platform, coalesce(provider, platform) FROM devices WHERE \(column) = ? AND app_id = ?", value, app
    ) { FoundDevice(id: $0.int64(0), platform: $0.int(1), provider: $0.int(2)) }
  }

  /// The statements by kind, made once.
  private static let sql = ReceiptKind.allCases.map { kind in
    let column = "\(kind.name)_at"
    return (
      insert: "INSERT INTO receipts(push_id, device_id, \(column)) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      update: "UPDATE receipts SET \(column) = ?3 WHERE push_id = ?1 AND device_id = ?2 AND \(column) IS NULL"
    )
  }
}
