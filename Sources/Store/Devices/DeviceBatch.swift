package import Foundation
package import JSON
package import Model
package import SQLite

/// What can be done with several devices at once.
package enum DeviceBatchAction: String, CaseIterable, Sendable {
  case addTags = "add_tags"
  case removeTags = "remove_tags"
  case setAlias = "set_alias"
  case reactivate
  case toDevelopment = "to_development"
  case toProduction = "to_production"
  case merge
  case delete

  /// Where the devices move; nil: they stay.
  package var environment: Environment? {
    switch self {
    case .toDevelopment: .development
    case .toProduction: .production
    default: nil
    }
  }

  /// Of what the activity log calls it.
  fileprivate var audited: String {
    switch self {
    case .addTags, .removeTags, .setAlias: "device.update"
    case .reactivate: "device.release"
    case .toDevelopment, .toProduction: "device.move"
    case .merge: "device.merge"
    case .delete: "device.delete"
    }
  }
}

/// Devices that somebody chose, with what shall be done with them.
package struct DeviceBatch: Sendable {
  package let action: DeviceBatchAction
  package let devices: [Device]
  /// By their row IDs.
  package let apps: [Int64: App]
  /// To add or remove.
  package var tags: [String] = []
  /// Of ``DeviceBatchAction/setAlias``; nil: none.
  package var alias: String?
  /// Of ``DeviceBatchAction/merge``: the device that stays.
  package var kept: Int64?
  package var leaving = LeavingProduction.allowed

  /// - Parameter ids: those that do not exist, or that `sees` hides, are left out.
  package init(
    _ database: Database, _ action: DeviceBatchAction, _ ids: [Int64], sees: (Int64) -> Bool = { _ in true }
  ) throws {
    self.action = action
    devices = try ids.compactMap { try Device.find(database, id: $0) }.filter { sees($0.appID) }
    let chosen = Set(devices.map(\.appID))
    apps = Dictionary(
      uniqueKeysWithValues: try App.all(database).filter { chosen.contains($0.id) }.map { ($0.id, $0) })
  }

  /// The app of all of them; nil: there are several.
  package var app: App? { apps.count == 1 ? apps.values.first : nil }

  /// Those that the action changes, whatever else is given; all if that depends on it.
  package var affected: [Device] {
    switch action {
    case .reactivate: devices.filter { $0.state == .quarantined }
    case .toDevelopment, .toProduction: devices.filter { $0.environment != action.environment }
    case .addTags, .removeTags, .setAlias, .merge, .delete: devices
    }
  }

  /// Why the choice does not fit, whatever else is given.
  package var obstacle: Problem? {
    func problem(_ message: DeviceBatchMessage) -> Problem { Problem("devices", message) }
    switch action {
    case .toDevelopment, .toProduction:
      if app == nil { return problem(.oneApp) }
      if devices.contains(where: { $0.state == .dead }) { return problem(.dead) }
      return affected.isEmpty ? problem(.allThere) : nil
    case .reactivate: return affected.isEmpty ? problem(.noneParked) : nil
    case .merge:
      if devices.count != 2 { return problem(.two) }
      return devices[0].isLike(devices[1]) ? nil : Problem("devices", DeviceMergeMessage.different)
    case .addTags, .removeTags, .setAlias, .delete: return nil
    }
  }

  /// What is wrong with `tags`, `alias` and `keep`.
  package func problems() -> [Problem] {
    let rules = Set(apps.values.map { $0.rule })
    switch action {
    case .addTags, .removeTags:
      if tags.isEmpty { return [Problem("tags", FieldMessage.emptyRequired)] }
      guard action == .addTags else { return [] }
      return rules.flatMap { TagRule.problems(with: tags, rule: $0) }.map { $0.under("tags") }
    case .setAlias: return alias.map { alias in rules.compactMap { $0.problem(with: alias)?.under("alias") } } ?? []
    case .merge:
      return devices.contains { $0.id == kept } ? [] : [Problem("keep", DeviceBatchMessage.keep)]
    case .reactivate, .toDevelopment, .toProduction, .delete: return []
    }
  }

  /// - Throws: why it cannot be done with these devices. Nothing is asked of none.
  package func check() throws(Problems) {
    guard !devices.isEmpty else { return }
    let found = obstacle.map { [$0] } ?? problems()
    if !found.isEmpty { throw Problems(found) }
  }

  /// Changes the devices, with an entry of the activity log for each that changes.
  ///
  /// - Parameter audit: makes the entry for an action on a device.
  /// - Returns: how many devices changed.
  /// - Throws: `Problem` if a limit is exceeded; then nothing is changed.
  @discardableResult
  package func carryOut(
    _ database: Database, by actor: String, now: Date, audit: (String, Int64, JSONValue) -> NewAuditEntry
  ) throws -> Int {
    if action == .merge {
      guard let kept, let gone = devices.first(where: { $0.id != kept }) else { return 0 }
      let before = try Device.get(database, id: kept)
      let after = try Device.merge(database, gone.id, into: kept, by: actor, now: now)
      let detail: JSONValue = ["before": Self.state(before), "merged": Self.state(gone), "after": Self.state(after)]
      try AuditEntry.add(database, audit(action.audited, kept, detail), now: now)
      return 2
    }
    var changed = 0
    for chosen in devices {
      // Somebody else may have changed or deleted it meanwhile.
      guard let before = try Device.find(database, id: chosen.id) else { continue }
      let after = try change(database, before, by: actor, now: now)
      guard after != before else { continue }
      var detail: [String: JSONValue] = ["before": Self.state(before)]
      detail["after"] = after.map(Self.state)
      try AuditEntry.add(database, audit(action.audited, before.id, .object(detail)), now: now)
      changed += 1
    }
    return changed
  }

  /// The device afterwards; nil: it is deleted.
  private func change(_ database: Database, _ device: Device, by actor: String, now: Date) throws -> Device? {
    func update(alias: Change<String?> = .keep, tags: Change<[String]> = .keep) throws -> Device {
      try Device.update(database, id: device.id, alias: alias, tags: tags, by: actor, now: now)
    }
    switch action {
    case .addTags: return try update(tags: .set(Set(device.tags).union(tags).sorted()))
    case .removeTags: return try update(tags: .set(device.tags.filter { !tags.contains($0) }))
    case .setAlias: return try update(alias: .set(alias))
    case .reactivate:
      guard device.state == .quarantined else { return device }
      return try Device.release(database, id: device.id, by: actor, now: now)
    case .toDevelopment, .toProduction:
      guard device.state != .dead, device.environment != action.environment else { return device }
      return try Device.release(
        database, id: device.id, environment: action.environment, leaving: leaving, by: actor, now: now)
    case .merge: return device
    case .delete:
      try Device.delete(database, id: device.id, now: now)
      return nil
    }
  }

  /// What the activity log says of a device: with its tags by name, so that a change can be undone by hand.
  private static func state(_ device: Device) -> JSONValue {
    var members = device.audited.object ?? [:]
    members["tags"] = .array(device.tags.map { .string($0) })
    members["registration_id"] = .optional(device.registrationID)
    return .object(members)
  }
}

package enum DeviceBatchMessage: String, MessageSet {
  case keep = "device.merge_keep"
  case oneApp = "device.batch_one_app"
  case dead = "device.batch_dead"
  case allThere = "device.batch_all_there"
  case noneParked = "device.batch_none_parked"
  case two = "device.batch_two"

  package var english: String {
    switch self {
    case .keep: "Choose the device that stays."
    case .oneApp: "Choose devices of one app."
    case .dead:
      "Retired devices cannot be moved. Only a new registration by the app makes them active. Leave them out."
    case .allThere: "All of these devices are there already."
    case .noneParked: "None of these devices is parked."
    case .two: "Choose exactly two devices."
    }
  }
}
