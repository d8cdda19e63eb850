import Certificates
import Foundation
import HTTPServer
import Push
import SQLite
import Store

/// `/api/v1/certificates`.
enum CertificatesAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/certificates", role: .viewer, query: ["within"]) { call in try await list(call) }
    let options = Route.Options(bodyLimit: CertificateUpload.bodyLimit)
    routes.call(.post, "/certificates", role: .admin, options: options) { call in
      try await CertificateUpload(call).answer()
    }
    routes.call(.get, "/certificates/:id", role: .viewer) { call in
      let id: Int64 = try call.request.parameter("id")
      return APIContext.answer(
        try await call.store.read { try json($0, try TrackedCertificate.get($0, id: id), now: call.now) })
    }
    routes.call(.delete, "/certificates/:id", role: .admin) { call in try await delete(call) }
  }

  /// The schema `Certificate`.
  static func json(_ database: Database, _ certificate: TrackedCertificate, now: Date) throws -> JSONValue {
    let uses = try TrackedCertificate.uses(database, id: certificate.id)[certificate.id] ?? []
    let app = try certificate.details.appID.flatMap { try App.find(database, id: $0)?.bundleID }
    let facts = try CertificateFacts.find(database, certificate: certificate.id)
    return certificate.json(app: app, uses: uses, facts: facts, now: now)
  }

  private static func list(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    var end: Date?
    if let text = query.text("within") {
      if let seconds = seconds(text) {
        end = call.now.addingTimeInterval(seconds)
      } else {
        query.report(
          Problem(
            "within", code: "query.not_a_span", "Must be a time such as 30d: a number and h, d or w; it is “{value}”.",
            ["value": String(text.prefix(40))]))
      }
    }
    try query.finish()
    let limit = end
    let items = try await call.store.read { database in
      let uses = try TrackedCertificate.uses(database)
      let apps = Dictionary(try App.all(database).map { ($0.id, $0.bundleID) }) { first, _ in first }
      let facts = try CertificateFacts.all(database)
      return try TrackedCertificate.all(database)
        .filter { certificate in
          guard let limit else { return true }
          return certificate.details.notAfter.map { $0 <= limit } ?? false
        }
        .map {
          $0.json(
            app: $0.details.appID.flatMap { apps[$0] }, uses: uses[$0.id] ?? [], facts: facts[$0.id], now: call.now)
        }
    }
    return APIContext.answer(Page(items: items, next: nil)) { $0 }
  }

  /// As `12h`, `30d`, `2w`.
  static func seconds(_ text: String) -> TimeInterval? {
    let units: [Character: Int] = ["h": 3600, "d": 86_400, "w": 604_800]
    let digits = text.dropLast()
    guard let unit = text.last.flatMap({ units[$0] }), (1...5).contains(digits.count),
      digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits)
    else { return nil }
    return TimeInterval(number * unit)
  }

  private static func delete(_ call: APIContext) async throws -> Response {
    let id: Int64 = try call.request.parameter("id")
    try await call.store.write { database in
      let certificate = try TrackedCertificate.get(database, id: id)
      try TrackedCertificate.delete(database, id: id)
      let audit = call.audit("certificate.delete", "certificate \(id)", certificate.audited)
      try AuditEntry.add(database, audit, now: call.now)
    }
    return APIContext.nothing
  }
}
