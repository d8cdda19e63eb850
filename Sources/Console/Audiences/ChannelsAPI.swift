import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Reactor
import SQLite
import Store

/// `/api/v1/apps/{app}/channels/{environment}`: the broadcast channels of an app at APNs.
enum ChannelsAPI {
  static func add(to routes: inout ConsoleRouter) {
    let list = "/apps/:app/channels/:environment"
    routes.call(.get, list, role: .viewer, scope: .read) { call in
      let (app, environment) = try await place(call)
      let channels = try await call.store.read { try Channel.all($0, app: app.id, environment: environment) }
      return answer(channels)
    }
    routes.call(.post, list, role: .operator, scope: .devices, create)
    routes.call(.post, list + "/refresh", role: .operator, scope: .devices, takesBody: false) { call in
      let (app, environment) = try await place(call)
      return try await telling {
        answer(try await call.console.engine.channels.list(app: app, environment, now: call.now))
      }
    }
    routes.call(.get, list + "/:id", role: .operator, scope: .devices) { call in
      let (app, environment) = try await place(call)
      let channel = try await channel(call, app, environment)
      return try await telling {
        APIContext.answer(
          try await call.console.engine.channels.read(channel.channel, app: app, environment, now: call.now))
      }
    }
    routes.call(.delete, list + "/:id", role: .operator, scope: .devices) { call in
      let (app, environment) = try await place(call)
      let channel = try await channel(call, app, environment)
      return try await telling {
        try await call.console.engine.channels.delete(channel.channel, app: app, environment, by: call.author)
        return APIContext.nothing
      }
    }
  }

  static func place(_ call: APIContext) async throws -> (App, Environment) {
    guard let environment = call.request.parameters["environment"].flatMap(Environment.init) else {
      throw HTTPError(.notFound, "The environment must be development or production.")
    }
    return (try await call.store.read { try call.app($0) }, environment)
  }

  private static func channel(_ call: APIContext, _ app: App, _ environment: Environment) async throws -> Channel {
    let id = try call.id()
    let found = try await call.store.read { try Channel.find($0, id: id) }
    guard let found, found.appID == app.id, found.environment == environment else {
      throw StoreError.notFound(noun: "channel", id: "\(id)")
    }
    return found
  }

  private static func answer(_ channels: [Channel]) -> Response {
    APIContext.answer(Page(items: channels, next: nil))
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    let storage = fields.choice("storage", required: true, as: ChannelPolicy.Word.self)
    let name = fields.string("name", limit: .characters(Channel.nameLimit))
    try fields.finish()
    guard let policy = storage?.policy else { throw Problems([Problem("storage", FieldMessage.required)]) }
    let (app, environment) = try await place(call)
    let idempotency = try Idempotency(call, content: Array(body.data()))
    return try await telling {
      try await idempotency.answer(call.store) {
        let channel = try await call.console.engine.channels.create(
          policy, name: name ?? "", app: app, environment, by: call.author)
        return Idempotency.Answer(
          status: .created, json: channel,
          location: "/api/v1/apps/\(app.bundleID)/channels/\(environment.rawValue)/\(channel.id)")
      }.response
    }
  }

  /// Converts what Apple refuses, or cannot be asked, into answers of the API.
  static func telling(_ body: () async throws -> Response) async throws -> Response {
    do {
      return try await body()
    } catch let error as ServiceRefusal {
      throw APIError(502, error.description)
    } catch let error as NoRoute {
      throw APIError(.conflict, error.description)
    } catch let error as ProviderProblem {
      throw APIError(.conflict, error.description)
    }
  }
}
