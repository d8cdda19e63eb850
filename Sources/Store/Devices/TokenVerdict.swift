package import Foundation
import JSON
internal import Model
package import SQLite

/// The meaning of a provider's answer for a device's token.
package struct TokenVerdict: Sendable, Hashable {
  package var deviceID: Int64
  /// Quarantined or dead.
  package var state: DeviceState
  /// The provider's reason.
  package var reason: String
  /// When the token became invalid: the provider's time stamp, or the time of the request. Devices registered at that
  /// moment or later are not affected.
  package var since: Date
  /// Public ID of the push.
  package var push: String?
  package init(deviceID: Int64, state: DeviceState, reason: String, since: Date, push: String?) {
    (self.deviceID, self.state, self.reason, self.since, self.push) = (deviceID, state, reason, since, push)
  }

  /// The verdict of an outcome, nil if there is none.
  ///
  /// - Parameter askedAt: the time of the request, for answers without a time stamp.
  init?(device: Int64, outcome: Outcome, askedAt: Date, push: String?) {
    guard case .rejected(_, let reason, let invalidSince) = outcome else { return nil }
    if outcome.kind == .deadToken {
      self.init(deviceID: device, state: .dead, reason: reason, since: invalidSince ?? askedAt, push: push)
    } else if Reason.parking.contains(reason) {
      self.init(deviceID: device, state: .quarantined, reason: reason, since: askedAt, push: push)
    } else {
      return nil
    }
  }

  /// Applies verdicts, with a timeline event each.
  ///
  /// - Returns: the IDs of changed devices: those that exist, are not in a worse state, and have not registered since.
  @discardableResult
  package static func carryOut(_ database: Database, _ verdicts: [TokenVerdict], now: Date) throws -> [Int64] {
    guard !verdicts.isEmpty else { return [] }
    return try DeviceWriter.run(database, now: now) { writer in
      try verdicts.compactMap { try writer.carryOut($0) ? $0.deviceID : nil }
    }
  }
}

extension DeviceWriter {
  fileprivate func carryOut(_ verdict: TokenVerdict) throws -> Bool {
    // A 410 older than the registration concerns the token's former life (docs/protocols.md §1; Apple, "timestamp").
    guard let before = try find(verdict.deviceID), verdict.since > before.registeredAt,
      verdict.state.rawValue > before.kind.state
    else { return false }
    var kind = before.kind
    kind.state = verdict.state.rawValue
    try recount(before, as: kind)
    try database.run(
      "UPDATE devices SET state = ?, state_reason = ?, state_at = ? WHERE id = ?", kind.state, verdict.reason, now,
      before.id)
    var detail: [String: JSONValue] = [
      "reason": .string(verdict.reason), "since": .integer(verdict.since.milliseconds),
    ]
    if let push = verdict.push { detail["push"] = .string(push) }
    try note(before.id, verdict.state == .dead ? .declaredDead : .quarantined, detail)
    if verdict.state == .dead {
      detail["since"] = JSONValue(written: verdict.since)
      news.append(DeviceNews(device: before.id, app: before.app, event: .deviceDead, detail: detail))
    }
    return true
  }
}

extension Device {
  /// Reactivates quarantined devices whose token a provider accepted in a push sent after they were parked. Fast for
  /// any number of devices: only devices parked between the first and the last are checked, at most a thousand.
  ///
  /// - Parameter accepted: devices that accepted the push, with the time of the request.
  static func prove(
    _ database: Database, app: Int64, environment: Environment, push: String, _ accepted: [Int64: Date], now: Date
  ) throws {
    guard let first = accepted.keys.min(), let last = accepted.keys.max() else { return }
    var proven: [Int64] = []
    for platform in Platform.allCases {
      proven += try database.fetchAll(
        """
        SELECT id, state_at FROM devices INDEXED BY devices_kind
        WHERE app_id = ? AND environment = ? AND platform = ? AND state = ? AND id BETWEEN ? AND ? LIMIT 1000
        """, app, environment.code, platform.code, DeviceState.quarantined.rawValue, first, last
      ) { (id: $0.int64(0), since: $0.date(1)) }
      .filter { parked in accepted[parked.id].map { $0 >= parked.since } ?? false }.map(\.id)
    }
    guard !proven.isEmpty else { return }
    try DeviceWriter.run(database, now: now) { writer in
      for id in proven {
        guard let before = try writer.find(id) else { continue }
        var kind = before.kind
        kind.state = DeviceState.active.rawValue
        try writer.recount(before, as: kind)
        try database.run(
          "UPDATE devices SET state = ?, state_reason = NULL, state_at = NULL WHERE id = ?", kind.state, id)
        try writer.note(id, .proven, ["push": .string(push)])
      }
    }
  }
}
