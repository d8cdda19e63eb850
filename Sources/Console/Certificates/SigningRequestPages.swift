import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
package import Store

/// Signing requests made here. The private key is stored sealed, and no route returns it.
enum SigningRequestPages {
  static let views: [any PageView.Type] = [SigningRequestListView.self]

  private static let export = ListExportRoutes<SigningRequest>(
    path: "/certificates/requests", action: "certificate_request.export",
    columns: [
      "id", "purpose", "subject", "algorithm", "state", "renews", "file_name", "created_by", "created_at",
      "certificate", "fulfilled_at",
    ]
  ) { _ in
    return { database, _, _ in Page(items: try SigningRequest.all(database), next: nil) }
  }

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/certificates/requests") { page in try await index(page, FieldErrors()) }
    export.add(to: &routes)
    routes.page(.post, "/certificates/requests", role: .admin, proof: true, create)
    routes.page(.get, "/certificates/requests/:uid/file", file)
    routes.page(.post, "/certificates/requests/:uid/remove", role: .admin, proof: true, remove)
    routes.page(.post, "/certificates/:id/requests", role: .admin, proof: true, renew)
  }

  private static func index(_ page: PageContext, _ errors: FieldErrors) async throws -> Response {
    let (requests, apps) = try await page.store.read { (try SigningRequest.all($0), try App.all($0)) }
    let texts = page.texts
    return page.answer(
      SigningRequestListView(
        list: SigningRequestsView(requests: requests, page),
        exports: requests.isEmpty ? nil : ExportLinks(page, "/certificates/requests"), errors: errors,
        host: page.form.raw("host"),
        apps: ChoiceView.list(
          [("", texts("requests.choose_app"))] + apps.map { (String($0.id), $0.name) }, chosen: page.form["app"]),
        algorithms: ChoiceView.list(
          SigningRequest.Algorithm.allCases.map { ($0.rawValue, texts("requests.\($0.rawValue)")) },
          chosen: page.form.filled("algorithm") ?? SigningRequest.Algorithm.p256.rawValue)),
      status: errors.status)
  }

  // MARK: Making

  private static func create(_ page: PageContext) async throws -> Response {
    let form = page.form
    var order: SigningOrder
    if form["purpose"] == SigningRequest.Purpose.host.rawValue {
      order = .host(form.words("host"))
      order.algorithm = SigningRequest.Algorithm(rawValue: form["algorithm"]) ?? .p256
    } else {
      let id = Int64(form["app"])
      let app = try await page.store.read { database in try id.flatMap { try App.find(database, id: $0) } }
      order = .push(topic: app?.bundleID ?? "", app: app?.id, email: page.actor)
    }
    if let problem = order.problem {
      return try await index(page, FieldErrors(Problems([problem]), page.texts))
    }
    try await make(order, page)
    return page.redirect(to: "/certificates/requests", flash: "request_made")
  }

  private static func renew(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    let email = page.actor
    let order = try await page.store.read { database in
      guard let certificate = try TrackedCertificate.find(database, id: id) else {
        throw PageError.notFound("certificate", list: "/certificates")
      }
      let uses = try TrackedCertificate.uses(database, id: id)[id] ?? []
      return SigningOrder.renewing(certificate, uses: uses, email: email)
    }
    // The page offers this only for certificates that are renewed with a signing request.
    guard let order, order.problem == nil else { throw PageError(.badRequest, "refused") }
    try await make(order, page)
    return page.redirect(to: "/certificates/\(id)#requests", flash: "request_made")
  }

  private static func make(_ order: SigningOrder, _ page: PageContext) async throws {
    let made = try await page.console.pools.certificates.run { try SigningRequest.make(order) }
    let sealer = page.store.sealer
    do {
      try await page.store.write { database in
        let request = try SigningRequest.keep(database, made, sealer: sealer, by: page.actor, now: page.now)
        try page.record(database, "certificate_request.create", "certificate request \(request.uid)", request.audited)
      }
    } catch is SealingMismatch {
      throw PageError(.conflict, "sealing")
    }
  }

  private static func file(_ page: PageContext) async throws -> Response {
    let uid = page.request.parameters["uid"] ?? ""
    let request = try await page.store.read { try SigningRequest.get($0, uid: uid) }
    return Response(
      .ok,
      headers: [
        "Content-Type": "application/pkcs10",
        "Content-Disposition": "attachment; filename=\"\(request.fileName)\"", "Cache-Control": "no-store",
      ], body: .bytes(Array(request.details.pem.utf8)))
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let uid = page.request.parameters["uid"] ?? ""
    try await page.store.write { database in
      let request = try SigningRequest.get(database, uid: uid)
      try SigningRequest.delete(database, uid: uid)
      try page.record(database, "certificate_request.delete", "certificate request \(uid)", request.audited)
    }
    return page.redirect(to: "/certificates/requests", flash: "request_removed")
  }
}

extension SigningRequest {
  /// For example `com.example.shop.certSigningRequest`; Apple's site asks for this extension.
  package var fileName: String {
    let name = details.subject.split(separator: "CN=").last.map { String($0.prefix { $0 != "," && $0 != "/" }) } ?? uid
    let plain = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || ".-".contains($0)) }
    return "\(plain.isEmpty ? uid : plain).certSigningRequest"
  }

  /// For the activity log.
  var audited: JSONValue {
    [
      "subject": .string(details.subject), "algorithm": .string(details.algorithm.rawValue),
      "certificate": details.certificateID.map { .integer($0) } ?? .null,
    ]
  }
}
