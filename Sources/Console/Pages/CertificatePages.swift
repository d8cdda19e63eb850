import Certificates
import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// Certificates, keys and profiles: what ends first, looking into a file, keeping and removing it.
enum CertificatePages {
  static func add(to routes: inout ConsoleRouter) {
    SealingPages.add(to: &routes)
    SigningRequestPages.add(to: &routes)
    RenewalPages.add(to: &routes)
    routes.page(.get, "/certificates") { page in try await index(page, CertificateUploadForm()) }
    // Twice what a certificate file may have, so that one that is too large gets its own message.
    let limit = Route.Options(bodyLimit: 8 << 20)
    routes.page(.post, "/certificates", role: .admin, options: limit) { page in try await upload(page) }
    routes.page(.get, "/certificates/:id") { page in try await CertificatePage.show(page) }
    routes.page(.post, "/certificates/:id", role: .admin) { page in try await CertificatePage.update(page) }
    routes.page(.post, "/certificates/:id/acknowledge", role: .operator) { page in
      try await CertificatePage.take(page)
    }
    routes.page(.post, "/certificates/:id/unacknowledge", role: .operator) { page in
      try await CertificatePage.giveBack(page)
    }
    routes.page(.get, "/certificates/:id/remove", role: .admin) { page in try await CertificatePage.removePage(page) }
    routes.page(.post, "/certificates/:id/remove", role: .admin) { page in try await CertificatePage.remove(page) }
  }

  // MARK: The list

  private static func index(_ page: PageContext, _ upload: CertificateUploadForm) async throws -> Response {
    let texts = page.texts
    let now = page.now
    let sealer = page.store.sealer
    let (all, uses, apps, sealing) = try await page.store.read { database in
      (
        try TrackedCertificate.all(database), try TrackedCertificate.uses(database), try App.all(database),
        try SealingPages.Facts(database, sealer)
      )
    }
    let names = Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0.name) })
    var bands: [Expiry.Band: Int] = [:]
    let rows = all.map { certificate -> Value in
      let details = certificate.details
      let band = Expiry.band(notBefore: details.notBefore, notAfter: details.notAfter, now: now)
      bands[band, default: 0] += 1
      let used = (uses[certificate.id] ?? []).map { use in
        texts(
          "certificates.use",
          [
            "app": names[use.appID] ?? use.bundleID, "environment": use.environment.word(texts),
            "devices": use.activeDevices.grouped,
          ])
      }
      return [
        "href": .string("/certificates/\(certificate.id)"),
        "days_left": .string(Expiry.daysLeft(notAfter: details.notAfter, now: now)?.grouped ?? "–"),
        "band": .string(band.rawValue), "band_text": .string(texts("band.\(band.rawValue)")),
        "failed": .bool(band == .expired || band == .urgent), "soon": .bool(band == .soon),
        "replaced": .string(
          certificate.isReplaced && uses[certificate.id] == nil ? texts("renewal.is_replaced") : ""),
        "name": .string(details.name), "topics": .string(details.topics.joined(separator: ", ")),
        "kind": .string(texts("certificates.kinds.\(details.kind)")),
        "app": .string(details.appID.flatMap { names[$0] } ?? ""),
        "environments": .list(
          details.environments.map {
            ["name": .string($0.word(texts)), "production": .bool($0 == .production)]
          }),
        "not_after": .string(details.notAfter.map(Timestamp.text) ?? ""),
        "not_after_text": .string(details.notAfter?.utcText ?? texts("certificates.never")),
        "used_by": .string(used.isEmpty ? texts("certificates.nobody") : used.joined(separator: "; ")),
      ]
    }
    let summary = [Expiry.Band.expired, .urgent, .soon, .notYetValid, .fine, .neverExpires].compactMap { band in
      bands[band].map { "\($0.grouped) \(texts("band.\(band.rawValue)"))" }
    }
    var members = upload.members(page, apps)
    members["summary"] = .string(summary.joined(separator: ", "))
    members["sealing"] = SealingPages.notice(sealing, page)
    members["any_certificates"] = .bool(!all.isEmpty)
    members["certificates"] = .list(rows)
    return try page.page(
      "certificates/index", .certificates, members,
      status: upload.problem == nil && upload.errors.isEmpty ? .ok : .unprocessableContent)
  }

  // MARK: Looking into a file, and keeping it

  private static func upload(_ page: PageContext) async throws -> Response {
    do {
      let (file, name) = try await CertificateUploadForm.inspect(page)
      if page.form["action"] == "keep" { return try await keep(page, file, name) }
      return try await inspectedPage(page, file)
    } catch let refusal as CertificateUploadForm.Refusal {
      return try await index(page, refusal.form)
    }
  }

  private static func inspectedPage(_ page: PageContext, _ file: InspectedFile) async throws -> Response {
    let (apps, known) = try await page.store.read { database in
      (try App.all(database), try file.sha256.flatMap { try TrackedCertificate.find(database, sha256: $0).first })
    }
    var members = CertificateUploadForm().members(page, apps)
    members["title"] = .string(file.name)
    members["passport"] = Passport(file).value(page.texts, now: page.now)
    members["known"] =
      known.map {
        [
          "text": .string(page.texts("certificates.known")), "href": .string("/certificates/\($0.id)"),
          "name": .string($0.details.name),
        ]
      } ?? false
    return try page.page("certificates/inspected", .certificates, members)
  }

  /// An app that was removed while its name stood in the form.
  static let noApp = Problem("app", code: "certificate.no_app", "There is no such app any more; choose another one.")

  private static func keep(_ page: PageContext, _ file: InspectedFile, _ name: String) async throws -> Response {
    let app = Int64(page.form["app"])
    let isKnown = try await page.store.read { database in try app.map { try App.find(database, id: $0) != nil } }
    guard isKnown ?? (page.form.filled("app") == nil) else {
      return try await index(page, CertificateUploadForm(errors: FieldErrors(Problems([noApp]), page.texts)))
    }
    let labels = CertificateTracker.Labels(
      fileName: String(name.prefix(255)), appID: app, keyID: page.form["key_id"],
      teamID: page.form["team_id"], madeBy: page.form["made_by"], note: page.form.raw("note"))
    let (sealer, actor, now) = (page.store.sealer, page.actor, page.now)
    let audit = page.audit("certificate.create", "certificate \(file.name)", ["sha256": .string(file.sha256 ?? "")])
    do {
      let kept = try await page.store.write { database in
        let kept = try CertificateTracker.keep(database, file, labels, sealer: sealer, by: actor, now: now)
        try AuditEntry.add(database, audit, now: now)
        return kept
      }
      return page.redirect(to: "/certificates/\(kept.id)", flash: "certificate_kept")
    } catch let problems as Problems {
      let errors = FieldErrors(problems, page.texts)
      return try await index(
        page, CertificateUploadForm(problem: problems.all.map(page.texts.text).joined(separator: " "), errors: errors))
    } catch let mismatch as SealingMismatch {
      return try await index(page, CertificateUploadForm(problem: mismatch.description))
    }
  }
}
