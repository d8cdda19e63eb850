package import SQLite

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
