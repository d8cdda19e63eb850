import Certificates
import Foundation
import HTTPServer
import Push
import SQLite
import Store

/// `/api/v1/apps/{app}/credentials`.
enum CredentialsAPI {
  private static let endpointLimit = 260

  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/apps/:app/credentials", role: .viewer) { call in
      let all = try await call.store.read { try Credential.all($0, app: try call.app($0).id) }
      return APIContext.answer(Page(items: all, next: nil)) { $0.json }
    }
    routes.call(.put, "/apps/:app/credentials/:environment", role: .admin) { call in try await set(call) }
    routes.call(.delete, "/apps/:app/credentials/:environment", role: .admin) { call in try await remove(call) }
  }

  private static func environment(_ call: APIContext) throws -> Environment {
    guard let environment = call.request.parameters["environment"].flatMap(Environment.init) else {
      throw HTTPError(.notFound, "The environments are development and production.")
    }
    return environment
  }

  private static func set(_ call: APIContext) async throws -> Response {
    let environment = try environment(call)
    let fields = JSONFields(try await call.body())
    let id = fields.integer("certificate", required: true, in: 1...Int.max)
    let endpoint =
      fields.string("endpoint", limit: .bytes(endpointLimit)) { problem(withEndpoint: $0) } ?? "apple"
    try fields.finish()
    guard let id = id.map(Int64.init) else { throw Problems([Problem("certificate", FieldMessage.required)]) }
    let credential = try await call.store.write { database in
      let app = try call.app(database)
      guard let certificate = try TrackedCertificate.find(database, id: id) else {
        throw Problems([
          Problem("certificate", code: "credential.no_certificate", "There is no certificate {id}.", ["id": String(id)])
        ])
      }
      if let problem = problem(with: certificate, app: app, environment: environment, now: call.now) { throw problem }
      let before = try Credential.find(database, app: app.id, provider: .apns, environment: environment)
      let after = try Credential.bind(
        database, app: app.id, provider: .apns, environment: environment, certificate: id, endpoint: endpoint,
        // Only a server that is neither Apple's nor ours has roots of its own; the same server keeps them.
        trustPEM: before?.endpoint == endpoint ? before?.trustPEM : nil, now: call.now)
      let audit = call.audit(
        "credential.set", "app \(app.bundleID)",
        ["before": before?.audited ?? .null, "after": after.audited])
      try AuditEntry.add(database, audit, now: call.now)
      return after
    }
    return APIContext.answer(credential.json)
  }

  private static func remove(_ call: APIContext) async throws -> Response {
    let environment = try environment(call)
    try await call.store.write { database in
      let app = try call.app(database)
      guard let found = try Credential.find(database, app: app.id, provider: .apns, environment: environment) else {
        throw StoreError.notFound(noun: "credential", id: "of \(app.bundleID) for \(environment.rawValue)")
      }
      try Credential.unbind(database, id: found.id)
      let audit = call.audit("credential.remove", "app \(app.bundleID)", ["before": found.audited])
      try AuditEntry.add(database, audit, now: call.now)
    }
    return APIContext.nothing
  }

  // MARK: What fits

  /// Why pushes cannot be sent with a certificate; what APNs would refuse anyway is said before the first push.
  static func problem(
    with certificate: TrackedCertificate, app: App, environment: Environment, now: Date
  ) -> Problem? {
    let details = certificate.details
    let kind = CertificateKind(rawValue: details.kind)
    guard kind == .apnsKey || kind?.isForAPNs == true else {
      return Problem(
        "certificate", code: "credential.not_for_apns",
        "“{name}” is neither a certificate nor a key for APNs.", ["name": details.name])
    }
    guard details.hasPrivateKey else {
      return Problem(
        "certificate", code: "credential.no_private_key",
        "“{name}” has no private key: it can be watched, not sent with. Upload the .p12 with its key.",
        ["name": details.name])
    }
    guard kind != .apnsKey else { return nil }
    if !details.environments.isEmpty, !details.environments.contains(environment) {
      return Problem(
        "certificate", code: "credential.other_environment", "“{name}” is not for the environment {environment}.",
        ["name": details.name, "environment": environment.rawValue])
    }
    let fits = details.topics.contains { $0 == app.bundleID || $0.hasPrefix(app.bundleID + ".") }
    if !details.topics.isEmpty, !fits {
      return Problem(
        "certificate", code: "credential.other_app", "“{name}” is for {topics}, not for {app}.",
        ["name": details.name, "topics": details.topics.joined(separator: ", "), "app": app.bundleID])
    }
    return nil
  }

  /// What is wrong with an endpoint.
  static func problem(withEndpoint text: String) -> Problem? {
    if text == "apple" || text == "simulator" { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let isHost =
      parts.count == 2 && !parts[0].isEmpty
      && parts[0].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
    if isHost, let port = UInt16(parts[1]), port > 0 { return nil }
    return Problem("", code: "credential.endpoint", "Must be apple, simulator, or host:port.")
  }
}

extension Credential {
  /// For the audit.
  var audited: JSONValue {
    [
      "environment": .string(environment.rawValue), "certificate": certificateID.map { .integer($0) } ?? .null,
      "endpoint": .string(endpoint),
    ]
  }
}
