import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The pages to list, inspect, save and delete certificates, keys and profiles.
enum CertificatePages {
  static let views: [any PageView.Type] =
    [
      CertificateListView.self, CertificateFileView.self, CertificateView.self, CertificateRemovalView.self,
      SuccessorView.self, RenewalUndoView.self, SealingView.self,
    ] + SigningRequestPages.views

  static func add(to routes: inout ConsoleRouter) {
    SealingPages.add(to: &routes)
    SigningRequestPages.add(to: &routes)
    RenewalPages.add(to: &routes)
    routes.page(.get, "/certificates") { page in try await index(page, CertificateUploadForm()) }
    CertificateListExport.routes.add(to: &routes)
    // Twice the limit of a certificate file, so that a file over the limit gets its own message.
    let limit = Route.Options(bodyLimit: 8 << 20)
    routes.page(.post, "/certificates", role: .admin, proof: true, options: limit, upload)
    routes.page(.get, "/certificates/:id") { page in try await CertificatePage.show(page) }
    routes.page(.post, "/certificates/:id", role: .admin, CertificatePage.update)
    ItemReminders.add(.certificate, to: &routes) { page, errors in try await CertificatePage.show(page, errors: errors)
    }
    routes.page(.get, "/certificates/:id/remove", role: .admin, CertificatePage.removePage)
    routes.page(.post, "/certificates/:id/remove", role: .admin, proof: true, CertificatePage.remove)
  }

  // MARK: The list

  /// The list with its forms.
  ///
  /// - Parameters:
  ///   - watch: the errors of the form “Watch a host”.
  ///   - calendar: a newly made key of the calendar.
  static func index(
    _ page: PageContext, watch: FieldErrors = FieldErrors(), calendar: String? = nil
  ) async throws -> Response {
    try await index(page, CertificateUploadForm(), watch: watch, calendar: calendar)
  }

  private static func index(
    _ page: PageContext, _ upload: CertificateUploadForm, watch: FieldErrors = FieldErrors(), calendar: String? = nil
  ) async throws -> Response {
    let sealer = page.store.sealer
    let (apps, sealing) = try await page.store.read { (try App.all($0), try SealingPages.Facts($0, sealer)) }
    // Both forms have fields of the same names: values typed into one are not shown in the other.
    let watchForm = upload.isRefused ? Form([]) : page.form
    let mayChange = page.may(.admin)
    var form = watch.isEmpty ? page.form : Form([])
    // From the page of an app: the file is for that app, and saving it leads back there.
    if form.filled("app") == nil, let app = apps.first(where: { $0.bundleID == page.filled("app") }) {
      form = Form([("app", String(app.id)), ("back", "app")])
    }
    return page.answer(
      CertificateListView(
        list: try await CertificateList(page, apps: apps).view(), sealing: SealingPages.notice(sealing, page),
        upload: mayChange ? upload.view(apps, form, page.texts) : nil,
        watch: mayChange
          ? WatchHostView(
            form: watchForm, errors: watch, protocols: HostForm.protocols(page.texts, chosen: watchForm["protocol"]))
          : nil, calendar: try await CalendarPages.view(page, key: calendar)),
      status: !upload.isRefused && watch.isEmpty ? .ok : .unprocessableContent)
  }

  // MARK: Looking into a file, and keeping it

  private static func upload(_ page: PageContext) async throws -> Response {
    if page.form["action"] == "keep" { return try await opening(page, keep) }
    return try await LanguagePages.choosing(page) { try await opening($0, inspectedPage) }
  }

  /// Opens the file that was sent, and answers with what `body` makes of it; with the list and its form if it does not
  /// open.
  private static func opening(
    _ page: PageContext, _ body: (PageContext, CertificateFile, BroughtFile?) async throws -> Response
  ) async throws -> Response {
    do {
      let (file, brought) = try await CertificateUploadForm.inspect(page)
      return try await body(page, file, brought)
    } catch let refusal as CertificateUploadForm.Refusal {
      return try await index(page, refusal.form)
    }
  }

  private static func inspectedPage(
    _ page: PageContext, _ file: CertificateFile, _ brought: BroughtFile?
  ) async throws -> Response {
    let isKnown = try await page.store.read { database in
      try file.sha256.map { try !TrackedCertificate.find(database, sha256: $0).isEmpty } ?? false
    }
    // Only the button leads to a page with the form alone; the script's look keeps nothing.
    let isAsked = page.form["action"] != "look"
    let uid = isAsked && !isKnown ? try await brought?.wait(page, opened: file) : brought?.uid
    let (name, isSecret) = (brought?.name ?? "", page.form.filled("password") != nil)
    guard isAsked else { return try await lookPage(page, file, held: uid, name: name, isSecret: isSecret) }
    return try page.shown(at: "/certificates", for: ShownPage.secretLifetime) { page in
      try await lookPage(page, file, held: uid, name: name, isSecret: isSecret)
    }
  }

