package import Foundation
package import Model
package import SQLite

extension Delivery {
  /// Records the results of a batch in one transaction: rows, the push's counters, reasons, latencies, dead tokens, the
  /// credential's health, waiting devices, and the push's cursor. Idempotent. A device with an outcome no longer waits.
  ///
  /// - Parameters:
  ///   - push: row ID of the push.
  ///   - waiting: devices to retry, without outcomes.
  ///   - cursor: every device up to this ID has an outcome or waits; nil: unchanged.
  ///   - cursors: the same for devices of one service; of a push whose pages must be cut the same after a restart.
  ///   - handedOut: devices up to this ID may be sent to; nil: unchanged.
  ///   - badges: what an accepted push does to the number on a device's icon, by platform; none: not kept.
  ///   - verdicts: of the answers on the credentials.
  ///   - holdUps: why devices wait, by service.
  package static func record(
    _ database: Database, push: Int64, _ results: [DeliveryResult], waiting: [WaitingDelivery] = [],
    cursor: Int64? = nil, cursors: [ProviderKind: Int64] = [:], handedOut: Int64? = nil,
    badges: [Platform: Badge] = [:],
    verdicts: [(credential: Int64, verdict: Credential.Verdict)] = [],
    holdUps: [(provider: ProviderKind, reason: String)] = [], now: Date
  ) throws {
    try database.transaction {
      let found = try database.fetchOne(
        "SELECT uid, waiting, app_id, environment FROM pushes WHERE id = ?", push
      ) { row in
        (
          uid: row.text(0), waiting: row.int(1), app: row.int64(2),
          environment: try row.value(3, as: Environment.self)
        )
      }
      guard let found else { throw StoreError.notFound(noun: "push", id: "\(push)") }
      var batch = Batch(incidents: IncidentBatch(push: push, app: found.app, environment: found.environment))
      try batch.insert(database, push, found.uid, results, badges)
      for holdUp in holdUps { batch.incidents.holdUp(holdUp.provider, holdUp.reason, at: now) }
      if found.waiting > 0 { try batch.release(database, push, results.map(\.deviceID)) }
      if !waiting.isEmpty { try batch.keep(database, push, waiting) }
      for (platform, badge) in badges {
        let accepted = results.filter { $0.platform == platform && batch.accepted[$0.deviceID] != nil }
        try DeviceBadge.apply(database, badge, to: accepted.map(\.deviceID))
      }
      try batch.count(database, push, cursor, handedOut)
      for (provider, cursor) in cursors { try Push.setCursor(database, id: push, provider, cursor) }
      try Device.prove(
        database, app: found.app, environment: found.environment, push: found.uid, batch.accepted, now: now)
      try batch.incidents.write(database, now: now)
      try TokenVerdict.carryOut(database, batch.verdicts, now: now)
      try batch.incidents.writeUnregistered(database, now: now)
      for (credential, verdict) in verdicts { try Credential.note(database, id: credential, verdict) }
    }
  }

  private struct ReasonKey: Hashable {
    let reach: Reach
    let outcome: OutcomeKind
    let reason: Int64
  }

  private struct Batch {
    var incidents: IncidentBatch
    /// New results; repeated ones are ignored.
    var counts = OutcomeCounts()
    var verdicts: [TokenVerdict] = []
    var reasons: [ReasonKey: Int] = [:]
    var latencies = LatencyHistogram()
    var words = Reasons()
    /// Devices that accepted, with the time of the request.
    var accepted: [Int64: Date] = [:]
    /// The change in the number of waiting devices.
    var waiting = 0

    mutating func insert(
      _ database: Database, _ push: Int64, _ uid: String, _ results: [DeliveryResult], _ badges: [Platform: Badge]
    ) throws {
      let counting = badges.filter(\.value.isRelative)
      let isLocalized = results.contains { $0.variant != nil }
      let columns = (counting.isEmpty ? "" : ", badge") + (isLocalized ? ", variant" : "")
      // Read before the device's own number changes.
      let number = "(SELECT max(0, min(\(PushLimits.badge.upperBound), badge + ?9)) FROM devices WHERE id = ?2)"
      try database.withStatement(
        """
        INSERT OR IGNORE INTO
          deliveries(push_id, device_id, outcome, status, reason_id, at, duration_ms, attempts\(columns))
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8\(counting.isEmpty ? "" : ", \(number)")\(isLocalized ? ", ?10" : ""))
        """
      ) { statement in
        try statement.bind(1, push)
        for result in results {
          let kind = result.outcome.kind
          let (status, word) = result.outcome.statusAndReason
          let reason = try word.map { try words.id(database, $0) }
          try statement.bind(2, result.deviceID)
          try statement.bind(3, kind.rawValue)
          try statement.bind(4, status)
          try statement.bind(5, reason)
          try statement.bind(6, result.at.milliseconds)
          try statement.bind(7, result.durationMilliseconds)
          try statement.bind(8, result.attempts)
          if !counting.isEmpty {
            var change: Int64?
            // JPush counts by itself.
            if kind == .accepted, result.provider != .jpush, case .add(let number)? = counting[result.platform] {
              change = Int64(number)
            }
            try statement.bind(9, change)
          }
          if isLocalized { try statement.bind(10, result.variant.map(Int64.init)) }
          try statement.run()
          guard database.changes == 1 else { continue }
          counts[kind] += 1
          let reach = Reach(result.platform, result.provider)
          reasons[ReasonKey(reach: reach, outcome: kind, reason: reason ?? 0), default: 0] += 1
          if status != 0 { latencies.counts[LatencyHistogram.bucket(result.durationMilliseconds)] += 1 }
          let asked = result.at.addingTimeInterval(-Double(result.durationMilliseconds) / 1000)
          if kind == .accepted {
            accepted[result.deviceID] = asked
            incidents.accept(result.provider, asked: asked, at: result.at)
          } else {
            incidents.add(kind, reason: word, result.provider, at: result.at)
          }
          if let verdict = TokenVerdict(device: result.deviceID, outcome: result.outcome, askedAt: asked, push: uid) {
            verdicts.append(verdict)
          }
        }
      }
    }

