import Certificates
import Foundation
import HTTPServer
package import JSON
import Model
import Reactor
import SQLite
package import Store

/// `/api/v1/certificate-requests`. No answer contains a private key.
enum SigningRequestsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/certificate-requests", role: .viewer, scope: .read) { call in
      let requests = try await call.store.read { try SigningRequest.all($0) }
      return APIContext.answer(Page(items: requests, next: nil))
    }
    routes.call(.post, "/certificate-requests", role: .admin, scope: .certificates, create)
    routes.call(.get, "/certificate-requests/:uid", role: .viewer, scope: .read) { call in
      let uid = call.request.parameters["uid"] ?? ""
      return try await call.read { try SigningRequest.get($0, uid: uid) }
    }
    routes.call(.delete, "/certificate-requests/:uid", role: .admin, scope: .certificates) { call in
      let uid = call.request.parameters["uid"] ?? ""
      try await call.store.write { database in
        let request = try SigningRequest.get(database, uid: uid)
        try SigningRequest.delete(database, uid: uid)
        try call.record(database, "certificate_request.delete", "certificate request \(uid)", request.audited)
      }
      return APIContext.nothing
    }
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    let bundleID = fields.string("app", limit: .bytes(AppName.bundleIDLimit))
    let hosts = fields.strings("hosts", atMost: 100)
    let certificate = fields.integer("certificate", in: 1...Int.max).map(Int64.init)
    let algorithm = fields.choice("algorithm", as: SigningRequest.Algorithm.self)
    try fields.finish()
    let actor = call.actor
    var order = try await call.store.read { database -> SigningOrder in
      if let certificate {
        let old = try TrackedCertificate.get(database, id: certificate)
        let uses = try TrackedCertificate.uses(database, id: certificate)[certificate] ?? []
        guard let order = SigningOrder.renewing(old, uses: uses, email: actor) else {
          throw Problems([
            Problem(
              "certificate", code: "request.not_for_kind", "A {kind} cannot be created from a signing request.",
              ["kind": old.details.kind.replacing("_", with: " ")])
          ])
        }
        return order
      }
      if !hosts.isEmpty { return .host(hosts) }
      let app = try call.filter(database, app: bundleID)
      return .push(topic: app?.bundleID ?? "", app: app?.id, email: actor)
    }
    if let algorithm {
      guard order.purpose == .host || algorithm == .rsa2048 else {
        throw Problems([
          Problem("algorithm", code: "request.algorithm", "Apple accepts only rsa-2048 for push certificates.")
        ])
      }
      order.algorithm = algorithm
    }
    if let problem = order.problem {
      throw Problems([problem.field == "host" ? Problem("hosts", code: problem.code, problem.template) : problem])
    }
    let idempotency = try Idempotency(call, content: Array(body.data()))
    let chosen = order
    let made = try await call.console.pools.certificates.run { try SigningRequest.make(chosen) }
    let sealer = call.store.sealer
    return try await idempotency.response(call.store) { database in
      let request = try SigningRequest.keep(database, made, sealer: sealer, by: actor, now: call.now)
      try call.record(database, "certificate_request.create", "certificate request \(request.uid)", request.audited)
      return Idempotency.Answer(
        status: .created, json: request, location: "/api/v1/certificate-requests/\(request.uid)")
    }
  }
}

extension SigningRequest: JSONObject {
  /// The schema `CertificateRequest`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", uid)
    json.member("purpose", details.purpose.rawValue)
    json.member("subject", details.subject)
    json.member("algorithm", details.algorithm.rawValue)
    json.member("state", isWaiting ? "waiting" : "fulfilled")
    json.member("renews", details.certificateID)
    json.member("pem", details.pem)
    json.member("file_name", fileName)
    json.member("created_by", createdBy)
    json.member("created_at", createdAt)
    json.member("certificate", fulfilledBy)
    json.member("fulfilled_at", fulfilledAt)
  }
}
