import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Reactor
import SQLite
import Store

/// Replaces a certificate: inspects the new file, shows a preview, tries it with the push service, then switches.
/// The switch can be undone for 30 days.
enum RenewalPages {
  static func add(to routes: inout ConsoleRouter) {
    let limit = Route.Options(bodyLimit: 8 << 20)
    routes.page(.post, "/certificates/:id/successor", role: .admin, proof: true, options: limit, bring)
    routes.page(.get, "/certificates/:id/successor/:uid", role: .admin) { page in
      try await preview(page, nil)
    }
    routes.page(.post, "/certificates/:id/successor/:uid", role: .admin, proof: true, decide)
    routes.page(.get, "/certificates/:id/undo", role: .admin) { page in try await undoPage(page) }
    routes.page(.post, "/certificates/:id/undo", role: .admin, proof: true, undo)
  }

  // MARK: Bringing a file

  private static func bring(_ page: PageContext) async throws -> Response {
    let form = page.form
    if form.file("successor") == nil, form.filled("app_key") != nil || form.filled("master_secret") != nil {
      do {
        let pair = try JPushKeyPair(appKey: form["app_key"], masterSecret: form.raw("master_secret"))
        let data = Data(pair.material)
        return try await hold(page, try CertificateFile.inspect(data: data), name: "JPush", data: data)
      } catch let problems as Problems {
        return try await CertificatePage.show(page, .init(errors: FieldErrors(problems, page.texts)))
      }
    }
    guard let brought = try await BroughtFile(page, field: "successor") else {
      var errors = FieldErrors()
      let isOver = page.form.filled("locked") != nil
      errors.add("successor", page.texts(isOver ? "certificates.lock_over" : "certificates.choose_file"))
      return try await CertificatePage.show(page, .init(errors: errors))
    }
    let (name, data) = (brought.name, brought.content)
    let file: CertificateFile
    do {
      file = try await brought.inspect(page)
    } catch let problem as FileProblem {
      let text = page.texts.labelled(name, page.texts.text(problem.problem))
      let isOpen = problem.isQuestion(page.form)
      var upload = CertificateRenewal.Upload(problem: isOpen ? nil : text, question: isOpen ? text : nil)
      if problem.problem.field == "password" {
        // The form's problem is shown at the top; the field says only what to do.
        upload.errors.add("password", page.texts("certificates.password_again"))
        upload.locked = try await brought.wait(page).map { ($0, name) }
      }
      return try await CertificatePage.show(page, upload)
    }
    return try await hold(page, file, name: name, data: data, brought)
  }

  /// Holds the file for the preview, or shows what must be corrected first.
  private static func hold(
    _ page: PageContext, _ file: CertificateFile, name: String, data: Data, _ brought: BroughtFile? = nil
  ) async throws -> Response {
    let id = try page.id()
    let labels = CertificateTracker.Labels(
      fileName: name, keyID: page.form.filled("key_id"), teamID: page.form.filled("team_id"))
    let (sealer, actor, now) = (page.store.sealer, page.actor, page.now)
    do {
      let candidate = try await page.store.write { database in
        let renewal = try Renewal(database, replacing: id, with: file, labels, sealer: sealer, now: now)
        if let uid = brought?.uid { try LockedFile.delete(database, uid: uid) }
        return try CertificateCandidate.add(
          database, certificate: id, content: renewal.content(original: data), sealer: sealer, by: actor, now: now)
      }
      return page.redirect(to: "/certificates/\(id)/successor/\(candidate.uid)")
    } catch let problems as Problems {
      let errors = FieldErrors(problems, page.texts)
      let other = errors.others(CertificateRenewal.fields.filter { $0 != "successor" })
      var upload = CertificateRenewal.Upload(
        problem: other ?? page.texts("certificates.see_fields", ["name": name]), errors: errors)
      if other == nil, let brought { upload.locked = try await brought.wait(page).map { ($0, name) } }
      return try await CertificatePage.show(page, upload)
    } catch let mismatch as SealingMismatch {
      return try await CertificatePage.show(page, .init(problem: page.texts.text(mismatch)))
    }
  }

  // MARK: Preview

  /// Reads the held file that the address names.
  private static func loading(_ page: PageContext) throws -> @Sendable (Database) throws -> Renewal {
    let (id, uid, sealer, now) = (try page.id(), page.request.parameters["uid"] ?? "", page.store.sealer, page.now)
    return { database in
      guard let (candidate, content) = try CertificateCandidate.find(database, uid: uid, sealer: sealer, now: now),
        candidate.certificateID == id
      else { throw PageError.notFound("candidate", list: "/certificates") }
      return try Renewal(database, replacing: id, content: content, sealer: sealer, now: now)
    }
  }

