import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import Providers
import Reactor
import Store

/// The form to upload a file or to type JPush keys.
struct CertificateUploadForm {
  /// The fields that can have their own error.
  static let fields = [
    "file", "password", "app", "key_id", "team_id", "take", "made_by", "note", "app_key", "master_secret",
  ]
  /// The fields that come back filled in; never a secret.
  static let kept = ["key_id", "team_id", "take", "made_by", "note", "app_key"]

  var problem: String?
  /// What is asked for before the file can be read: no problem of the file.
  var question: String?
  var errors = FieldErrors()
  /// The held file.
  var locked: (uid: String, name: String)?

  /// Whether the form was sent and refused.
  var isRefused: Bool { problem != nil || question != nil || !errors.isEmpty }

  /// The choices for the app that a file belongs to.
  static func apps(_ apps: [App], chosen: String, _ texts: Texts) -> [ChoiceView] {
    ChoiceView.list([("", texts("certificates.no_app"))] + apps.map { (String($0.id), $0.name) }, chosen: chosen)
  }

  /// - Parameter form: the typed values.
  func view(_ apps: [App], _ form: Form, _ texts: Texts) -> CertificateUploadView {
    CertificateUploadView(state: self, form: form, apps: Self.apps(apps, chosen: form["app"], texts))
  }

  /// Inspects the uploaded file or the typed JPush keys.
  ///
  /// - Throws: ``Refusal``.
  static func inspect(_ page: PageContext) async throws -> (file: CertificateFile, brought: BroughtFile?) {
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

  /// The form for a file that does not open. The file is held if only the other fields are wrong.
  private static func refused(
    _ page: PageContext, _ brought: BroughtFile, _ problem: FileProblem
  ) async throws -> CertificateUploadForm {
    let text = page.texts.labelled(brought.name, page.texts.text(problem.problem))
    let isOpen = problem.isQuestion(page.form)
    var form = CertificateUploadForm(problem: isOpen ? nil : text, question: isOpen ? text : nil)
    let field = problem.problem.field
    // The script looks into a file before its password can be typed.
    guard field != "file", page.form["action"] != "look" else { return form }
    // The form's problem is shown at the top; the field says only what to do.
    form.errors.add(field, page.texts("certificates.\(field)_again"))
    form.locked = try await brought.wait(page).map { ($0, brought.name) }
    return form
  }

  /// Carries the form to show again.
  struct Refusal: Error {
    let form: CertificateUploadForm
    init(_ form: CertificateUploadForm) { self.form = form }
  }
}

/// The form, for `certificates/_upload`.
struct CertificateUploadView: View {
  let state: CertificateUploadForm
  let form: Form
  let apps: [ChoiceView]

  static let fields: [Field<CertificateUploadView>] =
    CertificateUploadForm.fields.map { name in
      .view(name) { view -> FieldView in
        let isKept = CertificateUploadForm.kept.contains(name)
        return FieldView(
          value: isKept ? view.form.raw(name) : "", error: view.state.errors[name],
          choices: name == "app" ? view.apps : [])
      }
    } + [
      .optional("problem") { $0.state.problem },
      .optional("question") { $0.state.question },
      .optional("back") { $0.form.filled("back") },
      .view("locked") { $0.state.locked.map { LockedFileView(uid: $0.uid, name: $0.name) } },
      .flag("shows_more") { $0.hasAny(["take", "made_by", "note"]) },
      .flag("shows_jpush") { $0.hasAny(["app_key", "master_secret"]) },
    ]

  private func hasAny(_ names: [String]) -> Bool {
    names.contains { form.filled($0) != nil || !state.errors[$0].isEmpty }
  }
}

extension FileProblem {
  /// Whether it only asks for a password that nobody has typed yet.
  func isQuestion(_ form: Form) -> Bool { self == .passwordNeeded && form.filled("password") == nil }
}
