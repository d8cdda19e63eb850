import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/v3/devices`, `/v3/aliases` and `/v3/tags`. They know devices by their registration ID; a device without one is not
/// seen here.
enum JPushDevicesAPI {
  /// Devices in one page or transaction.
  private static let pageSize = 1000
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
      // Those that the limit of an alias counts.
      let devices = try await devices(call) { $0.alias = try name(call, AliasRule.jpush.problem(with:)) }
        .filter { $0.state == .active }
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

  /// The devices of a filter on the platforms of the query, as far as they have a registration ID.
  private static func devices(
    _ call: JPushCall, _ change: @Sendable (inout DeviceFilter) throws -> Void
  ) async throws -> [Device] {
    let platforms = try platforms(call)
    var filter = DeviceFilter()
    filter.app = call.app.id
    try change(&filter)
    let wanted = filter
    return try await call.store.read { try Device.list($0, wanted, order: .oldestFirst, limit: pageSize).items }
      .filter { platforms.contains($0.platform) }
  }

  /// `platform=ios,android`, or once for each.
  private static func platforms(_ call: JPushCall) throws -> Set<Platform> {
    try JPushMembers.platforms(call.request.queryItems.pairs.filter { $0.name == "platform" }.map(\.value))
  }

  // MARK: One device

  private static func update(_ call: JPushCall) async throws -> Response {
    let id = call.request.parameters["id"] ?? ""
    let change = try JPushDeviceChange(try await call.body())
    try await call.store.write { database in
      let device = try find(database, call, id)
      let tags = change.tags(before: device.tags).map { Change.set($0.sorted()) } ?? .keep
      try set(database, call, device, alias: change.alias.map { Change<String?>.set($0) } ?? .keep, tags: tags)
      try note(database, call, "device.update", "device \(device.id)")
    }
    return JPushCall.done.naming(unused: change.unused)
  }

  private static func set(
    _ database: Database, _ call: JPushCall, _ device: Device, alias: Change<String?> = .keep,
    tags: Change<[String]> = .keep
  ) throws {
    do {
      try Device.update(
        database, id: device.id, alias: alias, tags: tags, limits: limits, by: call.actor, now: call.now)
    } catch let problem as Problem {
      throw JPushError(problem.code == AliasMessage.full.code ? .aliasFull : .deviceInvalid, problem.text)
    }
  }

  private static func note(_ database: Database, _ call: JPushCall, _ action: String, _ subject: String) throws {
    try call.record(database, action, subject, ["app": .string(call.app.bundleID)])
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
    let ids = try JPushMembers.list(try await call.body())
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
    let ids = try JPushMembers(try await call.body(), mayAdd: false).removed
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
        let page = try Device.list(database, all, order: .oldestFirst, cursor: after, limit: pageSize)
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
    let members = try JPushMembers(try await call.body(), mayAdd: true)
    try await call.store.write { database in
      for device in try find(database, call, all: members.added) {
        try set(database, call, device, tags: .set(Array(Set(device.tags).union([tag]))))
      }
      for device in try find(database, call, all: members.removed) {
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
