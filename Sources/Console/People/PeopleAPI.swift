import HTTPServer
package import JSON
import Model
import SQLite
package import Store

/// `/api/v1/people`: who may sign in.
enum PeopleAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/people", role: .admin, scope: .admin) { call in
      APIContext.answer(Page(items: try await call.store.read { try Person.all($0) }, next: nil))
    }
    routes.call(.post, "/people", role: .admin, scope: .admin) { call in
      let body = try await call.body()
      let fields = JSONFields(body)
      let name = fields.string("name", required: true, limit: .bytes(254)) ?? ""
      let role = role(fields, required: true)
      try fields.finish()
      guard let role else { throw Problems([Problem("role", FieldMessage.required)]) }
      let idempotency = try Idempotency(call, content: Array(body.data()), isSecret: true)
      return try await idempotency.response(call.store) { database in
        let made = try Person.invite(database, name: name, role: role, audit: call.entry, now: call.now)
        return Idempotency.Answer(
          status: .created, json: LinkedPerson(call, made.person, token: made.token),
          location: "/api/v1/people/\(made.person.id)")
      }
    }
    routes.call(.get, "/people/:id", role: .admin, scope: .admin) { call in
      try await call.read { try Person.get($0, id: call.id()) }
    }
    routes.call(.patch, "/people/:id", role: .admin, scope: .admin) { call in
      let body = try await call.body()
      guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
      let fields = JSONFields(body)
      let (role, isDisabled) = (role(fields, required: false), fields.bool("disabled"))
      let sends = fields.bool("sends_to_production")
      try fields.finish()
      let changes = [
        role.map(PersonChange.role), sends.map(PersonChange.production), isDisabled.map { $0 ? .disable : .enable },
      ].compactMap { $0 }
      return APIContext.answer(try await apply(changes, call) { try Person.get($0, id: $1) })
    }
    let removals: [(path: String, change: PersonChange)] = [
      ("", .delete), ("/sessions", .endSessions), ("/second-step", .resetSecondStep), ("/identities", .unlink),
    ]
    for (path, change) in removals {
      routes.call(.delete, "/people/:id" + path, role: .admin, scope: .admin) { call in
        try await apply([change], call) { _, _ in APIContext.nothing }
      }
    }
    routes.call(.post, "/people/:id/link", role: .admin, scope: .admin, takesBody: false) { call in
      let id = try call.id()
      return try await Idempotency(call, content: [], isSecret: true).response(call.store) { database in
        let person = try Person.get(database, id: id)
        let token = try person.link(database, audit: call.entry, now: call.now)
        return Idempotency.Answer(status: .ok, json: LinkedPerson(call, person, token: token))
      }
    }
  }

  private static func role(_ fields: JSONFields, required: Bool) -> User.Role? {
    fields.choice("role", required: required, as: User.Role.self)
  }

  /// Makes the changes in one transaction, and reads the answer in it.
  private static func apply<Answer: Sendable>(
    _ changes: [PersonChange], _ call: APIContext, _ read: @escaping @Sendable (Database, Int64) throws -> Answer
  ) async throws -> Answer {
    let id = try call.id()
    var own: Int64?
    if case .token(let token) = call.principal { own = token.userID }
    let owner = own
    return try await call.store.write { database in
      for change in changes {
        try change.apply(database, to: id, by: owner, audit: call.entry, now: call.now)
      }
      return try read(database, id)
    }
  }
}

/// A person with the link that sets the password.
private struct LinkedPerson: JSONObject {
  let person: Person
  let link: String

  init(_ call: APIContext, _ person: Person, token: String) {
    self.person = person
    link = SetupLink.url(token, at: call.console.address(call.request))
  }

  func writeMembers(to json: inout JSONWriter) {
    person.writeMembers(to: &json)
    json.member("link", link)
  }
}

extension Person: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("name", user.name)
    json.member("role", user.role.rawValue)
    json.member("sends_to_production", user.sendsToProduction)
    json.member("state", user.state.rawValue)
    json.member("authenticator", hasAuthenticator)
    json.member("passkeys", passkeys)
    json.member("linked", user.isLinked)
    json.member("created_at", user.createdAt)
    json.member("last_sign_in_at", user.signedInAt)
    json.member("disabled_at", user.disabledAt)
  }
}
