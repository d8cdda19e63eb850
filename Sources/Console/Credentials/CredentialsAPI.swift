import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import Providers
import Model
import SQLite
import Store

/// `/api/v1/apps/{app}/credentials`.
enum CredentialsAPI {
  private static let endpointLimit = 260

  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/apps/:app/credentials", role: .viewer, scope: .read) { call in
      let all = try await call.store.read { try Credential.all($0, app: try call.app($0).id) }
      return APIContext.answer(Page(items: all.map { answer($0, call) }, next: nil))
    }
    routes.call(.put, "/apps/:app/credentials/:environment", role: .admin, scope: .certificates, set)
    routes.call(.delete, "/apps/:app/credentials/:environment", role: .admin, scope: .certificates, query: ["provider"])
    { call in
      try await remove(call)
    }
  }

  /// The schema `Credential`, with its current health.
  private struct Answer: JSONObject {
    let credential: Credential
    let health: ProviderHealth

    func writeMembers(to json: inout JSONWriter) {
      credential.writeMembers(to: &json)
      json.member("circuit", CircuitAnswer(health))
      json.member("slowed_to", health.slowedTo)
      json.member("clock_lead_seconds", health.clockLead)
    }
  }

  private static func answer(_ credential: Credential, _ call: APIContext) -> Answer {
    Answer(credential: credential, health: call.console.engine.health(credential: credential.id) ?? ProviderHealth())
  }

  private static func environment(_ call: APIContext) throws -> Environment {
    guard let environment = call.request.parameters["environment"].flatMap(Environment.init) else {
      throw HTTPError(.notFound, "The environment must be development or production.")
    }
    return environment
  }

  private static func set(_ call: APIContext) async throws -> Response {
    let environment = try environment(call)
    let body = try await call.body()
    let fields = JSONFields(body)
    let saysTrust = body["trust"] != nil
    let saysProxy = body["proxy"] != nil
    let id = fields.integer("certificate", in: 1...Int.max)
    let given = fields.choice("provider", as: ProviderKind.self)
    let place = fields.string("endpoint", limit: .bytes(endpointLimit))
    let authorities = fields.string("trust", limit: .bytes(CredentialRule.trustLimit), lines: true)
    let proxyURL = fields.string("proxy", limit: .bytes(1024))
    try fields.finish()
    let certificateID = id.map(Int64.init)
    let (wanted, app) = try await call.store.read { database in
      let app = try call.app(database)
      let certificate = try certificateID.flatMap { id -> TrackedCertificate? in
        let owners = try TokenSubject.certificate(id).owners(database)?.apps ?? []
        let isSeen = call.apps == nil || !owners.isEmpty && owners.allSatisfy(call.sees)
        return isSeen ? try TrackedCertificate.find(database, id: id) : nil
      }
      if let certificateID, certificate == nil {
        throw Problems([
          Problem(
            "certificate", code: "credential.no_certificate", "Certificate {id} not found.",
            ["id": String(certificateID)])
        ])
      }
      let provider = given ?? certificate.flatMap { CredentialRule.provider($0.details) } ?? .apns
      let endpoint = place ?? provider.serviceWord
      var problems = CredentialRule.problems(app, environment, provider, certificate: certificate, endpoint: endpoint)
      var trust: String?
      do throws(Problems) { trust = try CredentialRule.trust(authorities ?? "", endpoint: endpoint, provider) } catch {
        problems += error.all
      }
      let before = try Credential.find(database, app: app.id, provider: provider, environment: environment)
      var proxy = before?.proxy
      do throws(Problems) {
        if saysProxy { proxy = try CredentialRule.proxy(proxyURL ?? "", before: proxy) }
      } catch { problems += error.all }
      if !problems.isEmpty { throw Problems(problems) }
      let wanted = Credential(
        app: app.id, provider: provider, environment: environment, certificate: certificateID, endpoint: endpoint,
        // The same server keeps its authorities unless the request sets `trust`.
        trustPEM: !saysTrust && before?.endpoint == endpoint ? before?.trustPEM : trust, proxy: proxy)
      return (wanted, app)
    }
    let attempt = try await CredentialAttempt.binding(
      wanted, app, store: call.store, attempt: call.console.engine.attempt)
    if let refusal = attempt?.refusal { throw Problems([refusal]) }
    let sealer = call.store.sealer
    let credential = try await call.store.write { database in
      let before = try Credential.find(database, app: app.id, provider: wanted.provider, environment: environment)
      let bound = try Credential.bind(
        database, app: app.id, provider: wanted.provider, environment: environment, certificate: certificateID,
        endpoint: wanted.endpoint, trustPEM: wanted.trustPEM, now: call.now)
      if saysProxy {
        try CredentialProxy.set(database, credential: bound.id, wanted.proxy, sealer: sealer, now: call.now)
      }
      let after = try Credential.find(database, id: bound.id) ?? bound
      try call.record(database, call.audit("credential.set", "app \(app.bundleID)").changing(before, to: after))
      return after
    }
    return APIContext.answer(answer(credential, call))
  }

  private static func remove(_ call: APIContext) async throws -> Response {
    let environment = try environment(call)
    var query = APIQuery(call.request)
    let provider = query.choice("provider", as: ProviderKind.self) ?? .apns
    try query.finish()
    try await call.store.write { database in
      let app = try call.app(database)
      guard let found = try Credential.find(database, app: app.id, provider: provider, environment: environment) else {
        throw StoreError.notFound(noun: "credential", id: "of \(app.bundleID) for \(environment.rawValue)")
      }
      try Credential.unbind(database, id: found.id)
      try call.record(database, call.audit("credential.remove", "app \(app.bundleID)").changing(found, to: nil))
    }
    return APIContext.nothing
  }
}
