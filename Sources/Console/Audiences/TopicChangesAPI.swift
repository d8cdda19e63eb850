import Delivery
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/apps/{app}/topics/{environment}/changes`: audiences that join or leave a topic of FCM.
enum TopicChangesAPI {
  private enum Verb: String, CaseIterable { case subscribe, unsubscribe }

  static func add(to routes: inout ConsoleRouter) {
    let path = "/apps/:app/topics/:environment/changes"
    routes.call(.get, path, role: .viewer, scope: .read) { call in
      let (app, environment) = try await ChannelsAPI.place(call)
      let changes = try await call.store.read { try TopicChange.all($0, app: app.id, environment: environment) }
      return APIContext.answer(Page(items: changes, next: nil))
    }
    routes.call(.post, path, role: .operator, scope: .devices, create)
    routes.call(.get, path + "/:change", role: .viewer, scope: .read) { call in
      let (app, environment) = try await ChannelsAPI.place(call)
      return try await call.read { try find($0, call, app, environment) }
    }
    routes.list(path + "/:change/devices", filters: ["state"]) { call in
      var query = APIQuery(call.request)
      let (limit, cursor) = (query.limit(), query.cursor())
      let state: TopicChange.State? = query.choice("state", TopicChange.State.allCases.map { ($0.name, $0) })
      try query.finish()
      let (app, environment) = try await ChannelsAPI.place(call)
      return try await call.read { database in
        let change = try find(database, call, app, environment)
        return try TopicChange.members(database, of: change, state: state, cursor: cursor, limit: limit)
      }
    }
  }

  private static func find(
    _ database: Database, _ call: APIContext, _ app: App, _ environment: Environment
  ) throws -> TopicChange {
    let id: Int64 = try call.request.parameter("change")
    guard let change = try TopicChange.find(database, app: app.id, id: id), change.environment == environment else {
      throw StoreError.notFound(noun: "topic change", id: "\(id)")
    }
    return change
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    let topic = fields.string(
      "topic", required: true, limit: .characters(TopicCondition.nameLimit), check: TopicCondition.problem(withTopic:))
    let verb = fields.choice("action", required: true, as: Verb.self)
    let audience = Audience.read(fields, platforms: Set(ProviderKind.fcm.platforms))
    try fields.finish()
    guard let topic, let verb, let audience else {
      // Unreachable: each of the three is nil only if a problem was reported, and finish() then threw.
      throw Problems([Problem("", FieldMessage.required)])
    }
    let (app, environment) = try await ChannelsAPI.place(call)
    try await call.check(ownerSendingIn: environment)
    let idempotency = try Idempotency(call, content: Array(body.data()))
    let author = call.author
    return try await idempotency.response(call.store) { database in
      let change = try TopicKeeper.queue(
        database, topic: topic, joins: verb == .subscribe, audience, app: app, environment, by: author)
      let location = "/api/v1/apps/\(app.bundleID)/topics/\(environment.rawValue)/changes/\(change.id)"
      return Idempotency.Answer(status: .accepted, json: change, location: location)
    }
  }
}
