import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
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
  /// The file that waits for a better answer, and how it is called.
  var locked: (uid: String, name: String)?

  /// Whether it was sent, and comes back with what is wrong.
  var isRefused: Bool { problem != nil || !errors.isEmpty }

  /// What the template needs.
  ///
  /// - Parameter form: what was typed into it; nil: what the page was called with.
  func members(_ page: PageContext, _ apps: [App], form: Form? = nil) -> [String: Value] {
    let form = form ?? page.form
    return [
      "can_upload": .bool(page.may(.admin)), "problem": .string(problem ?? ""),
      "remedy": .string(
        problem == nil ? "" : page.texts(locked == nil ? "certificates.nothing_kept" : "certificates.nothing_kept_yet")),
      "locked": .string(locked?.uid ?? ""),
      "locked_text": .string(locked.map { page.texts("certificates.locked", ["name": $0.name]) } ?? ""),
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
  static func inspect(_ page: PageContext) async throws -> (file: InspectedFile, brought: BroughtFile?) {
    let form = page.form
    if form.file("file") == nil, form.filled("app_key") != nil || form.filled("master_secret") != nil {
      do {
        let pair = try JPushKeyPair(appKey: form["app_key"], masterSecret: form.raw("master_secret"))
        return (try CertificateFile.inspect(data: Data(pair.material)), nil)
      } catch let problems as Problems {
        throw Refusal(CertificateUploadForm(errors: FieldErrors(problems, page.texts)))
      }
    }
    guard let brought = try await BroughtFile(page, field: "file") else {
      var errors = FieldErrors()
      errors.add(
        "file", page.texts(form.filled("locked") == nil ? "certificates.choose_file" : "certificates.lock_over"))
      throw Refusal(CertificateUploadForm(errors: errors))
    }
    do {
      return (try await brought.inspect(page, take: form["take"]), brought)
    } catch let problem as FileProblem {
      throw Refusal(try await refused(page, brought, problem))
    }
  }

  /// The form after a file that does not open. If only something typed beside it is wrong, the file waits.
  private static func refused(
    _ page: PageContext, _ brought: BroughtFile, _ problem: FileProblem
  ) async throws -> CertificateUploadForm {
    var form = CertificateUploadForm(problem: "\(brought.name): \(page.texts.text(problem.problem))")
    let field = problem.problem.field
    guard field != "file" else { return form }
    // The sentence stands above; here only what to do.
    form.errors.add(field, page.texts("certificates.\(field)_again"))
    form.locked = try await brought.wait(page).map { ($0, brought.name) }
    return form
  }

  /// The form as it goes back.
  struct Refusal: Error {
    let form: CertificateUploadForm
    init(_ form: CertificateUploadForm) { self.form = form }
  }
}
