import Certificates
import Foundation
import HTTPServer
import Mustache
import Push
import Reactor
import Store

/// The form in which somebody drops a file, or types JPush's keys.
struct CertificateUploadForm {
  /// Every field that can have an error of its own.
  static let fields = [
    "file", "password", "app", "key_id", "team_id", "take", "made_by", "note", "app_key", "master_secret",
  ]
  /// What comes back filled in; never a secret.
  private static let kept = ["key_id", "team_id", "take", "made_by", "note", "app_key"]

  var problem: String?
  var errors = FieldErrors()

  /// Whether it was sent, and comes back with what is wrong.
  var isRefused: Bool { problem != nil || !errors.isEmpty }

  /// What the template needs.
  ///
  /// - Parameter form: what was typed into it; nil: what the page was called with.
  func members(_ page: PageContext, _ apps: [App], form: Form? = nil) -> [String: Value] {
    let form = form ?? page.form
    return [
      "can_upload": .bool(page.may(.admin)), "problem": .string(problem ?? ""),
      "remedy": .string(problem == nil ? "" : page.texts("certificates.nothing_kept")),
      "apps": .options(
        [("", page.texts("certificates.no_app"))] + apps.map { (String($0.id), $0.name) }, selected: form["app"]),
      "form": form.value(Self.kept), "errors": errors.value(Self.fields),
      "open": [
        "more": .bool(["take", "made_by", "note"].contains { form.filled($0) != nil || !errors[$0].isEmpty }),
        "jpush": .bool(["app_key", "master_secret"].contains { form.filled($0) != nil || !errors[$0].isEmpty }),
      ],
    ]
  }

  /// Opens what was sent.
  ///
  /// - Throws: ``Refusal``.
  static func inspect(_ page: PageContext) async throws -> (file: InspectedFile, name: String) {
    let form = page.form
    if form.file("file") == nil, form.filled("app_key") != nil || form.filled("master_secret") != nil {
      do {
        let pair = try JPushKeyPair(appKey: form["app_key"], masterSecret: form.raw("master_secret"))
        return (try CertificateFile.inspect(data: Data(pair.material)), "JPush")
      } catch let problems as Problems {
        throw Refusal(CertificateUploadForm(errors: FieldErrors(problems, page.texts)))
      }
    }
    guard let file = form.file("file") else {
      var errors = FieldErrors()
      errors.add("file", page.texts("certificates.choose_file"))
      throw Refusal(CertificateUploadForm(errors: errors))
    }
    let (name, password, take) = (file.part.fileName ?? "", form.raw("password"), form["take"])
    do {
      // Opening a .p12 derives keys: work for the pool, not for the loop.
      let inspected = try await page.console.pools.certificates.run {
        try CertificateFile.inspect(
          data: Data(file.bytes), fileName: name, password: password.isEmpty ? nil : password, take: take)
      }
      return (inspected, name)
    } catch let problem as FileProblem {
      var errors = FieldErrors()
      let field = problem.problem.field
      if field != "file" { errors.add(field, page.texts.text(problem.problem)) }
      throw Refusal(
        CertificateUploadForm(problem: "\(name): \(page.texts.text(problem.problem))", errors: errors))
    }
  }

  /// The form as it goes back.
  struct Refusal: Error {
    let form: CertificateUploadForm
    init(_ form: CertificateUploadForm) { self.form = form }
  }
}
