import Certificates
import Foundation
import HTTPServer
import Mustache
import Push
import Reactor
import SQLite
import Store

/// Certificates, keys and profiles: what ends first, looking into a file, keeping and removing it.
enum CertificatePages {
  private static let fields = ["file", "password", "app", "key_id", "team_id"]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/certificates") { page in try await index(page, Upload()) }
    // Twice what a certificate file may have, so that one that is too large gets its own message.
    let limit = Route.Options(bodyLimit: 8 << 20)
    routes.page(.post, "/certificates", role: .admin, options: limit) { page in try await upload(page) }
    routes.page(.get, "/certificates/:id") { page in try await CertificatePage.show(page) }
    routes.page(.post, "/certificates/:id", role: .admin) { page in try await CertificatePage.update(page) }
    routes.page(.get, "/certificates/:id/remove", role: .admin) { page in try await CertificatePage.removePage(page) }
    routes.page(.post, "/certificates/:id/remove", role: .admin) { page in try await CertificatePage.remove(page) }
  }

  /// The upload form as it is shown.
  private struct Upload {
    var problem: String?
    var errors = FieldErrors()
  }

  private static func form(_ page: PageContext, _ upload: Upload, _ apps: [App]) -> [String: Value] {
    [
      "can_upload": .bool(page.may(.admin)), "problem": .string(upload.problem ?? ""),
      "remedy": .string(upload.problem == nil ? "" : page.texts("certificates.nothing_kept")),
      "apps": .options(
        [("", page.texts("certificates.no_app"))] + apps.map { (String($0.id), $0.name) }, selected: page.form["app"]),
      "form": page.form.value(["key_id", "team_id"]), "errors": upload.errors.value(fields),
    ]
  }

  // MARK: The list

  /// The list, with its forms.
  ///
  /// - Parameters:
  ///   - watch: what is wrong in the form “Watch a host”.
  ///   - calendar: the address of a calendar that was just made.
  static func index(
    _ page: PageContext, watch: FieldErrors = FieldErrors(), calendar: String? = nil
  ) async throws -> Response {
    try await index(page, Upload(), watch: watch, calendar: calendar)
  }

  private static func index(
    _ page: PageContext, _ upload: Upload, watch: FieldErrors = FieldErrors(), calendar: String? = nil
  ) async throws -> Response {
    let apps = try await page.store.read { try App.all($0) }
    var members = form(page, upload, apps)
    members.merge(try await CertificateList(page, apps: apps).members()) { $1 }
    members["watch"] = [
      "form": page.form.value(HostForm.fields), "errors": watch.value(HostForm.fields),
      "protocols": HostForm.protocols(page.texts, selected: page.form["protocol"]),
    ]
    members["calendar"] = try await CalendarPages.value(page, address: calendar)
    return try page.page(
      "certificates/index", .certificates, members,
      status: upload.problem == nil && upload.errors.isEmpty && watch.isEmpty ? .ok : .unprocessableContent)
  }

  // MARK: Looking into a file, and keeping it

  private static func upload(_ page: PageContext) async throws -> Response {
    guard let file = page.form.file("file") else {
      var errors = FieldErrors()
      errors.add("file", page.texts("certificates.choose_file"))
      return try await index(page, Upload(errors: errors))
    }
    let name = file.part.fileName ?? ""
    let password = page.form.raw("password")
    let inspected: InspectedFile
    do {
      // Opening a .p12 derives keys: work for the pool, not for the loop.
      inspected = try await page.console.pool.run {
        try CertificateFile.inspect(
          data: Data(file.bytes), fileName: name, password: password.isEmpty ? nil : password)
      }
    } catch let problem as FileProblem {
      var errors = FieldErrors()
      if problem.problem.field == "password" { errors.add("password", page.texts.text(problem.problem)) }
      return try await index(page, Upload(problem: "\(name): \(page.texts.text(problem.problem))", errors: errors))
    }
    if page.form["action"] == "keep" { return try await keep(page, inspected, name) }
    return try await inspectedPage(page, inspected)
  }

  private static func inspectedPage(_ page: PageContext, _ file: InspectedFile) async throws -> Response {
    let (apps, known) = try await page.store.read { database in
      (try App.all(database), try file.sha256.flatMap { try TrackedCertificate.find(database, sha256: $0).first })
    }
    var members = form(page, Upload(), apps)
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
      return try await index(page, Upload(errors: FieldErrors(Problems([noApp]), page.texts)))
    }
    let labels = CertificateTracker.Labels(
      fileName: String(name.prefix(255)), appID: app, keyID: page.form["key_id"],
      teamID: page.form["team_id"])
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
        page, Upload(problem: problems.all.map(page.texts.text).joined(separator: " "), errors: errors))
    }
  }
}
