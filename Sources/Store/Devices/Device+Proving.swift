internal import Foundation
internal import Push
internal import SQLite

extension Device {
  /// Sets quarantined devices free whose token a provider took after all, in a push that was sent after they had been
  /// parked. Quick whatever the number of devices: only those parked between the first and the last of them are looked
  /// at, a thousand at most.
  ///
  /// - Parameter accepted: devices that took the push, with the time when they were asked.
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