    mutating func release(_ database: Database, _ push: Int64, _ devices: [Int64]) throws {
      try database.withStatement("DELETE FROM push_waiting WHERE push_id = ?1 AND device_id = ?2") { statement in
        try statement.bind(1, push)
        for device in devices {
          try statement.bind(2, device)
          try statement.run()
          waiting -= database.changes
        }
      }
    }

    mutating func keep(_ database: Database, _ push: Int64, _ items: [WaitingDelivery]) throws {
      // Not an upsert, whose replacement would count as a change like an insert.
      try release(database, push, items.map(\.deviceID))
      waiting += items.count
      try database.withStatement(
        """
        INSERT INTO push_waiting(push_id, device_id, due_at, attempts, first_at, outcome, status, reason_id)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """
      ) { statement in
        try statement.bind(1, push)
        for item in items {
          let (status, word) = item.last.statusAndReason
          try statement.bind(2, item.deviceID)
          try statement.bind(3, item.dueAt.milliseconds)
          try statement.bind(4, item.attempts)
          try statement.bind(5, item.firstAt.milliseconds)
          try statement.bind(6, item.last.kind.rawValue)
          try statement.bind(7, status)
          try statement.bind(8, try words.id(database, word ?? ""))
          try statement.run()
        }
      }
    }

    func count(_ database: Database, _ push: Int64, _ cursor: Int64?, _ handedOut: Int64?) throws {
      try database.run(
        """
        UPDATE pushes SET accepted = accepted + ?, failed = failed + ?, dead_token = dead_token + ?,
          skipped = skipped + ?, unknown = unknown + ?, cursor = max(cursor, ?),
          handed_out = max(handed_out, ?), waiting = waiting + ?
        WHERE id = ?
        """, counts.accepted, counts.failed, counts.deadToken, counts.skipped, counts.unknown, cursor ?? 0,
        handedOut ?? 0, waiting, push)
      for (key, count) in reasons {
        try database.run(
          """
          INSERT INTO push_reasons(push_id, platform, provider, outcome, reason_id, count) VALUES (?, ?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET count = count + excluded.count
          """, push, key.reach.platform.code, key.reach.provider.code, key.outcome.rawValue, key.reason, count)
      }
      for (bucket, count) in latencies.counts.enumerated() where count > 0 {
        try database.run(
          """
          INSERT INTO push_latencies(push_id, bucket, count) VALUES (?, ?, ?)
          ON CONFLICT DO UPDATE SET count = count + excluded.count
          """, push, bucket, count)
      }
    }
  }
}

extension Outcome {
  /// HTTP status, 0 without an answer; and its reason.
  fileprivate var statusAndReason: (Int, String?) {
    switch self {
    case .accepted: (200, nil)
    case .rejected(let status, let reason, _): (status, reason)
    case .unknown(let reason), .skipped(let reason): (0, reason)
    }
  }
}

/// The reasons of providers, each stored once.
struct Reasons {
  private var ids: [String: Int64] = [:]

  /// The ID of a reason; adds it if it is new.
  mutating func id(_ database: Database, _ text: String) throws -> Int64 {
    if let id = ids[text] { return id }
    let id: Int64
    if let known = try Self.find(database, text) {
      id = known
    } else {
      try database.run("INSERT INTO reasons(text) VALUES (?)", text)
      id = database.lastInsertedID
    }
    ids[text] = id
    return id
  }

  static func find(_ database: Database, _ text: String) throws -> Int64? {
    try database.fetchOne("SELECT id FROM reasons WHERE text = ?", text) { $0.int64(0) }
  }
}