  /// - Parameter report: of a trial; nil: there was none.
  private static func preview(_ page: PageContext, _ report: CertificateSwitch.Report?) async throws -> Response {
    let load = try loading(page)
    let renewal: Renewal
    if let known = report?.renewal { renewal = known } else { renewal = try await page.store.read(load) }
    let failed = report.map { $0.outcome != .ready } ?? false
    return page.answer(SuccessorView(renewal, report, page), status: failed ? .unprocessableContent : .ok)
  }

  private static func decide(_ page: PageContext) async throws -> Response {
    let load = try loading(page)
    let (id, uid, now, sealer) = (try page.id(), page.request.parameters["uid"] ?? "", page.now, page.store.sealer)
    if page.form["action"] == "discard" {
      try await page.store.write { database in
        guard let (candidate, _) = try CertificateCandidate.find(database, uid: uid, sealer: sealer, now: now) else {
          return
        }
        try CertificateCandidate.delete(database, id: candidate.id)
      }
      return page.redirect(to: "/certificates/\(id)", flash: "successor_discarded")
    }
    let engine = page.console.engine
    let report = try await CertificateSwitch(store: page.store) { await engine.attempt($0) }
      .look(allowsUntried: page.form["untried"] == "yes", load)
    guard report.outcome == .ready, page.form["action"] != "try" else {
      guard report.outcome == .ready else { return try await preview(page, report) }
      return try page.shown(at: "/certificates/\(id)/successor/\(uid)") { page in try await preview(page, report) }
    }
    let switched = try await page.store.write { database in
      let switched = try CertificateSwitch.commit(
        database, report, sealer: sealer, by: page.actor, address: page.clientAddress, now: now, load)
      if let (candidate, _) = try CertificateCandidate.find(database, uid: uid, sealer: sealer, now: now) {
        try CertificateCandidate.delete(database, id: candidate.id)
      }
      return switched
    }
    try await engine.credentialsChanged()
    let isRefill = report.renewal.isRefill
    let isUnused = switched.moved.isEmpty && !isRefill
    return page.redirect(
      to: "/certificates/\(switched.successor.id)",
      flash: isUnused ? "certificate_replaced" : isRefill ? "certificate_refilled" : "certificate_switched")
  }

  // MARK: Undo

  private static func replaced(_ page: PageContext) async throws -> (TrackedCertificate, TrackedCertificate) {
    let id = try page.id()
    return try await page.store.read { database in
      guard let old = try TrackedCertificate.find(database, id: id), let replacement = old.replacement,
        let successor = try TrackedCertificate.find(database, id: replacement.by)
      else { throw PageError.notFound("replacement", list: "/certificates") }
      return (old, successor)
    }
  }

  private static func undoPage(_ page: PageContext, _ found: CertificateReturn? = nil) async throws -> Response {
    let (old, successor) = try await replaced(page)
    let id = old.id
    let returning = try await page.store.read { try TrackedCertificate.returning($0, id: id) ?? [] }
    let band = Expiry.band(notBefore: old.details.notBefore, notAfter: old.details.notAfter, now: page.now)
    let view = RenewalUndoView(
      old: old, successor: successor, texts: page.texts, isExpired: band == .expired, outcome: found?.outcome,
      attempts: (found?.attempts ?? []).map { AttemptRow($0, page.texts) }, hasTrial: !returning.isEmpty,
      isTicked: page.form["untried"] == "yes")
    return page.answer(view, status: found == nil ? .ok : .unprocessableContent)
  }

  private static func undo(_ page: PageContext) async throws -> Response {
    let id = try page.id()
    let engine = page.console.engine
    let found = try await CertificateSwitch(store: page.store) { await engine.attempt($0) }
      .lookBack(id, allowsUntried: page.form["untried"] == "yes")
    guard let found else { throw PageError.notFound("replacement", list: "/certificates") }
    guard found.outcome == .ready else { return try await undoPage(page, found) }
    let back = try await page.store.write {
      try found.commit($0, by: page.actor, address: page.clientAddress, now: page.now)
    }
    try await engine.credentialsChanged()
    return page.redirect(
      to: "/certificates/\(id)", flash: back?.isEmpty == false ? "certificate_undone" : "certificate_undone_unused")
  }
}
