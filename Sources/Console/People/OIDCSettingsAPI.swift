import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/settings/oidc`. The client secret can be set and is never returned.
enum OIDCSettingsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/settings/oidc", role: .admin, scope: .admin) { call in
      let (settings, hasSecret) = try await call.store.read { database in
        (try OIDCSettings.load(database), try OIDCSettings.hasSecret(database))
      }
      guard let settings else { throw APIError(.notFound, OIDCMessage.notSetUp.english) }
      return answer(call, settings, hasSecret: hasSecret)
    }
    routes.call(.put, "/settings/oidc", role: .admin, scope: .admin, change)
    routes.call(.delete, "/settings/oidc", role: .admin, scope: .admin, remove)
    routes.call(.post, "/settings/oidc/test", role: .admin, scope: .admin, takesBody: false, test)
  }

  private static func answer(_ call: APIContext, _ settings: OIDCSettings, hasSecret: Bool) -> Response {
    APIContext.answer { json in
      json.member("on", settings.isOn)
      json.member("issuer", settings.issuer)
      json.member("client_id", settings.clientID)
      json.member("has_secret", hasSecret)
      json.member("label", settings.label)
      json.member("scopes", settings.scopes)
      json.member("admission", settings.admission.rawValue)
      json.member("domains", settings.domains)
      json.member("new_role", settings.newRole.rawValue)
      json.member("role_claim", settings.roleClaim)
      json.member("role_rules", settings.roleRules.map(\.text))
      json.member("passwords", settings.allowsPasswords)
      json.member("redirect_uri", call.console.address(call.request) + OIDCPages.callback)
    }
  }

  private static func change(_ call: APIContext) async throws -> Response {
    let fields = JSONFields(try await call.body())
    let limit = OIDCForm.listLimit
    var form = OIDCForm()
    form.isOn = fields.bool("on") ?? true
    form.issuer = fields.string("issuer", required: true, limit: .characters(2048)) ?? ""
    form.clientID = fields.string("client_id", required: true) ?? ""
    form.clientSecret = fields.string("client_secret", limit: .characters(1000))
    form.label = fields.string("label", required: true) ?? ""
    let scopes = fields.strings("scopes", atMost: limit)
    if !scopes.isEmpty { form.scopes = scopes }
    form.admission = fields.choice("admission") ?? .invited
    form.domains = fields.strings("domains", atMost: limit)
    form.newRole = fields.choice("new_role") ?? .viewer
    form.roleClaim = fields.string("role_claim")
    form.roleRules = fields.strings("role_rules", atMost: limit)
    form.allowsPasswords = fields.bool("passwords") ?? true
    try fields.finish()
    let (settings, hasSecret) = try await call.store.write { [form] database in
      try form.save(database, for: call)
    }
    call.console.oidc.forget()
    return answer(call, settings, hasSecret: hasSecret)
  }

  private static func remove(_ call: APIContext) async throws -> Response {
    try await call.store.write { database in
      guard let before = try OIDCSettings.load(database) else {
        throw APIError(.notFound, OIDCMessage.notSetUp.english)
      }
      let hadSecret = try OIDCSettings.hasSecret(database)
      try OIDCSettings.remove(database)
      try call.record(
        database, "settings.oidc_remove", "settings oidc",
        ["before": before.audited(hasSecret: hadSecret), "after": .null])
    }
    call.console.oidc.forget()
    return APIContext.nothing
  }

  /// Asks the provider for its documents. What is wrong with them is a result with status 200, not an error.
  private static func test(_ call: APIContext) async throws -> Response {
    guard let settings = try await call.store.read({ try OIDCSettings.load($0) }) else {
      throw APIError(.conflict, OIDCMessage.notSetUp.english)
    }
    try await call.note(call.audit("settings.oidc_test", "settings oidc", ["issuer": .string(settings.issuer)]))
    do {
      let metadata = try await call.console.oidc.metadata(settings.issuer, isFresh: true, now: call.now)
      return tested(true, metadata.authorization)
    } catch let problem as Problem {
      return tested(false, problem.text)
    }
  }

  private static func tested(_ isGood: Bool, _ answer: String) -> Response {
    APIContext.answer { json in
      json.member("taken", isGood)
      json.member("answer", answer)
    }
  }
}