  /// - Parameters:
  ///   - uid: of the held file; nil: it is not held.
  ///   - isSecret: whether a password opened it.
  private static func lookPage(
    _ page: PageContext, _ file: CertificateFile, held uid: String?, name: String, isSecret: Bool
  ) async throws -> Response {
    let now = page.now
    let (apps, known, reach) = try await page.store.read { database in
      let known = try file.sha256.flatMap { try TrackedCertificate.find(database, sha256: $0).first }
      return (try App.all(database), known, try known == nil ? FileReach(database, file, now: now) : nil)
    }
    var form = CertificateUploadForm()
    if known == nil { form.locked = uid.map { ($0, name) } }
    // A held file is looked into again; one of several certificates would need its password again.
    let isRepeatable = form.locked != nil && (!isSecret || file.choice == nil)
    let stored = known.map { "/certificates/\($0.id)" }
    return page.answer(
      CertificateFileView(
        name: file.name,
        details: FileDetails(
          file, keyID: page.form.filled("key_id"), teamID: page.form.filled("team_id")
        ).view(page.texts, now: page.now),
        known: known.map { LinkView(href: "/certificates/\($0.id)", label: $0.details.name) },
        reach: reach?.view(page.texts, now: now),
        upload: form.view(apps, page.form, page.texts),
        repeated: ([("locked", form.locked?.uid ?? "")] + repeated.map { ($0, page.form.raw($0)) })
          .map { HiddenFieldView(name: $0.0, value: $0.1) }),
      language: isRepeatable
        ? .posting(form: "again", to: "/certificates") : stored.map(LanguageSwitch.at) ?? .reloading)
  }

  /// What was typed beside a file, as far as it is no secret.
  private static let repeated = ["key_id", "team_id", "take", "app", "made_by", "note", "back"]

  /// The app was deleted while the form was open.
  static let noApp = Problem("app", code: "certificate.no_app", "This app no longer exists. Choose another one.")

  private static func keep(
    _ page: PageContext, _ file: CertificateFile, _ brought: BroughtFile?
  ) async throws -> Response {
    let app = Int64(page.form["app"])
    let isKnown = try await page.store.read { database in try app.map { try App.find(database, id: $0) != nil } }
    guard isKnown ?? (page.form.filled("app") == nil) else {
      return try await index(page, CertificateUploadForm(errors: FieldErrors(Problems([noApp]), page.texts)))
    }
    let labels = CertificateTracker.Labels(
      fileName: brought?.name ?? "JPush", appID: app, keyID: page.form["key_id"],
      teamID: page.form["team_id"], madeBy: page.form["made_by"], note: page.form.raw("note"))
    let sealer = page.store.sealer
    do {
      let kept = try await page.store.write { database in
        let kept = try CertificateTracker.keep(database, file, labels, sealer: sealer, by: page.actor, now: page.now)
        try page.record(
          database, "certificate.create", "certificate \(file.name)", ["sha256": .string(file.sha256 ?? "")])
        if let uid = brought?.uid { try LockedFile.delete(database, uid: uid) }
        return kept
      }
      return page.redirect(
        to: leading(page, app) ?? "/certificates/\(kept.id)",
        flash: kept.details.notAfter == nil ? "certificate_kept_for_good" : "certificate_kept")
    } catch let problems as Problems {
      if problems.all.contains(where: { $0.code == CertificateMessage.duplicate.code }), let sha256 = file.sha256,
        let stored = try await page.store.read({ try TrackedCertificate.find($0, sha256: sha256).first })
      {
        return page.redirect(to: leading(page, app) ?? "/certificates/\(stored.id)", flash: "certificate_known")
      }
      return try await index(page, try await refused(page, problems, brought))
    } catch let mismatch as SealingMismatch {
      return try await index(page, CertificateUploadForm(problem: page.texts.text(mismatch)))
    }
  }

  /// The app's page, if the upload began there.
  private static func leading(_ page: PageContext, _ app: Int64?) -> String? {
    page.form["back"] == "app" ? app.map { "/apps/\($0)" } : nil
  }

  /// The form for a file that opens but cannot be saved. The file is held if only the other fields are wrong.
  private static func refused(
    _ page: PageContext, _ problems: Problems, _ brought: BroughtFile?
  ) async throws -> CertificateUploadForm {
    let errors = FieldErrors(problems, page.texts)
    let known = CertificateUploadForm.fields.filter { $0 != "file" }
    if let other = errors.others(known) {
      let fields = Problems(problems.all.filter { known.contains($0.field) })
      return CertificateUploadForm(problem: other, errors: FieldErrors(fields, page.texts))
    }
    let name = brought?.name ?? page.texts("certificates.jpush_name")
    var form = CertificateUploadForm(problem: page.texts("certificates.see_fields", ["name": name]), errors: errors)
    if let brought, let uid = try await brought.wait(page) { form.locked = (uid, brought.name) }
    return form
  }
}
