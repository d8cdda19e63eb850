import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

enum DevicesAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list(
      "/devices", reach: .handler,
      filters: ["app", "environment", "platform", "provider", "state", "alias", "tag", "token", "registration_id"]
    ) { call in try await list(call) }
    routes.call(.put, "/devices", role: .operator, scope: .devices, reach: .handler, register)
    routes.call(.get, "/devices/:id", role: .viewer, scope: .read, reach: .device) { call in
      let id = try call.id()
      return try await call.kept { try json($0, try Device.get($0, id: id)) }
    }
    routes.call(.patch, "/devices/:id", role: .operator, scope: .devices, reach: .device, update)
    routes.call(.delete, "/devices/:id", role: .operator, scope: .devices, reach: .device, delete)
  }

  private static func json(_ database: Database, _ device: Device) throws -> DeviceAnswer {
    DeviceAnswer(device, app: try App.get(database, id: device.appID).bundleID)
  }

  // MARK: Reading

  private static func list(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    let (limit, cursor, bundleID) = (query.limit(), query.cursor(), query.text("app"))
    var found = DeviceFilter()
    found.environment = query.choice("environment")
    found.platform = query.choice("platform")
    found.provider = query.choice("provider")
    found.state = query.choice("state", DeviceState.allCases.map { ($0.name, $0) })
    found.alias = query.text("alias", limit: AliasRule.none.limit)
    found.tag = query.text("tag")
    found.registrationID = query.text("registration_id")
    if let text = query.text("token", limit: DeviceToken.firebaseCharacters.upperBound) {
      do {
        let platforms = found.platform.map { [$0] } ?? Set(Platform.allCases)
        found.tokenPrefix = try DeviceToken(parsing: text, platforms: platforms).bytes
      } catch {
        query.report(error.under("token"))
      }
    }
    try query.finish()
    let filter = found
    return try await call.kept { database in
      var filter = filter
      filter.app = try call.filter(database, app: bundleID)?.id
      let apps = try App.bundleIDs(database)
      return try call.seen(cursor: cursor, limit: limit, app: \.appID) {
        try Device.list(database, filter, cursor: $0, limit: $1)
      }.map { DeviceAnswer($0, app: apps[$0.appID] ?? "") }
    }
  }

  // MARK: Changing

  private static func register(_ call: APIContext) async throws -> Response {
    let input = try DeviceInput(json: try await call.body())
    try await call.check(app: input.app)
    let (id, isNew, answer) = try await call.store.write { database in
      guard let app = try App.find(database, bundleID: input.app) else { throw APIError.noApp(input.app) }
      let problems = input.problems(rule: app.rule)
      if !problems.isEmpty { throw Problems(problems) }
      let results = try Device.register(
        database, app: app.id, [input.registration], leaving: try call.leaving(database), by: call.actor,
        now: call.now)
      let (isNew, id): (Bool, Int64)
      switch results[0] {
      case .added(let added): (isNew, id) = (true, added)
      case .updated(let updated): (isNew, id) = (false, updated)
      case .rejected(let problem): throw problem
      }
      let device = try Device.get(database, id: id)
      try call.record(
        database, "device.register", "device \(id)",
        ["app": .string(app.bundleID), "token": .string(device.token.abbreviated)])
      return (id, isNew, DeviceAnswer(device, app: app.bundleID))
    }
    return APIContext.answer(answer, status: isNew ? .created : .ok, location: isNew ? "/api/v1/devices/\(id)" : nil)
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    let patch = try DevicePatch(json: try await call.body())
    return try await call.write { database in
      let before = try Device.get(database, id: id)
      let app = try App.get(database, id: before.appID)
      let problems = patch.problems(before, rule: app.rule)
      if !problems.isEmpty { throw Problems(problems) }
      var after = try Device.update(
        database, id: id, alias: patch.alias, tags: patch.tags.map { .set($0) } ?? .keep, name: patch.name,
        details: patch.details, by: call.actor, now: call.now)
      let moves = patch.environment.map { $0 != before.environment } ?? false
      if moves || patch.isReleased {
        after = try Device.release(
          database, id: id, environment: patch.environment, leaving: try call.leaving(database), by: call.actor,
          now: call.now)
      }
      if let badge = patch.badge { try DeviceBadge.set(database, device: id, to: badge) }
      try call.record(database, "device.update", "device \(id)", ["before": before.audited, "after": after.audited])
      return DeviceAnswer(after, app: app.bundleID)
    }
  }

  private static func delete(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    try await call.store.write { database in
      let device = try Device.get(database, id: id)
      try Device.delete(database, id: id, now: call.now)
      try call.record(database, "device.delete", "device \(id)", ["before": device.audited])
    }
    return APIContext.nothing
  }
}

/// `POST /api/v1/devices/import`: streams the body, so memory use does not depend on its size.
enum DeviceImportAPI {
  /// 4 GiB, about ten million devices.
  static let bodyLimit = 4 << 30

  static func add(to routes: inout ConsoleRouter) {
    let options = Route.Options(bodyLimit: bodyLimit, bodyTimeLimit: .seconds(6 * 3600))
    routes.call(.post, "/devices/import", role: .operator, scope: .devices, reach: .handler, options: options, read)
  }

  private static func format(_ request: Request) throws -> DeviceImport.Format {
    switch request.mediaType {
    case "application/x-ndjson": return .ndjson
    case "text/csv": return .csv
    default: throw HTTPError(.unsupportedMediaType, "The body must be application/x-ndjson or text/csv.")
    }
  }

  private static func read(_ call: APIContext) async throws -> Response {
    let apps = call.apps
    let bundleIDs = try await call.store.read { database in
      try apps.map { apps in Set(try App.all(database).filter { apps.contains($0.id) }.map(\.bundleID)) }
    }
    var intake = DeviceIntake(DeviceLineParser(format: try format(call.request)), for: call, only: bundleIDs)
    do {
      for try await piece in call.request.body { try await intake.take(piece) }
      try await intake.finish()
    } catch { throw intake.broken(by: error) }
    return APIContext.answer(intake.report)
  }
}
