internal import Foundation
import JSON
import Model
internal import SQLite

extension DeviceWriter {
  /// The wanted state of a device.
  struct Target {
    var kind: DeviceCounters.Kind
    var alias: Change<String?> = .keep
    var tags: Change<[String]> = .keep
    var registrationID: Change<String?> = .keep
    var name: Change<String?> = .keep
    var details = DeviceDetails.Changes()
    /// Whether the app itself registered.
    var isRegistration = false
    /// What caused a move to another environment, for the timeline.
    var origin: MovedTokens.Origin?
  }

  /// Why a change exceeds a limit, nil if it does not.
  func problem(
    _ limits: DeviceLimits, app: Int64, alias: Change<String?>, before: Before?, tags: Int
  ) throws -> Problem? {
    if tags > limits.tagsPerDevice {
      return Problem(
        "tags", code: "device.too_many_tags",
        "A device can have at most {limit} tags, but this one would have "
          + "{count}.",
        ["limit": "\(limits.tagsPerDevice)", "count": "\(tags)"])
    }
    guard let limit = limits.devicesPerAlias, case .set(let new?) = alias, new != before?.alias else { return nil }
    let count = try database.int(
      "SELECT count(*) FROM (SELECT 1 FROM devices WHERE alias = ? AND app_id = ? LIMIT ?)", new, app, limit)
    guard count >= limit else { return nil }
    return Problem("alias", AliasMessage.full, ["limit": "\(limit)"])
  }

  /// Changes a device, with a timeline event for each difference.
  func change(_ before: Before, to target: Target) throws {
    // Changes the row first, so that tags are counted as the new kind.
    try recount(before, as: target.kind)
    let alias = target.alias.applied(to: before.alias)
    let registrationID = target.registrationID.applied(to: before.registrationID)
    let name = target.name.applied(to: before.name)
    if let registrationID, registrationID != before.registrationID {
      try release(registrationID, app: before.app, except: before.id)
    }
    try database.run(
      """
      UPDATE devices SET environment = ?1, platform = ?2, state = ?3,
        state_reason = iif(?3 = 1, NULL, state_reason), state_at = iif(?3 = 1, NULL, state_at),
        alias = ?4, registration_id = ?5, name = ?6,
        registered_at = iif(?7, ?8, registered_at), seen_at = iif(?7, ?8, seen_at), provider = ?10
      WHERE id = ?9
      """, target.kind.environment, target.kind.platform, target.kind.state, alias, registrationID, name,
      target.isRegistration, now, before.id, target.kind.ownProvider)
    try noteDifferences(before, target)
    try note(before.id, .aliasChanged, from: before.alias, to: alias)
    if let from = before.alias, let alias, from != alias { tellMove(before, "alias", from: from, to: alias) }
    try note(before.id, .registrationIDChanged, from: before.registrationID, to: registrationID)
    try note(before.id, .nameChanged, from: before.name, to: name)
    try changeTags(before, target)
    try target.details.save(database, device: before.id)
  }

  /// Removes a registration ID from the app's device that has it.
  func release(_ registrationID: String, app: Int64, except device: Int64?) throws {
    let holder = try database.fetchOne(
      "SELECT id FROM devices WHERE registration_id = ? AND app_id = ?", registrationID, app
    ) { $0.int64(0) }
    guard let holder, holder != device else { return }
    try database.run("UPDATE devices SET registration_id = NULL WHERE id = ?", holder)
    try note(holder, .registrationIDChanged, from: registrationID, to: nil)
  }

  /// Deletes a device and its timeline.
  func remove(_ before: Before) throws {
    for tag in try tags(of: before.id).values { counters.add(-1, tag: tag, before.kind) }
    counters.add(-1, app: before.app, before.kind)
    try database.run("DELETE FROM device_tags WHERE device_id = ?", before.id)
    try database.run("DELETE FROM device_events WHERE device_id = ?", before.id)
    try database.run("DELETE FROM devices WHERE id = ?", before.id)
  }

  /// Tells webhooks that a device has another value.
  func tellMove(_ before: Before, _ change: String, from old: String, to new: String) {
    news.append(
      DeviceNews(
        device: before.id, app: before.app, event: .deviceMoved,
        detail: ["change": .string(change), "from": .string(old), "to": .string(new)]))
  }

  private func noteDifferences(_ before: Before, _ target: Target) throws {
    let kind = target.kind
    if kind.environment != before.kind.environment {
      var detail: [String: JSONValue] = [
        "from": .string(try Environment(code: before.kind.environment).rawValue),
        "to": .string(try Environment(code: kind.environment).rawValue),
      ]
      if let origin = target.origin { detail.merge(origin.detail) { $1 } }
      try note(before.id, .environmentChanged, detail)
      if let incident = target.origin?.incidentID {
        try database.run(
          """
          UPDATE device_events SET incident_id = ?1
          WHERE device_id = ?2 AND number = (SELECT max(number) FROM device_events WHERE device_id = ?2)
          """, incident, before.id)
      }
      detail["change"] = "environment"
      news.append(DeviceNews(device: before.id, app: before.app, event: .deviceMoved, detail: detail))
    }
    if kind.platform != before.kind.platform {
      try note(
        before.id, .platformChanged, from: Platform(code: before.kind.platform).rawValue,
        to: Platform(code: kind.platform).rawValue)
    }
    if kind.state != before.kind.state, kind.state == DeviceState.active.rawValue {
      let from = DeviceState(rawValue: before.kind.state)?.name ?? "\(before.kind.state)"
      try note(
        before.id, target.isRegistration ? .revived : .released,
        ["from": .string(from), "reason": before.reason.map { .string($0) } ?? .null])
    }
  }

  private func note(_ device: Int64, _ kind: DeviceEvent.Kind, from old: String?, to new: String?) throws {
    guard old != new else { return }
    try note(device, kind, ["from": old.map { .string($0) } ?? .null, "to": new.map { .string($0) } ?? .null])
  }

  private func changeTags(_ before: Before, _ target: Target) throws {
    if case .keep = target.tags { return }
    let old = try tags(of: before.id)
    let new = target.tags.applied(toTags: Set(old.keys))
    let added = new.subtracting(old.keys).sorted()
    let removed = old.filter { !new.contains($0.key) }
    guard !added.isEmpty || !removed.isEmpty else { return }
    for tag in removed.values {
      try database.run("DELETE FROM device_tags WHERE tag_id = ? AND device_id = ?", tag, before.id)
      counters.add(-1, tag: tag, target.kind)
    }
    try addTags(added, device: before.id, app: before.app, target.kind)
    try note(
      before.id, .tagsChanged,
      [
        "added": .array(added.map { .string($0) }), "removed": .array(removed.keys.sorted().map { .string($0) }),
      ])
  }
}

package enum AliasMessage: String, MessageSet {
  case full = "device.alias_full"

  package var english: String {
    "This alias already has {limit} devices, which is the maximum. Remove it from one of them first."
  }
}
