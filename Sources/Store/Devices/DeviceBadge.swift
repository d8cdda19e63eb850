internal import Model
package import SQLite

/// The number on each device's app icon.
///
/// Counted when the provider has accepted a push, in the transaction that records it: an outcome is recorded once,
/// whatever happened in between, so a push that is sent again after a crash sends the same number and counts once. Two
/// pushes that are on their way to a device at the same time begin with the same number; the next one counts both.
package enum DeviceBadge {
  /// Marks an app whose pushes count. What was set before the first of them is not known.
  package static func begin(_ database: Database, app: Int64) throws {
    try database.run("UPDATE apps SET counts_badges = 1 WHERE id = ? AND counts_badges = 0", app)
  }

  /// Whether a push that sets the number must be known, because others count on.
  package static func isKept(_ database: Database, app: Int64) throws -> Bool {
    try database.int("SELECT counts_badges FROM apps WHERE id = ?", app) == 1
  }

  /// Gives devices the numbers that were counted before this push.
  package static func fill(_ database: Database, _ members: [AudienceMember]) throws -> [AudienceMember] {
    try database.withStatement("SELECT badge FROM devices WHERE id = ?1") { statement in
      try members.map { member in
        var member = member
        try statement.bind(1, member.id)
        if try statement.step() { member.badge = statement.row.int(0) }
        statement.reset()
        return member
      }
    }
  }

  /// The same for devices that are due again.
  package static func fill(_ database: Database, _ due: [WaitingDelivery.Due]) throws -> [WaitingDelivery.Due] {
    var filled = try fill(database, due.compactMap(\.member))[...]
    return due.map { $0.member == nil ? $0 : WaitingDelivery.Due(waiting: $0.waiting, member: filled.removeFirst()) }
  }

  /// Sets the number of one device, as its app shows it now.
  package static func set(_ database: Database, device: Int64, to number: Int) throws {
    try database.run("UPDATE devices SET badge = ? WHERE id = ?", number, device)
  }

  /// Changes the number of devices that have accepted a push.
  static func apply(_ database: Database, _ badge: Badge, to devices: some Collection<Int64>) throws {
    let (number, sql): (Int, String) =
      switch badge {
      case .set(let number): (number, "?1")
      case .add(let number): (number, "max(0, min(\(PushLimits.badge.upperBound), badge + ?1))")
      }
    try database.withStatement("UPDATE devices SET badge = \(sql) WHERE id = ?2") { statement in
      try statement.bind(1, number)
      for device in devices {
        try statement.bind(2, device)
        try statement.run()
      }
    }
  }
}
