package import Foundation
internal import Model
package import SQLite

/// What a trail (a file that names the devices that left, see Delivery) says when a process has died.
extension Push {
  /// Row ids of pushes whose devices under way stand in a trail.
  package static func ofTrail(_ database: Database, _ trail: Int64) throws -> [Int64] {
    try database.fetchAll("SELECT id FROM pushes WHERE trail = ? AND trail <> 0 ORDER BY id", trail) { $0.int64(0) }
  }

  /// Says that the devices that a push leaves for stand in a trail from now on: before the first of them leaves.
  package static func setTrail(_ database: Database, id: Int64, _ trail: Int64) throws {
    try database.run("UPDATE pushes SET trail = ? WHERE id = ?", trail, id)
  }

  /// Takes over which devices a push had left for when its process ended: those without an outcome are on their way,
  /// and no others. Again it changes nothing.
  ///
  /// - Parameter left: row ids of the devices that the trail names.
  package static func follow(_ database: Database, id: Int64, left: [Int64], now: Date) throws {
    try database.transaction {
      let left = Set(left)
      let onItsWay = WaitingDelivery.onItsWay
      // Taken, and never sent.
      let taken = try database.fetchAll(
        "SELECT device_id FROM push_waiting WHERE push_id = ? AND due_at = \(onItsWay)", id
      ) { $0.int64(0) }
      for device in taken where !left.contains(device) {
        try database.run("UPDATE push_waiting SET due_at = ? WHERE push_id = ? AND device_id = ?", now, id, device)
      }
      let reason = try WaitingDelivery.interruptedReason(database)
      var added = 0
      for device in left {
        added += try database.run(
          """
          INSERT INTO push_waiting(push_id, device_id, due_at, attempts, first_at, outcome, status, reason_id)
          SELECT ?1, ?2, \(onItsWay), 0, ?3, \(OutcomeKind.skipped.rawValue), 0, ?4
          WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE push_id = ?1 AND device_id = ?2)
            AND NOT EXISTS (SELECT 1 FROM push_waiting WHERE push_id = ?1 AND device_id = ?2)
          """, id, device, now, reason)
      }
      try database.run(
        "UPDATE pushes SET handed_out = cursor, trail = 0, waiting = waiting + ? WHERE id = ?", added, id)
    }
  }
}
