package import Foundation
package import JSON
package import Model
internal import SQLite

/// One app on one device, by its token.
package struct Device: Sendable, Hashable, Identifiable, StoredRecord {
  /// Never reused.
  package let id: Int64
  package let appID: Int64
  /// The token's environment.
  package let environment: Environment
  package let platform: Platform
  /// The service that reaches it.
  package let provider: ProviderKind
  package let state: DeviceState
  package let stateReason: String?
  package let stateAt: Date?
  /// The provider's address of the installation; of a device of JPush its registration ID.
  package let token: DeviceToken
  /// The user, according to the app's alias rule.
  package let alias: String?
  /// Signalbox's, or JPush's, ID of the installation.
  package let registrationID: String?
  package let name: String?
  /// First registration.
  package let createdAt: Date
  /// Last registration. Only a later invalidation by the provider counts.
  package let registeredAt: Date
  /// When the app last contacted the server, to register or with a receipt.
  package let seenAt: Date
  /// Sorted.
  package internal(set) var tags: [String] = []
  package internal(set) var details = DeviceDetails()

  static let columns = """
    d.id, d.app_id, d.environment, d.platform, d.state, d.state_reason, d.state_at, d.token, d.alias,
    d.registration_id, d.name, d.created_at, d.registered_at, d.seen_at, coalesce(d.provider, d.platform)
    """

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    appID = row.int64(1)
    environment = try Environment(code: row.int(2))
    platform = try Platform(code: row.int(3))
    state = try row.value(4, as: DeviceState.self)
    stateReason = row.optionalText(5)
    stateAt = row.optionalDate(6)
    alias = row.optionalText(8)
    registrationID = row.optionalText(9)
    name = row.optionalText(10)
    createdAt = row.date(11)
    registeredAt = row.date(12)
    seenAt = row.date(13)
    provider = try ProviderKind(code: row.int(14))
    token = DeviceToken(bytes: row.blob(7), provider: provider)
  }

  /// Loads the tags and details of devices.
  static func whole(_ database: Database, _ devices: [Device]) throws -> [Device] {
    try database.withStatement(
      "SELECT t.name FROM device_tags m JOIN tags t ON t.id = m.tag_id WHERE m.device_id = ? ORDER BY t.name"
    ) { tags in
      try database.withStatement(DeviceDetails.query) { details in
        try devices.map { device in
          var device = device
          try tags.bind(1, device.id)
          while try tags.step() { device.tags.append(tags.row.text(0)) }
          device.details = try DeviceDetails.find(details, device: device.id)
          return device
        }
      }
    }
  }
}

/// Whether a device can be sent to. Stored as a number: append only.
package enum DeviceState: Int, Sendable, CaseIterable, Hashable {
  case active = 1
  /// The provider doubts the token; waits for a new registration or a person.
  case quarantined = 2
  /// The provider said that the token is invalid.
  case dead = 3

  /// As in the API and the pages.
  package var name: String {
    switch self {
    case .active: "active"
    case .quarantined: "quarantined"
    case .dead: "dead"
    }
  }

  package init?(name: String) {
    guard let state = DeviceState.allCases.first(where: { $0.name == name }) else { return nil }
    self = state
  }
}

extension Device {
  /// For the audit log. Tags are a count, because there may be a thousand.
  package var audited: JSONValue {
    [
      "alias": .optional(alias), "name": .optional(name), "environment": .string(environment.rawValue),
      "state": .string(state.name), "tags": .integer(Int64(tags.count)), "token": .string(token.abbreviated),
      "language": .optional(details.language),
    ]
  }
}
