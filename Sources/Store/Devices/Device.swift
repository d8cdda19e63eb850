package import Foundation
package import Model
internal import SQLite

/// One app on one device, by its token.
package struct Device: Sendable, Hashable, Identifiable {
  /// Row id; never used again for another device.
  package let id: Int64
  /// The app.
  package let appID: Int64
  /// Which of the provider's worlds the token belongs to.
  package let environment: Environment
  /// What it runs.
  package let platform: Platform
  /// Whether it can be sent to.
  package let state: DeviceState
  /// Why it is not active, in the provider's word or ours.
  package let stateReason: String?
  /// Since when it is not active.
  package let stateAt: Date?
  /// What the provider calls it by.
  package let token: DeviceToken
  /// The user, by the app's alias rule.
  package let alias: String?
  /// Our, or JPush's, own id of the installation.
  package let registrationID: String?
  /// What people call it.
  package let name: String?
  /// First registration.
  package let createdAt: Date
  /// Last registration. A provider's "gone since" counts only if it is later.
  package let registeredAt: Date
  /// When the app last spoke to us.
  package let seenAt: Date
  /// Names of its tags, sorted.
  package internal(set) var tags: [String] = []

  static let columns = """
    d.id, d.app_id, d.environment, d.platform, d.state, d.state_reason, d.state_at, d.token, d.alias,
    d.registration_id, d.name, d.created_at, d.registered_at, d.seen_at
    """

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    appID = row.int64(1)
    environment = try Environment(code: row.int(2))
    platform = try Platform(code: row.int(3))
    state = try row.value(4, as: DeviceState.self)
    stateReason = row.optionalText(5)
    stateAt = row.optionalDate(6)
    token = DeviceToken(bytes: row.blob(7))
    alias = row.optionalText(8)
    registrationID = row.optionalText(9)
    name = row.optionalText(10)
    createdAt = row.date(11)
    registeredAt = row.date(12)
    seenAt = row.date(13)
  }

  /// Fills in the tags of devices that were just read.
  static func withTags(_ database: Database, _ devices: [Device]) throws -> [Device] {
    try database.withStatement(
      "SELECT t.name FROM device_tags m JOIN tags t ON t.id = m.tag_id WHERE m.device_id = ? ORDER BY t.name"
    ) { statement in
      try devices.map { device in
        var device = device
        try statement.bind(1, device.id)
        while try statement.step() { device.tags.append(statement.row.text(0)) }
        return device
      }
    }
  }
}

/// Whether a device can be sent to. Stored as the number: append only.
package enum DeviceState: Int, Sendable, CaseIterable, Hashable {
  /// Can be sent to.
  case active = 1
  /// A provider doubts the token; waits for a new registration or a person.
  case quarantined = 2
  /// A provider said that the token is gone.
  case dead = 3

  /// As the API and the pages say it.
  package var name: String {
    switch self {
    case .active: "active"
    case .quarantined: "quarantined"
    case .dead: "dead"
    }
  }

  /// Reads ``name``.
  package init?(name: String) {
    guard let state = DeviceState.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }
}
