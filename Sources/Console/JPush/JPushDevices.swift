import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/v3/devices`, `/v3/aliases` and `/v3/tags`. They know devices by their registration ID; a device without one is not
/// seen here.
enum JPushDevices {
  /// Tags added or removed in one call, and their bytes.
  private static let tagLimit = 100
  private static let tagBytes = 1000
  /// Registration IDs in one call.
  private static let idLimit = 1000
  /// Tags in one list.
  private static let listLimit = 100
  /// Seconds since the last contact in which a device counts as online, and after which JPush names no time.
  private static let online: TimeInterval = 600
  private static let forgotten: TimeInterval = 2 * 86_400

  private static let limits = DeviceLimits(devicesPerAlias: 10, tagsPerDevice: TagRule.perDevice)

  static func add(to routes: inout ConsoleRouter) {
    routes.jpush(.get, "/v3/devices/:id") { call in
      let id = call.request.parameters["id"] ?? ""
      let device = try await call.store.read { try find($0, call, id) }
      // Signalbox keeps no phone numbers.
      return JPushCall.answer([
        "tags": .array(device.tags.map(JSONValue.string)), "alias": .optional(device.alias), "mobile": .null,
      ])
    }
    routes.jpush(.post, "/v3/devices/:id") { call in try await update(call) }
    routes.jpush(.post, "/v3/devices/status") { call in try await status(call) }
    routes.jpush(.get, "/v3/aliases/:name") { call in
      let devices = try await devices(call) { $0.alias = try name(call, AliasRule.jpush.problem(with:)) }
      return JPushCall.answer(["registration_ids": .array(devices.compactMap(\.registrationID).map(JSONValue.string))])
    }
    routes.jpush(.post, "/v3/aliases/:name") { call in try await unbind(call) }
    routes.jpush(.delete, "/v3/aliases/:name") { call in try await removeAlias(call) }
    routes.jpush(.get, "/v3/tags") { call in try await tags(call) }
    routes.jpush(.post, "/v3/tags/:name") { call in try await updateTag(call) }
    routes.jpush(.delete, "/v3/tags/:name") { call in try await removeTag(call) }
    routes.jpush(.get, "/v3/tags/:name/registration_ids/:id") { call in
      let tag = try name(call, tagProblem)
      let device = try await call.store.read { try find($0, call, call.request.parameters["id"] ?? "") }
      return JPushCall.answer(["result": .bool(device.tags.contains(tag))])
    }
  }

  // MARK: Input

  private static func tagProblem(_ tag: String) -> Problem? { TagRule.problem(with: tag, rule: .jpush) }

  /// The alias or tag in the path.
  private static func name(_ call: JPushCall, _ problem: (String) -> Problem?) throws -> String {
    let name = call.request.parameters["name"] ?? ""
    if let problem = problem(name) { throw call.invalid(problem.text) }
    return name
  }

  private static func find(_ database: Database, _ call: JPushCall, _ id: String) throws -> Device {
    guard let device = try Device.find(database, app: call.app.id, registrationID: id) else {
      throw call.invalid("This app has no device with the registration_id \(id.prefix(RegistrationID.limit)).")
    }
    return device
  }

  /// A member that is a list of texts; nil if it is absent.
  private static func list(
    _ call: JPushCall, _ value: JSONValue?, _ name: String, limit: Int
  ) throws -> [String] {
    guard let value, value != .null else { return [] }
    guard let elements = value.array, elements.count <= limit else {
      throw call.invalid("\(name) must be a list of at most \(limit) strings.")
    }
    return try elements.map { element in
      guard let text = element.string else { throw call.invalid("\(name) must contain strings only.") }
      return text
    }
  }

  private static func members(
    _ call: JPushCall, _ value: JSONValue, _ place: String, known: Set<String>
  ) throws -> [String: JSONValue] {
    guard let members = value.object?.filter({ $0.value != .null }) else {
      throw call.invalid("\(place) must be a JSON object.")
    }
    if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
      throw call.invalid("\(place) does not have the key \(unknown.prefix(60)).")
    }
    return members
  }

  /// The devices of a filter on the platforms of the query, as far as they have a registration ID.
  private static func devices(
    _ call: JPushCall, _ change: @Sendable (inout DeviceFilter) throws -> Void
  ) async throws -> [Device] {
    let platforms = try platforms(call)
    var filter = DeviceFilter()
    filter.app = call.app.id
    try change(&filter)
    let wanted = filter
    return try await call.store.read { try Device.list($0, wanted, order: .oldestFirst, limit: idLimit).items }
      .filter { platforms.contains($0.platform) }
  }

  /// `platform=ios,android`, or once for each; all without it.
  private static func platforms(_ call: JPushCall) throws -> Set<Platform> {
    let words = call.request.queryItems.pairs.filter { $0.name == "platform" }
      .flatMap { $0.value.split(separator: ",") }.map(String.init)
    let platforms = try words.filter { $0 != "winphone" }.map { word in
      guard let platform = Platform(rawValue: word) else { throw call.invalid("platform must be ios or android.") }
      return platform
    }
    return words.isEmpty ? Set(Platform.allCases) : Set(platforms)
  }

  // MARK: One device

  private struct DeviceChange: Sendable {
    var alias: Change<String?> = .keep
    var clearsTags = false
    var added: [String] = []
    var removed: [String] = []
  }

  private static func change(_ call: JPushCall) async throws -> DeviceChange {
    let members = try members(call, try await call.body(), "The body", known: ["tags", "alias", "mobile"])
    guard !members.isEmpty else { throw call.invalid("Send at least one of tags and alias.") }
    if let mobile = members["mobile"], mobile != "" { throw call.invalid("Signalbox keeps no phone numbers: mobile.") }
    var change = DeviceChange()
    if let value = members["alias"] {
      guard let alias = value.string else { throw call.invalid("alias must be a string.") }
      if !alias.isEmpty, let problem = AliasRule.jpush.problem(with: alias) {
        throw call.invalid("alias: \(problem.text)")
      }
      change.alias = .set(alias.isEmpty ? nil : alias)
    }
    guard let tags = members["tags"] else { return change }
    guard tags != "" else {
      change.clearsTags = true
      return change
    }
    let lists = try self.members(call, tags, "tags", known: ["add", "remove"])
    change.added = try list(call, lists["add"], "tags.add", limit: tagLimit)
    change.removed = try list(call, lists["remove"], "tags.remove", limit: tagLimit)
    for (name, list) in [("add", change.added), ("remove", change.removed)] {
      if let problem = list.lazy.compactMap(tagProblem).first { throw call.invalid("tags.\(name): \(problem.text)") }
      guard list.reduce(0, { $0 + $1.utf8.count }) <= tagBytes else {
        throw call.invalid("tags.\(name) has more than \(tagBytes) bytes.")
      }
    }
    return change
  }

  private static func update(_ call: JPushCall) async throws -> Response {
    let id = call.request.parameters["id"] ?? ""
    let change = try await change(call)
    try await call.store.write { database in
      let device = try find(database, call, id)
      var tags: Change<[String]> = .keep
      if change.clearsTags {
        tags = .set([])
      } else if !change.added.isEmpty || !change.removed.isEmpty {
        tags = .set(Set(device.tags).union(change.added).subtracting(change.removed).sorted())
      }
      try set(database, call, device, alias: change.alias, tags: tags)
      try note(database, call, "device.update", "device \(device.id)")
    }
    return JPushCall.done
  }

  private static func set(
    _ database: Database, _ call: JPushCall, _ device: Device, alias: Change<String?> = .keep,
    tags: Change<[String]> = .keep
  ) throws {
    do {
      try Device.update(
        database, id: device.id, alias: alias, tags: tags, limits: limits, by: call.actor, now: call.now)
    } catch let problem as Problem {
      throw JPushError(problem.code == "device.alias_full" ? .aliasFull : .deviceInvalid, problem.text)
    }
  }

  private static func note(_ database: Database, _ call: JPushCall, _ action: String, _ subject: String) throws {
    try AuditEntry.add(
      database, call.audit(action, subject, ["app": .string(call.app.bundleID)]), now: call.now)
  }

  private static func ids(_ call: JPushCall, _ value: JSONValue?, _ name: String) throws -> [String] {
    try list(call, value, name, limit: idLimit)
  }

  /// Devices by their registration IDs, all or none.
  private static func find(_ database: Database, _ call: JPushCall, all ids: [String]) throws -> [Device] {
    try ids.map { id in
      guard let device = try Device.find(database, app: call.app.id, registrationID: id) else {
        throw JPushError(
          .devicePartlyInvalid,
          "This app has no device with the registration_id \(id.prefix(RegistrationID.limit)). Nothing was changed.")
      }
      return device
    }
  }

  private static func status(_ call: JPushCall) async throws -> Response {
    let members = try members(call, try await call.body(), "The body", known: ["registration_ids"])
    let ids = try ids(call, members["registration_ids"], "registration_ids")
    guard !ids.isEmpty else { throw call.invalid("registration_ids is missing.") }
    let found = try await call.store.read { database in
      try ids.map { ($0, try Device.find(database, app: call.app.id, registrationID: $0)?.seenAt) }
    }
    var answer: [String: JSONValue] = [:]
    for (id, seen) in found {
      guard let seen else {
        answer[id] = [:]
        continue
      }
      let age = call.now.timeIntervalSince(seen)
      answer[id] = ["online": .bool(age <= online)]
      if age > online, age <= forgotten {
        answer[id] = ["online": false, "last_online_time": .string(JPushTime.text(seen))]
      }
    }
    return JPushCall.answer(.object(answer))
  }

  // MARK: Aliases

  private static func unbind(_ call: JPushCall) async throws -> Response {
    let alias = try name(call, AliasRule.jpush.problem(with:))
    let members = try members(call, try await call.body(), "The body", known: ["registration_ids"])
    let lists = try self.members(call, members["registration_ids"] ?? .null, "registration_ids", known: ["remove"])
    let ids = try ids(call, lists["remove"], "registration_ids.remove")
    try await call.store.write { database in
      for device in try find(database, call, all: ids) where device.alias == alias {
        try set(database, call, device, alias: .set(nil))
      }
      try note(database, call, "alias.update", "alias \(alias)")
    }
    return JPushCall.done
  }

  private static func removeAlias(_ call: JPushCall) async throws -> Response {
    let alias = try name(call, AliasRule.jpush.problem(with:))
    try await removeFromAll(call, "alias.delete", "alias \(alias)") {
      $0.alias = alias
    } change: {
      try set($0, call, $1, alias: .set(nil))
    }
    return JPushCall.done
  }

  /// Changes every device of a filter, in transactions of a thousand, so that other writers get their turn.
  private static func removeFromAll(
    _ call: JPushCall, _ action: String, _ subject: String, _ filter: @Sendable (inout DeviceFilter) -> Void,
    change: @escaping @Sendable (Database, Device) throws -> Void
  ) async throws {
    let platforms = try platforms(call)
    var wanted = DeviceFilter()
    wanted.app = call.app.id
    filter(&wanted)
    let all = wanted
    try await call.store.write { try note($0, call, action, subject) }
    var cursor: String?
    repeat {
      let after = cursor
      cursor = try await call.store.write { database in
        let page = try Device.list(database, all, order: .oldestFirst, cursor: after, limit: idLimit)
        for device in page.items where platforms.contains(device.platform) { try change(database, device) }
        return page.next
      }
    } while cursor != nil
  }

  // MARK: Tags

  private static func tags(_ call: JPushCall) async throws -> Response {
    let names = try await call.store.read { database in
      var (names, cursor) = ([String](), String?.none)
      repeat {
        let page = try Tag.list(database, app: call.app.id, cursor: cursor, limit: 500)
        names += page.items.filter { $0.members > 0 }.map(\.name)
        cursor = page.next
      } while cursor != nil && names.count < listLimit
      return names.prefix(listLimit)
    }
    return JPushCall.answer(["tags": .array(names.map(JSONValue.string))])
  }

  private static func updateTag(_ call: JPushCall) async throws -> Response {
    let tag = try name(call, tagProblem)
    let members = try members(call, try await call.body(), "The body", known: ["registration_ids"])
    let lists = try self.members(
      call, members["registration_ids"] ?? .null, "registration_ids", known: ["add", "remove"])
    let added = try ids(call, lists["add"], "registration_ids.add")
    let removed = try ids(call, lists["remove"], "registration_ids.remove")
    guard !added.isEmpty || !removed.isEmpty else { throw call.invalid("registration_ids names no device.") }
    try await call.store.write { database in
      for device in try find(database, call, all: added) {
        try set(database, call, device, tags: .set(Array(Set(device.tags).union([tag]))))
      }
      for device in try find(database, call, all: removed) {
        try set(database, call, device, tags: .set(device.tags.filter { $0 != tag }))
      }
      try note(database, call, "tag.update", "tag \(tag)")
    }
    return JPushCall.done
  }

  private static func removeTag(_ call: JPushCall) async throws -> Response {
    let tag = try name(call, tagProblem)
    try await removeFromAll(call, "tag.delete", "tag \(tag)") {
      $0.tag = tag
    } change: { database, device in
      try set(database, call, device, tags: .set(device.tags.filter { $0 != tag }))
    }
    return JPushCall.done
  }
}
