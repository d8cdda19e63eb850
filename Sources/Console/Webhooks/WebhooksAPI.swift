import Foundation
import HTTPServer
package import JSON
import Model
package import SQLite
package import Store
import Webhooks

/// `/api/v1/webhooks`: what other servers are told of.
enum WebhooksAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/webhooks", role: .admin, scope: .admin) { call in
      let items = try await call.store.read { database in
        try Webhook.all(database).map { try WebhookAnswer(database, $0) }
      }
      return APIContext.answer(Page(items: items, next: nil))
    }
    routes.call(.post, "/webhooks", role: .admin, scope: .admin, create)
    routes.call(.get, "/webhooks/:id", role: .admin, scope: .admin) { call in
      try await call.read { try WebhookAnswer($0, try Webhook.get($0, id: call.id())) }
    }
    routes.call(.patch, "/webhooks/:id", role: .admin, scope: .admin, update)
    routes.call(.delete, "/webhooks/:id", role: .admin, scope: .admin) { call in
      let id = try call.id()
      try await call.store.write { database in
        try Webhook.get(database, id: id).note(database, "webhook.delete", for: call)
        try Webhook.delete(database, id: id)
      }
      return APIContext.nothing
    }
    routes.call(.post, "/webhooks/:id/secret", role: .admin, scope: .admin, takesBody: false) { call in
      let (id, sealer): (Int64, any Sealer) = (try call.id(), call.store.sealer)
      return try await Idempotency(call, content: [], isSecret: true).response(call.store) { database in
        let secret = try Webhook.rotate(database, id: id, sealer: sealer, now: call.now)
        let webhook = try Webhook.get(database, id: id)
        try webhook.note(database, "webhook.rotate", for: call)
        return Idempotency.Answer(status: .ok, json: try WebhookAnswer(database, webhook, secret: secret))
      }
    }
    routes.call(.post, "/webhooks/:id/test", role: .admin, scope: .admin, takesBody: false) { call in
      let id = try call.id()
      let (_, delivery) = try await call.console.webhooks.test(
        id, in: call.store, audit: call.audit("webhook.test", ""), now: call.now)
      return APIContext.answer(delivery)
    }
    routes.list("/webhooks/:id/deliveries", role: .admin, scope: .admin) { call in
      let id = try call.id()
      let (limit, cursor) = try APIQuery.page(call.request)
      return try await call.read { database in
        _ = try Webhook.get(database, id: id)
        return try WebhookDelivery.list(database, webhook: id, cursor: cursor, limit: limit)
      }
    }
    routes.call(.post, "/webhooks/:id/deliveries/:uid/redeliver", role: .admin, scope: .admin, takesBody: false) {
      call in
      let (id, uid): (Int64, String) = (try call.id(), call.request.parameters["uid"] ?? "")
      return try await Idempotency(call, content: []).response(call.store) { database in
        try Webhook.get(database, id: id).note(database, "webhook.redeliver", for: call)
        return Idempotency.Answer(
          status: .accepted, json: try WebhookDelivery.sendAgain(database, webhook: id, uid: uid, now: call.now))
      }
    }
  }

  /// Reads the members that creating and changing have in common. `app` is a bundle ID.
  private static func read(_ fields: JSONFields, _ form: inout WebhookForm, required: Bool) throws -> String? {
    form.name = fields.string("name", required: required, limit: .characters(WebhookForm.nameLimit)) ?? form.name
    form.url = fields.string("url", required: required, limit: .characters(2048))
    form.events = Set(fields.choices("events", atMost: 10, as: Webhook.Event.self))
    form.isActive = fields.bool("active") ?? form.isActive
    let app = fields.string("app", limit: .characters(AppName.bundleIDLimit))
    try fields.finish()
    return app
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    var typed = WebhookForm()
    let bundleID = try read(JSONFields(body), &typed, required: true)
    let problems = typed.problems(plain: call.plainHosts)
    guard problems.isEmpty else { throw Problems(problems) }
    let idempotency = try Idempotency(call, content: Array(body.data()), isSecret: true)
    let wanted = typed
    return try await idempotency.response(call.store) { database in
      var form = wanted
      form.appID = try call.filter(database, app: bundleID)?.id
      let added = try form.add(database, for: call)
      return Idempotency.Answer(
        status: .created, json: try WebhookAnswer(database, added.webhook, secret: added.secret),
        location: "/api/v1/webhooks/\(added.webhook.id)")
    }
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    let body = try await call.body()
    var typed = WebhookForm()
    let bundleID = try read(JSONFields(body), &typed, required: false)
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let form = typed
    @Sendable func has(_ name: String) -> Bool { body[name] != nil && body[name] != .null }
    return try await call.write { database in
      let before = try Webhook.get(database, id: id)
      var form = form
      if !has("name") { form.name = before.details.name }
      if !has("events") { form.events = before.details.events }
      if !has("active") { form.isActive = before.details.isActive }
      // `null` is every app.
      form.appID =
        body["app"] == nil ? before.details.appID : try call.filter(database, app: bundleID)?.id
      let problems = form.problems(plain: call.plainHosts)
      guard problems.isEmpty else { throw Problems(problems) }
      return try WebhookAnswer(database, try form.update(database, before, for: call))
    }
  }
}

/// The schema `Webhook`; with the secret only when it was just made.
package struct WebhookAnswer: JSONObject, Sendable {
  package let webhook: Webhook
  /// Bundle ID.
  private let app: String?
  private let secret: String?

  package init(_ database: Database, _ webhook: Webhook, secret: String? = nil) throws {
    (self.webhook, self.secret) = (webhook, secret)
    app = try webhook.details.appID.map { try App.get(database, id: $0).bundleID }
  }

  package func writeMembers(to json: inout JSONWriter) {
    let details = webhook.details
    json.member("id", webhook.id)
    json.member("name", details.name)
    json.member("target", details.target)
    json.member("app", app)
    json.member("events", Webhook.Event.allCases.filter(details.events.contains).map(\.rawValue))
    json.member("active", details.isActive)
    json.member("gone_at", webhook.goneAt)
    json.member("failures", webhook.failures)
    json.member("failing_since", webhook.failingSince)
    json.member("next_try_at", webhook.failures > 0 && webhook.pending > 0 ? webhook.nextTryAt : nil)
    json.member("pending", webhook.pending)
    json.member("dropped", webhook.dropped)
    json.member("created_by", webhook.createdBy)
    json.member("created_at", webhook.createdAt)
    json.member("rotated_at", webhook.rotatedAt)
    if let secret { json.member("secret", secret) }
  }
}

extension WebhookDelivery: JSONObject {
  /// The schema `WebhookDelivery`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", uid)
    json.member("type", type)
    json.member("state", state.rawValue)
    json.member("created_at", createdAt)
    json.member("attempts", attempts)
    json.member("tried_at", triedAt)
    json.member("status", status)
    json.member("duration_ms", milliseconds)
    json.member("answer", answer)
  }
}
