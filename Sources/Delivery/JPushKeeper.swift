package import JSON
package import Model
package import Providers
package import Store

/// What JPush itself keeps of an app: the alias and tags of its devices, and schedules that others made there. The
/// pages, the API and the command line all use it. Nothing is stored here (docs/protocols.md §4.10).
package struct JPushKeeper: Sendable {
  /// Makes one call to JPush with the app's keys.
  package typealias Ask = @Sendable (JPushOperation, _ app: Int64, Environment) async throws -> JSONValue

  private let store: Store
  private let ask: Ask

  package init(store: Store, routes: any RouteFinder) {
    self.store = store
    ask = { try await routes.ask($0, app: $1, environment: $2) }
  }

  // MARK: Devices

  /// What JPush knows of a device beside what is known here.
  ///
  /// - Throws: `ServiceRefusal`, ``NoRoute``, `ProviderProblem`, as every function here.
  package func device(_ device: Device) async throws -> JPushDevice {
    let answer = try await ask(.device(device.tokenText), device.appID, device.environment)
    return JPushDevice(answer, registrationID: device.tokenText, alias: device.alias, tags: device.tags)
  }

  /// Gives the device at JPush the alias and tags that it has here.
  ///
  /// - Returns: what JPush knows afterwards.
  /// - Throws: `Problems` at `alias` and `tags`, if JPush would refuse them; nothing is changed then.
  package func align(_ device: Device, by author: KeeperAuthor) async throws -> JPushDevice {
    let before = try await self.device(device)
    guard !before.isSame else { return before }
    guard before.problems.isEmpty else { throw Problems(before.problems) }
    func record(_ outcome: String) async throws {
      let detail: JSONValue = [
        "alias": before.hasOtherAlias ? .string(device.alias ?? "") : .null,
        "added": .number(before.missingTags.count), "removed": .number(before.extraTags.count),
        "outcome": .string(outcome),
      ]
      try await store.write {
        try AuditEntry.add(
          $0, by: author.actor, "device.jpush", "device \(device.id)", detail, from: author.address, now: author.now)
      }
    }
    do {
      for change in before.changes {
        _ = try await ask(.changeDevice(device.tokenText, change), device.appID, device.environment)
      }
    } catch let refusal as ServiceRefusal {
      try await record(refusal.reason)
      throw refusal
    }
    try await record("done")
    return try await self.device(device)
  }

  // MARK: Aliases and tags

  /// The registration IDs of an alias.
  package func devices(alias: String, app: App, _ environment: Environment) async throws -> [String] {
    let answer = try await ask(.alias(alias), app.id, environment)
    return (answer["registration_ids"]?.array ?? []).compactMap(\.string)
  }

  /// At most 100 for each platform.
  package func tags(app: App, _ environment: Environment) async throws -> [String] {
    let answer = try await ask(.tags, app.id, environment)
    return Set((answer["tags"]?.array ?? []).compactMap(\.string)).sorted()
  }

  package func isTagged(_ tag: String, device: String, app: App, _ environment: Environment) async throws -> Bool {
    try await ask(.isTagged(tag, device: device), app.id, environment)["result"] == true
  }

  /// Gives a tag to registration IDs, and takes it from others; at most 1000 each.
  package func change(
    tag: String, added: [String], removed: [String], app: App, _ environment: Environment, by author: KeeperAuthor
  ) async throws {
    _ = try await ask(.changeTag(tag, added: added, removed: removed), app.id, environment)
    try await store.write {
      try author.note(
        $0, "jpush.tag", app, environment,
        ["tag": .string(tag), "added": .number(added.count), "removed": .number(removed.count)])
    }
  }

  /// Takes an alias or a tag from all devices, or deletes a schedule, at JPush alone.
  package func remove(
    _ kind: Removable, _ name: String, app: App, _ environment: Environment, by author: KeeperAuthor
  ) async throws {
    let operation: JPushOperation =
      switch kind {
      case .alias: .removeAlias(name)
      case .tag: .removeTag(name)
      case .schedule: .removeSchedule(name)
      }
    _ = try await ask(operation, app.id, environment)
    try await store.write {
      try author.note($0, "jpush.\(kind.rawValue)_remove", app, environment, [kind.rawValue: .string(name)])
    }
  }

  package enum Removable: String, Sendable { case alias, tag, schedule }

  // MARK: Schedules

  /// JPush keeps at most 100 that have not ended.
  private static let pageLimit = 20

  package func schedules(app: App, _ environment: Environment) async throws -> [JPushListedSchedule] {
    var found: [JPushListedSchedule] = []
    for page in 1...Self.pageLimit {
      let answer = try await ask(.schedules(page: page), app.id, environment)
      found += (answer["schedules"]?.array ?? []).compactMap(JPushListedSchedule.init)
      if page >= answer["total_pages"]?.integer ?? 1 { break }
    }
    return found
  }
}
