import Certificates
import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// `/certificates/:id`: one file that is kept, what depends on it, and how it is renewed.
enum CertificatePage {
  private struct Facts: Sendable {
    let certificate: TrackedCertificate
    let uses: [TrackedCertificate.Use]
    let apps: [App]
    let planned: [PlannedPush]

    func appName(_ use: TrackedCertificate.Use) -> String { apps.first { $0.id == use.appID }?.name ?? use.bundleID }
  }

  private static func facts(_ page: PageContext) async throws -> Facts {
    let (id, now) = (try page.id(), page.now)
    return try await page.store.read { database in
      guard let certificate = try TrackedCertificate.find(database, id: id) else {
        throw PageError.notFound("certificate", list: "/certificates")
      }
      return Facts(
        certificate: certificate, uses: try TrackedCertificate.uses(database, id: id)[id] ?? [],
        apps: try App.all(database), planned: try Forecast.needs(database, now: now)[id] ?? [])
    }
  }

  static func show(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let details = facts.certificate.details
    let form = Form([("name", details.name), ("app", details.appID.map(String.init) ?? "")])
    return try show(page, facts, form, FieldErrors())
  }

  private static func show(
    _ page: PageContext, _ facts: Facts, _ form: Form, _ errors: FieldErrors
  ) throws -> Response {
    let texts = page.texts
    let certificate = facts.certificate
    func kept(_ name: String, _ value: String, _ date: Date? = nil) -> Value {
      [
        "label": .string(texts("certificates.\(name)")), "value": .string(value), "mono": false,
        "datetime": .string(date.map(Timestamp.text) ?? ""),
      ]
    }
    return try page.page(
      "certificates/show", .certificates,
      [
        "id": .integer(certificate.id), "title": .string(certificate.details.name),
        "passport": Passport(certificate).value(texts, now: page.now),
        "guide": RenewalGuide(certificate.details).value(texts),
        "kept": [
          kept("file_name", certificate.details.fileName), kept("uploaded_by", certificate.uploadedBy),
          kept("uploaded_at", certificate.createdAt.utcText, certificate.createdAt),
        ],
        "can_remove": .bool(page.may(.admin)), "any_uses": .bool(!facts.uses.isEmpty),
        "uses": .list(
          facts.uses.map { use in
            [
              "href": .string("/apps/\(use.appID)"), "app": .string(facts.appName(use)),
              "production": .bool(use.environment == .production), "environment": .string(use.environment.word(texts)),
              "last_accepted": .string(texts.ago(use.lastAcceptedAt, now: page.now)),
              "devices": .string(use.activeDevices.grouped),
            ]
          }),
        "forecast": ForecastValue(
          pushes: facts.planned, notAfter: certificate.details.notAfter, apps: facts.apps
        ).value(texts),
        "apps": .options(
          [("", texts("certificates.no_app"))] + facts.apps.map { (String($0.id), $0.name) }, selected: form["app"]),
        "form": form.value(["name"]), "errors": errors.value(["name", "app"]),
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  static func update(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let name = page.form["name"]
    let problem = name.isEmpty ? Problem("", FieldMessage.required) : AppName.problem(withName: name, limit: 200)
    var problems = problem.map { [$0.under("name")] } ?? []
    let app = facts.apps.first { String($0.id) == page.form["app"] }?.id
    if app == nil, page.form.filled("app") != nil { problems.append(CertificatePages.noApp) }
    guard problems.isEmpty else {
      return try show(page, facts, page.form, FieldErrors(Problems(problems), page.texts))
    }
    let (id, now) = (facts.certificate.id, page.now)
    let audit = page.audit("certificate.update", "certificate \(id)")
    try await page.store.write { database in
      try TrackedCertificate.update(database, id: id, name: name, app: app)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/certificates/\(id)", flash: "certificate_saved")
  }

  // MARK: Removing

  static func removePage(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let texts = page.texts
    let name = facts.certificate.details.name
    return try page.page(
      "certificates/remove", .certificates,
      [
        "id": .integer(facts.certificate.id), "title": .string(name),
        "question": .string(texts("certificates.remove_question", ["name": name])),
        "any_uses": .bool(!facts.uses.isEmpty),
        "uses": .list(
          facts.uses.map { use in
            [
              "href": .string("/apps/\(use.appID)"),
              "text": .string(
                texts(
                  "certificates.use",
                  [
                    "app": facts.appName(use), "environment": use.environment.word(texts),
                    "devices": use.activeDevices.grouped,
                  ])),
            ]
          }),
      ])
  }

  static func remove(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    // Still bound: the page says where, and offers no button.
    guard facts.uses.isEmpty else { return try await removePage(page) }
    let (id, now) = (facts.certificate.id, page.now)
    let audit = page.audit("certificate.delete", "certificate \(facts.certificate.details.name)")
    try await page.store.write { database in
      try TrackedCertificate.delete(database, id: id)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/certificates", flash: "certificate_removed")
  }
}

/// How this very item is renewed, with its own names.
struct RenewalGuide {
  private let details: TrackedCertificate.Details

  init(_ details: TrackedCertificate.Details) { self.details = details }

  func value(_ texts: Texts) -> Value {
    let guide: (String, [String])
    switch CertificateKind(rawValue: details.kind) {
    case .apnsCertificate, .voipCertificate:
      guide = ("certificate", ["request", "create", "export", "upload", "revoke"])
    case .apnsKey: guide = ("key", ["create", "upload", "revoke"])
    case .provisioningProfile: guide = ("profile", ["create", "build", "upload"])
    case .appleCertificate, .tlsCertificate, .host, nil: return false
    }
    let path = "certificates.guide.\(guide.0)"
    let arguments = [
      "topic": details.topics.first ?? "–", "serial": details.serial ?? "–", "key": details.keyID ?? "–",
      "name": details.name,
    ]
    return [
      "title": .string(texts("\(path).title")), "lead": .string(texts("\(path).lead")),
      "steps": .list(
        guide.1.map { step in
          [
            "text": .string(texts("\(path).steps.\(step)", arguments)),
            "detail": .string(texts("\(path).steps.\(step)_detail", arguments)),
          ]
        }),
    ]
  }
}
