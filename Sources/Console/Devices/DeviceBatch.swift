import Foundation
import JSON
import Model
import SQLite
import Store

/// What can be done with several devices of the list at once.
enum DeviceBatchAction: String, CaseIterable {
  case addTags = "add_tags"
  case removeTags = "remove_tags"
  case setAlias = "set_alias"
  case reactivate
  case toDevelopment = "to_development"
  case toProduction = "to_production"
  case merge
  case delete

  /// Where the devices move; nil: they stay.
  var environment: Environment? {
    switch self {
    case .toDevelopment: .development
    case .toProduction: .production
    default: nil
    }
  }

  /// Whether it needs tags or an alias.
  var asksValue: Bool { [.addTags, .removeTags, .setAlias].contains(self) }
}

/// Devices that somebody chose, with what shall be done with them.
struct DeviceBatch: Sendable {
  /// A page of the list has no more.
  static let limit = 50

  let action: DeviceBatchAction
  let devices: [Device]
  /// By their row IDs.
  let apps: [Int64: App]
  /// Tags or the alias, as typed.
  let value: String
  /// Of ``DeviceBatchAction/merge``: the device that stays.
  let kept: Int64?

  private var tags: [String] { Form([("value", value)]).parts("value") }

  /// The app of all of them; nil: there are several.
  var app: App? {
    let ids = Set(devices.map(\.appID))
    return ids.count == 1 ? ids.first.flatMap { apps[$0] } : nil
  }

  /// Why the choice does not fit, whatever is typed; the end of a key.
  var obstacle: String? {
    switch action {
    case .toDevelopment, .toProduction:
      if app == nil { return "one_app" }
      if devices.contains(where: { $0.state == .dead }) { return "dead" }
      return devices.contains { $0.environment != action.environment } ? nil : "all_there"
    case .reactivate: return devices.contains { $0.state == .quarantined } ? nil : "none_parked"
    case .merge:
      if devices.count != 2 { return "two" }
      return devices[0].isLike(devices[1]) ? nil : "alike"
    case .addTags, .removeTags, .setAlias, .delete: return nil
    }
  }

  /// What is wrong with the fields, by their names.
  func problems() -> [Problem] {
    func rules() -> Set<AliasRule> { Set(apps.values.map { $0.aliasRule.flatMap(AliasRule.init) ?? .none }) }
    switch action {
    case .addTags, .removeTags:
      if tags.isEmpty { return [Problem("value", code: "name.empty", "Must not be empty.")] }
      guard action == .addTags else { return [] }
      return rules().flatMap { TagRule.problems(with: tags, rule: $0) }.map { problem in
        var problem = problem
        problem.field = "value"
        return problem
      }
    case .setAlias:
      return value.isEmpty ? [] : rules().compactMap { $0.problem(with: value)?.under("value") }
    case .merge:
      return devices.contains { $0.id == kept } ? [] : [Problem("keep", DeviceBatchMessage.keep)]
    case .reactivate, .toDevelopment, .toProduction, .delete: return []
    }
  }

  /// Changes the devices, with an entry of the activity log for each that changes.
  ///
  /// - Parameter audit: makes the entry for an action on a device.
  /// - Throws: `Problem` if a limit is exceeded; then nothing is changed.
  func carryOut(
    _ database: Database, by actor: String, now: Date, audit: (String, Int64, JSONValue) -> NewAuditEntry
  ) throws {
    if action == .merge {
      guard let kept, let gone = devices.first(where: { $0.id != kept }) else { return }
      let before = try Device.get(database, id: kept)
      let after = try Device.merge(database, gone.id, into: kept, by: actor, now: now)
      let detail: JSONValue = ["before": Self.state(before), "merged": Self.state(gone), "after": Self.state(after)]
      try AuditEntry.add(database, audit("device.merge", kept, detail), now: now)
      return
    }
    for chosen in devices {
      // Somebody else may have changed or deleted it meanwhile.
      guard let before = try Device.find(database, id: chosen.id) else { continue }
      let after = try change(database, before, by: actor, now: now)
      guard after != before else { continue }
      var detail: [String: JSONValue] = ["before": Self.state(before)]
      detail["after"] = after.map(Self.state)
      try AuditEntry.add(database, audit(audited, before.id, .object(detail)), now: now)
    }
  }

  private var audited: String {
    switch action {
    case .addTags, .removeTags, .setAlias: "device.update"
    case .reactivate, .toDevelopment, .toProduction: "device.release"
    case .merge: "device.merge"
    case .delete: "device.delete"
    }
  }

  /// The device afterwards; nil: it is deleted.
  private func change(_ database: Database, _ device: Device, by actor: String, now: Date) throws -> Device? {
    func update(alias: Change<String?> = .keep, tags: Change<[String]> = .keep) throws -> Device {
      try Device.update(database, id: device.id, alias: alias, tags: tags, by: actor, now: now)
    }
    switch action {
    case .addTags: return try update(tags: .set(Set(device.tags).union(tags).sorted()))
    case .removeTags: return try update(tags: .set(device.tags.filter { !tags.contains($0) }))
    case .setAlias: return try update(alias: .set(value.isEmpty ? nil : value))
    case .reactivate:
      guard device.state == .quarantined else { return device }
      return try Device.release(database, id: device.id, by: actor, now: now)
    case .toDevelopment, .toProduction:
      guard device.state != .dead, device.environment != action.environment else { return device }
      return try Device.release(database, id: device.id, environment: action.environment, by: actor, now: now)
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

enum DeviceBatchMessage: String, MessageSet {
  case keep = "device.merge_keep"

  var english: String { "Choose the device that stays." }
}
