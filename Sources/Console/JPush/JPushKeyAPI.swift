import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store

/// `/api/v1/apps/{app}/jpush-key`: the key pair with which an app's server calls the API compatible with JPush.
enum JPushKeyAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/apps/:app/jpush-key", role: .viewer, scope: .read) { call in
      let key = try await call.store.read { database -> JPushKey in
        let app = try call.app(database)
        guard let key = try JPushKey.find(database, app: app.id) else {
          throw StoreError.notFound(noun: "JPush key of", id: app.bundleID)
        }
        return key
      }
      return APIContext.answer(JPushKeyAnswer(key: key))
    }
    routes.call(.post, "/apps/:app/jpush-key", role: .admin, scope: .admin, takesBody: false) { call in
      let idempotency = try Idempotency(call, content: [], isSecret: true)
      return try await call.store.write { database in
        let app = try call.app(database)
        return try idempotency.answer(database) {
          let issued = try JPushKey.issue(database, app: app, by: call.actor, from: call.clientAddress, now: call.now)
          return Idempotency.Answer(status: .created, json: JPushKeyAnswer(issued))
        }
      }.response
    }
    routes.call(.delete, "/apps/:app/jpush-key", role: .admin, scope: .admin) { call in
      try await call.store.write { database in
        let app = try call.app(database)
        guard try JPushKey.remove(database, app: app, by: call.actor, from: call.clientAddress, now: call.now) else {
          throw StoreError.notFound(noun: "JPush key of", id: app.bundleID)
        }
      }
      return APIContext.nothing
    }
  }
}

/// The schema `JPushKey`.
struct JPushKeyAnswer: JSONObject {
  let key: JPushKey
  /// Only in the answer that creates it.
  private(set) var secret: String?

  init(key: JPushKey) { self.key = key }

  init(_ issued: (key: JPushKey, secret: String)) { (key, secret) = (issued.key, issued.secret) }

  func writeMembers(to json: inout JSONWriter) {
    json.member("app_key", key.appKey)
    if let secret { json.member("master_secret", secret) }
    json.member("created_by", key.createdBy)
    json.member("created_at", key.createdAt)
    json.member("rotated_at", key.rotatedAt)
    json.member("last_used_at", key.lastUsedAt)
  }
}
