import Calendar
import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import SQLite
import Store

/// `/certificates/:id`: one file that is kept, what depends on it, and how it is renewed.
enum CertificatePage {
  private struct Facts: Sendable {
    let certificate: TrackedCertificate
    let uses: [TrackedCertificate.Use]
    let apps: [App]
    let renewal: RenewalPanel
    let facts: CertificateFacts?
    let reminders: ItemReminders
    let planned: Forecast.Needs

    func appName(_ use: TrackedCertificate.Use) -> String { apps.first { $0.id == use.appID }?.name ?? use.bundleID }
  }

  private static func facts(_ page: PageContext) async throws -> Facts {
    let (id, sealer, now) = (try page.id(), page.store.sealer, page.now)
    return try await page.store.read { database in
      guard let certificate = try TrackedCertificate.find(database, id: id) else {
        throw PageError.notFound("certificate", list: "/certificates")
      }
      let uses = try TrackedCertificate.uses(database, id: id)[id] ?? []
      return Facts(
        certificate: certificate, uses: uses, apps: try App.all(database),
        renewal: try RenewalPanel(database, certificate, isUsed: !uses.isEmpty, sealer: sealer),
        facts: try CertificateFacts.find(database, certificate: id),
        reminders: try ItemReminders(database, Renewable(certificate), now: now),
        planned: try Forecast.needs(database, now: now)[id] ?? .init())
    }
  }

  static func show(
    _ page: PageContext, _ upload: RenewalPanel.Upload = .init(), errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    let facts = try await facts(page)
    let details = facts.certificate.details
    let notes = facts.facts?.notes
    let form = Form([
      ("name", details.name), ("app", details.appID.map(String.init) ?? ""), ("made_by", notes?.madeBy ?? ""),
      ("note", notes?.note ?? ""),
    ])
    return try show(page, facts, form, errors, upload)
  }

  private static func show(
    _ page: PageContext, _ facts: Facts, _ form: Form, _ errors: FieldErrors,
    _ upload: RenewalPanel.Upload = .init()
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
        "passport": Passport(certificate, facts.facts).value(texts, now: page.now),
        "guide": RenewalGuide(certificate, uses: facts.uses, madeBy: facts.facts?.notes.madeBy).value(texts),
        "renewal": facts.renewal.value(page, upload), "requests": requests(facts, page),
        "reminders": facts.reminders.value(page, errors),
        "kept": .list(
          [
            kept("file_name", certificate.details.fileName), kept("uploaded_by", certificate.uploadedBy),
            kept("uploaded_at", certificate.createdAt.utcText, certificate.createdAt),
          ]
            + [("made_by", facts.facts?.notes.madeBy), ("note_text", facts.facts?.notes.note)].compactMap {
              name, text in
              text.map { kept(name, $0) }
            }),
        "can_remove": .bool(page.may(.admin)), "any_uses": .bool(!facts.uses.isEmpty),
        "uses": .list(
          facts.uses.map { use in
            [
              "href": .string("/apps/\(use.appID)"), "app": .string(facts.appName(use)),
              "production": .bool(use.environment == .production), "environment": .string(use.environment.word(texts)),
              "last_accepted": .string(texts.ago(use.lastAcceptedAt, now: page.now)),
              "devices": .string(use.activeDevices.grouped),
              "planned": .string(planned(facts.planned.of(use), texts)),
            ]
          }),
        "forecast": ForecastValue(
          planned: facts.planned, notAfter: certificate.details.notAfter, apps: facts.apps, now: page.now
        ).value(texts),
        "apps": .options(
          [("", texts("certificates.no_app"))] + facts.apps.map { (String($0.id), $0.name) }, selected: form["app"]),
        "form": form.value(["name", "made_by", "note"]),
        "errors": errors.value(["name", "app", "made_by", "note"]),
      ], status: errors.isEmpty && upload.errors.isEmpty && upload.problem == nil ? .ok : .unprocessableContent)
  }

  /// As “2 scheduled, 1 repeating”.
  private static func planned(_ needs: Forecast.Needs, _ texts: Texts) -> String {
    let parts = [("forecast.scheduled", needs.pushes.count), ("forecast.repeating", needs.schedules.count)]
    let words = parts.filter { $0.1 > 0 }.map { texts($0.0, count: $0.1) }
    return words.isEmpty ? "–" : words.joined(separator: ", ")
  }

  /// Requests for its renewal, false for what is not requested in this way.
  private static func requests(_ facts: Facts, _ page: PageContext) -> Value {
    let order = SigningOrder.renewing(facts.certificate, uses: facts.uses, email: nil)
    guard order?.problem == nil, order != nil else { return false }
    return [
      "can_make": .bool(page.may(.admin)), "any": .bool(!facts.renewal.requests.isEmpty),
      "items": .list(facts.renewal.requests.map { SigningRequestPages.value($0, page) }),
    ]
  }

  static func update(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let app = facts.apps.first { String($0.id) == page.form["app"] }?.id
    let labels = CertificateLabels(
      name: page.form["name"], appID: app, madeBy: page.form["made_by"], note: page.form.raw("note"))
    var problems: [Problem] = []
    do { _ = try labels.checked() } catch { problems += error.all }
    if app == nil, page.form.filled("app") != nil { problems.append(CertificatePages.noApp) }
    guard problems.isEmpty else {
      return try show(page, facts, page.form, FieldErrors(Problems(problems), page.texts))
    }
    let (id, now) = (facts.certificate.id, page.now)
    let audit = page.audit("certificate.update", "certificate \(id)")
    try await page.store.write { try labels.keep($0, id, audit: audit, now: now) }
    return page.redirect(to: "/certificates/\(id)", flash: "certificate_saved")
  }

  // MARK: Removing

  static func removePage(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    let uses = facts.uses.map {
      CertificateUseLink(use: $0, app: facts.appName($0), environment: $0.environment.word(page.texts))
    }
    return page.answer(
      CertificateRemovalView(certificate: facts.certificate, uses: uses, wakes: facts.renewal.wakes))
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
