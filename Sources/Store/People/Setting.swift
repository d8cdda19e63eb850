internal import Model
package import SQLite

/// A setting of the installation.
package enum Setting {
  /// The mail server.
  package static let mail = "mail"

  package static func find(_ database: Database, _ key: String) throws -> String? {
    try database.fetchOne("SELECT value FROM settings WHERE key = ?", key) { $0.text(0) }
  }

  /// Nil deletes the value.
  package static func set(_ database: Database, _ key: String, _ value: String?) throws {
    if let value {
      try database.run(
        "INSERT INTO settings(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", key,
        value)
    } else {
      try database.run("DELETE FROM settings WHERE key = ?", key)
    }
  }
}

/// Where the server of this database last listened, for programs on the same machine.
package enum ServerAddress {
  private static let key = "server_address"

  /// Such as `http://127.0.0.1:8080`; nil: none has listened yet.
  package static func find(_ database: Database) throws -> String? { try Setting.find(database, key) }

  package static func set(_ database: Database, _ address: String) throws { try Setting.set(database, key, address) }
}

/// The setting of how long a push from the browser is held back for undo.
package enum UndoWindow {
  package static let key = "undo_seconds"

  /// Seconds; 0: off.
  ///
  /// - Parameter usual: used without a setting, or with an invalid one.
  package static func find(_ database: Database, usual: Int) throws -> Int {
    let seconds = try Setting.find(database, key).flatMap { Int($0) } ?? usual
    return PushLimits.undoSeconds.contains(seconds) ? seconds : usual
  }

  /// - Precondition: it is within `PushLimits.undoSeconds`.
  package static func set(_ database: Database, seconds: Int) throws {
    precondition(PushLimits.undoSeconds.contains(seconds), "an undo window is 0 to 60 seconds")
    try Setting.set(database, key, String(seconds))
  }
}
