import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/certificates`.
enum CertificatesAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/certificates", reach: .handler, filters: ["within", "band", "kind", "app", "q"], list)
    let options = Route.Options(bodyLimit: CertificateUpload.bodyLimit)
    routes.call(.post, "/certificates", role: .admin, scope: .certificates, reach: .handler, options: options) { call in
      try await CertificateUpload(call).answer()
    }
    routes.call(.get, "/certificates/:id", role: .viewer, scope: .read, reach: .certificate) { call in
      try await call.read { try json($0, try TrackedCertificate.get($0, id: call.id()), now: call.now) }
    }
    routes.call(.patch, "/certificates/:id", role: .admin, scope: .certificates, reach: .certificate, update)
    routes.call(.delete, "/certificates/:id", role: .admin, scope: .certificates, reach: .certificate, delete)
  }

  /// The schema `Certificate`.
  static func json(_ database: Database, _ certificate: TrackedCertificate, now: Date) throws -> CertificateAnswer {
    let uses = try TrackedCertificate.uses(database, id: certificate.id)[certificate.id] ?? []
    let app = try certificate.details.appID.flatMap { try App.find(database, id: $0)?.bundleID }
    let planned = try Forecast.needs(database, now: now)[certificate.id] ?? .init()
    let facts = try CertificateContents.find(database, certificate: certificate.id)
    let taken = try Acknowledgement.find(database, Renewable(certificate).subject, now: now)
    return CertificateAnswer(certificate, app: app, uses: uses, facts: facts, planned: planned, taken: taken, now: now)
  }

  private static func list(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    let (limit, cursor, bundleID) = (query.limit(), query.cursor(), query.text("app"))
    var filter = ExpiryList.Filter(now: call.now)
    if let band = query.choice("band", as: Expiry.Band.self) { filter = Expiry.filter(band, now: call.now) }
    if let text = query.text("within") {
      if let seconds = seconds(text) {
        // Expired items are included; items without a known expiry date are not.
        let end = Int64((call.now.timeIntervalSince1970 + seconds) * 1000)
        let lowest = max(0, filter.ends?.lowerBound ?? 0)
        filter.ends = lowest...max(lowest, min(end, filter.ends?.upperBound ?? .max))
        filter.withoutReplaced = true
      } else {
        query.report(
          Problem(
            "within", code: "query.not_a_span",
            "Must be a duration such as 30d (a number with h, d, or w), not “{value}”.",
            ["value": String(text.prefix(40))]))
      }
    }
    filter.kind = query.choice("kind", as: CertificateKind.self)?.filter
    filter.search = query.text("q")
    try query.finish()
    let (found, now) = (filter, call.now)
    return try await call.read { database in
      var filter = found
      filter.app = try call.filter(database, app: bundleID)?.id
      let uses = try TrackedCertificate.uses(database)
      let planned = try Forecast.needs(database, now: now)
      let apps = try App.bundleIDs(database)
      return try call.seen(
        cursor: cursor, limit: limit, app: { try sole($0, uses, call) }
      ) { try ExpiryList.page(database, filter, cursor: $0, limit: $1) }.map { item -> ExpiryAnswer in
        switch item {
        case .certificate(let certificate):
          .certificate(
            CertificateAnswer(
              certificate, app: certificate.details.appID.flatMap { apps[$0] }, uses: uses[certificate.id] ?? [],
              facts: try CertificateContents.find(database, certificate: certificate.id),
              planned: planned[certificate.id] ?? .init(),
              taken: try Acknowledgement.find(database, Renewable(certificate).subject, now: now), now: now))
        case .host(let host):
          .host(
            HostCertificateAnswer(
              host, taken: try Acknowledgement.find(database, Renewable(host).subject, now: now), now: now))
        }
      }
    }
  }

  /// One of the apps of a certificate if the token sees them all; nil for one that it does not see, and for a host.
  private static func sole(
    _ item: ExpiryList.Item, _ uses: [Int64: [TrackedCertificate.Use]], _ call: APIContext
  ) throws -> Int64? {
    guard case .certificate(let certificate) = item else { return nil }
    let apps = (uses[certificate.id] ?? []).map(\.appID) + [certificate.details.appID].compactMap { $0 }
    return apps.allSatisfy(call.sees) ? apps.first : nil
  }

  /// Parses `12h`, `30d` or `2w`.
  static func seconds(_ text: String) -> TimeInterval? {
    let units: [Character: Int] = ["h": 3600, "d": 86_400, "w": 604_800]
    let digits = text.dropLast()
    guard let unit = text.last.flatMap({ units[$0] }), (1...5).contains(digits.count),
      digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits)
    else { return nil }
    return TimeInterval(number * unit)
  }

  /// Null clears a field; a field that is not sent stays unchanged.
  private static func update(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    let body = try await call.body()
    let fields = JSONFields(body)
    // An empty or missing name is reported below.
    let name = fields.string("name", required: body["name"] != nil, limit: .characters(CertificateLabels.nameLimit))
    let bundleID = fields.string("app", limit: .characters(AppName.bundleIDLimit))
    let madeBy = fields.string("made_by", limit: .characters(CertificateContents.Notes.madeByLimit))
    let note = fields.string("note", limit: .characters(CertificateContents.Notes.noteLimit), lines: true)
    try fields.finish()
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let audit = call.audit("certificate.update", "certificate \(id)")
    return try await call.write { database in
      var labels = try CertificateLabels(database, try TrackedCertificate.get(database, id: id))
      if let name { labels.name = name }
      if body["app"] != nil { labels.appID = try call.filter(database, app: bundleID)?.id }
      if body["made_by"] != nil { labels.madeBy = madeBy }
      if body["note"] != nil { labels.note = note }
      try labels.keep(database, id, audit: audit, now: call.now)
      return try json(database, try TrackedCertificate.get(database, id: id), now: call.now)
    }
  }

  private static func delete(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    try await call.store.write { database in
      let certificate = try TrackedCertificate.get(database, id: id)
      try TrackedCertificate.delete(database, id: id)
      try call.record(
        database, "certificate.delete", "certificate \(id)", ["before": certificate.audited, "after": .null])
    }
    return APIContext.nothing
  }
}

/// An item of the list of everything that can expire.
private enum ExpiryAnswer: JSONWritable, Sendable {
  case certificate(CertificateAnswer)
  case host(HostCertificateAnswer)

  func write(to json: inout JSONWriter) {
    switch self {
    case .certificate(let answer): answer.write(to: &json)
    case .host(let answer): answer.write(to: &json)
    }
  }
}
