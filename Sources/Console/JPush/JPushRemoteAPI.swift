import Delivery
import HTTPServer
import JSON
import Model
import Providers
import Reactor
import SQLite
import Store

/// `/api/v1/devices/{id}/jpush` and `/api/v1/apps/{app}/jpush/{environment}`: what JPush itself keeps.
enum JPushRemoteAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/devices/:id/jpush", role: .viewer, scope: .read, reach: .device) { call in
      let device = try await device(call)
      return try await telling {
        APIContext.answer(try await call.console.engine.jpush.device(device))
      }
    }
    routes.call(.post, "/devices/:id/jpush", role: .operator, scope: .devices, reach: .device, takesBody: false) {
      call in
      let device = try await device(call)
      return try await telling {
        APIContext.answer(try await call.console.engine.jpush.align(device, by: call.author))
      }
    }
    let base = "/apps/:app/jpush/:environment"
    routes.call(.get, base + "/schedules", role: .viewer, scope: .read) { call in
      try await asking(call) { keeper, app, environment in
        APIContext.answer(Page(items: try await keeper.schedules(app: app, environment), next: nil))
      }
    }
    routes.call(.get, base + "/tags", role: .viewer, scope: .read) { call in
      try await asking(call) { keeper, app, environment in
        strings("tags", try await keeper.tags(app: app, environment))
      }
    }
    routes.call(.get, base + "/tags/:name/devices/:device", role: .viewer, scope: .read) { call in
      try await asking(call) { keeper, app, environment in
        let isTagged = try await keeper.isTagged(
          name(call), device: call.request.parameters["device"] ?? "", app: app, environment)
        return APIContext.answer { $0.member("tagged", isTagged) }
      }
    }
    routes.call(.post, base + "/tags/:name", role: .operator, scope: .devices, tag)
    routes.call(.get, base + "/aliases/:name", role: .viewer, scope: .read) { call in
      try await asking(call) { keeper, app, environment in
        strings("registration_ids", try await keeper.devices(alias: name(call), app: app, environment))
      }
    }
    for (path, kind) in [
      ("/schedules/:name", JPushKeeper.Removable.schedule), ("/tags/:name", .tag), ("/aliases/:name", .alias),
    ] {
      routes.call(.delete, base + path, role: .operator, scope: .devices) { call in
        try await asking(call) { keeper, app, environment in
          try await keeper.remove(kind, name(call), app: app, environment, by: call.author)
          return APIContext.nothing
        }
      }
    }
  }

  private static func device(_ call: APIContext) async throws -> Device {
    let id = try call.id()
    let device = try await call.store.read { try Device.get($0, id: id) }
    guard device.provider == .jpush else {
      throw APIError(.conflict, "The device is not registered with JPush, so JPush knows nothing of it.")
    }
    return device
  }

  private static func asking(
    _ call: APIContext, _ body: (JPushKeeper, App, Environment) async throws -> Response
  ) async throws -> Response {
    let (app, environment) = try await ChannelsAPI.place(call)
    return try await telling { try await body(call.console.engine.jpush, app, environment) }
  }

  /// What JPush does not have, or refuses of what was asked, is the caller's to change; the rest is JPush's.
  private static func telling(_ body: () async throws -> Response) async throws -> Response {
    try await ChannelsAPI.telling {
      do {
        return try await body()
      } catch let error as ServiceRefusal where error.status == 404 {
        throw APIError(.notFound, error.description)
      } catch let error as ServiceRefusal where error.status == 400 {
        throw APIError(.unprocessableContent, error.description)
      }
    }
  }

  private static func name(_ call: APIContext) -> String { call.request.parameters["name"] ?? "" }

  private static func strings(_ member: StaticString, _ list: [String]) -> Response {
    APIContext.answer { json in json.array(member, list) { json, text in json.string(text) } }
  }

  private static func tag(_ call: APIContext) async throws -> Response {
    let fields = JSONFields(try await call.body())
    func list(_ name: String) -> [String] {
      fields.elements(name, atMost: JPushMembers.limit) { text throws(Problem) in text }
    }
    let (added, removed) = (list("add"), list("remove"))
    try fields.finish()
    return try await asking(call) { keeper, app, environment in
      guard !added.isEmpty || !removed.isEmpty else { return APIContext.nothing }
      try await keeper.change(tag: name(call), added: added, removed: removed, app: app, environment, by: call.author)
      return APIContext.nothing
    }
  }
}
