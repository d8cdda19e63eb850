import HTTPServer
import JSON
import Reactor
import Store

/// `/api/v1/apps/{app}/client-keys`: the keys with which an app registers its devices.
enum ClientKeyAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/apps/:app/client-keys", role: .viewer, scope: .read) { call in
      let keys = try await call.store.read { try ClientKey.all($0, app: try call.app($0).id) }
      return APIContext.answer { json in json.member("items", keys) }
    }
    routes.call(.post, "/apps/:app/client-keys", role: .admin, scope: .admin, takesBody: false) { call in
      let idempotency = try Idempotency(call, content: [])
      return try await call.store.write { database in
        let app = try call.app(database)
        return try idempotency.answer(database) {
          let key = try ClientKey.add(database, app: app, by: call.actor, from: call.clientAddress, now: call.now)
          return Idempotency.Answer(status: .created, json: key)
        }
      }.response
    }
    routes.call(.delete, "/apps/:app/client-keys/:key", role: .admin, scope: .admin) { call in
      let key = call.request.parameters["key"] ?? ""
      try await call.store.write { database in
        let app = try call.app(database)
        guard
          try ClientKey.remove(database, app: app, key: key, by: call.actor, from: call.clientAddress, now: call.now)
        else {
          throw StoreError.notFound(noun: "client key", id: String(key.prefix(ClientKey.length)))
        }
      }
      return APIContext.nothing
    }
  }
}
