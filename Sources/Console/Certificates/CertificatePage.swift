import Calendar
import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import SQLite
import Store

/// `/certificates/:id`: a stored file, what depends on it, and how to renew it.
enum CertificatePage {
  private struct Found: Sendable {
    let certificate: TrackedCertificate
    let uses: [TrackedCertificate.Use]
    let apps: [App]
    let renewal: CertificateRenewal
    let contents: CertificateContents?
    let reminders: ItemReminders
    let planned: Forecast.Plan

    var notes: CertificateContents.Notes? { contents?.notes }
  }

  private static func facts(_ page: PageContext) async throws -> Found {
    let (id, sealer, now) = (try page.id(), page.store.sealer, page.now)
    return try await page.store.read { database in
      guard let certificate = try TrackedCertificate.find(database, id: id) else {
        throw PageError.notFound("certificate", list: "/certificates")
      }
      let uses = try TrackedCertificate.uses(database, id: id)[id] ?? []
      return Found(
        certificate: certificate, uses: uses, apps: try App.all(database),
        renewal: try CertificateRenewal(database, certificate, isUsed: !uses.isEmpty, sealer: sealer),
        contents: try CertificateContents.find(database, certificate: id),
        reminders: try ItemReminders(
          database, Renewable(certificate), isReplaced: certificate.isReplaced && uses.isEmpty, now: now),
        planned: try Forecast.needs(database, now: now)[id] ?? .init())
    }
  }

  static func show(
    _ page: PageContext, _ upload: CertificateRenewal.Upload = .init(), errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    let facts = try await facts(page)
    let details = facts.certificate.details
    let form = Form([
      ("name", details.name), ("app", details.appID.map(String.init) ?? ""), ("made_by", facts.notes?.madeBy ?? ""),
      ("note", facts.notes?.note ?? ""),
    ])
    return show(page, facts, form, errors, upload)
  }

  private static func show(
    _ page: PageContext, _ facts: Found, _ form: Form, _ errors: FieldErrors,
    _ upload: CertificateRenewal.Upload = .init()
  ) -> Response {
    let (texts, now) = (page.texts, page.now)
    let (certificate, uses) = (facts.certificate, facts.uses)
    let details = certificate.details
    let view = CertificateView(
      certificate: certificate,
      heading: ExpiryHeading(
        band: Expiry.band(notBefore: details.notBefore, notAfter: details.notAfter, now: now),
        days: Expiry.daysLeft(notAfter: details.notAfter, now: now),
        isReplaced: certificate.isReplaced && uses.isEmpty),
      details: FileDetails(certificate, facts.contents).view(texts, now: now),
      uses: rows(facts, page), reminders: facts.reminders.view(page, errors),
      forecast: ForecastView(facts.planned, notAfter: details.notAfter, apps: facts.apps, now: now, texts),
      renewal: facts.renewal.view(page, upload),
      guide: RenewalGuide(
        certificate, uses: uses, madeBy: facts.notes?.madeBy,
        hasRequest: facts.renewal.requests.contains(where: \.isWaiting), now: now, texts),
      requests: requests(facts, page),
      upload: [
        FactView(texts("certificates.file_name"), details.fileName),
        FactView(texts("certificates.uploaded_by"), ActivityActor(certificate.uploadedBy).name(texts)),
        FactView(texts("certificates.uploaded_at"), at: certificate.createdAt),
        FactView(texts("certificates.made_by"), facts.notes?.madeBy),
        FactView(texts("certificates.note_text"), facts.notes?.note),
      ].compactMap { $0 },
      mayChange: page.may(.admin), form: form, errors: errors,
      apps: CertificateUploadForm.apps(facts.apps, chosen: form["app"], texts))
    let isRefused = !errors.isEmpty || !upload.errors.isEmpty || upload.problem != nil
    return page.answer(view, status: isRefused ? .unprocessableContent : .ok)
  }

  private static func rows(_ facts: Found, _ page: PageContext) -> [CertificateUseRow] {
    facts.uses.map { use in
      CertificateUseRow(
        use: use, app: facts.apps.first { $0.id == use.appID }?.name ?? use.bundleID,
        environment: use.environment.word(page.texts), planned: facts.planned.of(use).words(page.texts),
        now: page.now)
    }
  }

  /// The signing requests for its renewal; nil if it is not renewed with one.
  private static func requests(_ facts: Found, _ page: PageContext) -> SigningRequestsView? {
    guard let order = SigningOrder.renewing(facts.certificate, uses: facts.uses, email: nil), order.problem == nil
    else { return nil }
    return SigningRequestsView(requests: facts.renewal.requests, page)
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
      return show(page, facts, page.form, FieldErrors(Problems(problems), page.texts))
    }
    let (id, now) = (facts.certificate.id, page.now)
    let audit = page.audit("certificate.update", "certificate \(id)")
    try await page.store.write { try labels.keep($0, id, audit: audit, now: now) }
    return page.redirect(to: "/certificates/\(id)", flash: "certificate_saved")
  }

  // MARK: Removing

  static func removePage(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    return page.answer(
      CertificateRemovalView(
        certificate: facts.certificate, uses: rows(facts, page), wakes: page.texts.list(facts.renewal.wakes),
        endsUndo: facts.renewal.mayReturn))
  }

  static func remove(_ page: PageContext) async throws -> Response {
    let facts = try await facts(page)
    // Still in use: the page says where, and offers no button.
    guard facts.uses.isEmpty else { return try await removePage(page) }
    let certificate = facts.certificate
    try await page.store.write { database in
      try TrackedCertificate.delete(database, id: certificate.id)
      try page.record(
        database, "certificate.delete", "certificate \(certificate.details.name)",
        ["before": certificate.audited, "after": .null])
    }
    return page.redirect(to: "/certificates", flash: "certificate_removed")
  }
}
