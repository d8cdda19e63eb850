import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/settings/oidc`: sign-in with a provider of OpenID Connect.
enum OIDCSettingsPage {
  static let views: [any PageView.Type] = [OIDCSettingsView.self]

  private static let path = "/settings/oidc"

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, path, role: .admin) { page in try await show(page) }
    routes.page(.post, path, role: .admin, proof: true, save)
    routes.page(.post, "\(path)/test", role: .admin) { page in
      guard let known = try await stored(page).settings else { throw PageError(.badRequest, "refused") }
      let result = try await test(page, known)
      return try page.shown(at: path) { page in try await show(page, test: result) }
    }
  }

  private struct Stored: Sendable {
    let settings: OIDCSettings?
    let hasSecret: Bool
    /// Whether the key cannot open the secret.
    let isClosed: Bool
  }

  private static func stored(_ page: PageContext) async throws -> Stored {
    let sealer = page.store.sealer
    return try await page.store.read { database in
      Stored(
        settings: try OIDCSettings.load(database), hasSecret: try OIDCSettings.hasSecret(database),
        isClosed: try OIDCSettings.hasClosedSecret(database, sealer))
    }
  }

  private static func show(
    _ page: PageContext, _ form: Form? = nil, _ errors: FieldErrors = FieldErrors(), test: TestResult? = nil
  ) async throws -> Response {
    let (texts, stored) = (page.texts, try await stored(page))
    let saved = Self.form(stored.settings)
    let form = form ?? saved.with(Revision(saved))
    return page.answer(
      OIDCSettingsView(
        form: form, errors: errors, hasSecret: stored.hasSecret, isClosed: stored.isClosed,
        canTest: stored.settings != nil,
        redirect: OIDCPages.redirectAddress(page),
        admissions: OIDCSettings.Admission.allCases.map {
          ChoiceView(
            value: $0.rawValue, label: texts("oidc_settings.admissions.\($0.rawValue)"),
            isSelected: $0.rawValue == form["admission"])
        },
        roles: ChoiceView.roles(texts, chosen: form["new_role"]).filter { $0.value != User.Role.admin.rawValue },
        test: test), status: errors.status)
  }

  private static func form(_ known: OIDCSettings?) -> Form {
    let settings = known ?? OIDCSettings()
    var fields = [
      ("issuer", settings.issuer), ("client_id", settings.clientID), ("label", settings.label),
      ("scopes", settings.scopes.joined(separator: " ")), ("admission", settings.admission.rawValue),
      ("domains", Form.parts(settings.domains)), ("new_role", settings.newRole.rawValue),
      ("role_claim", settings.roleClaim ?? ""),
      ("role_rules", settings.roleRules.map(\.text).joined(separator: "\n")),
    ]
    if settings.isOn { fields.append(("on", "yes")) }
    if settings.allowsPasswords { fields.append(("passwords", "yes")) }
    return Form(fields)
  }

  private static func save(_ page: PageContext) async throws -> Response {
    let form = page.form
    var typed = OIDCForm()
    typed.isOn = form["on"] == "yes"
    (typed.issuer, typed.clientID) = (form["issuer"], form["client_id"])
    // An empty field keeps the stored secret.
    typed.clientSecret = form.raw("client_secret").isEmpty ? nil : form.raw("client_secret")
    typed.label = form["label"]
    typed.scopes = form.words("scopes")
    typed.admission = OIDCSettings.Admission(rawValue: form["admission"]) ?? .invited
    typed.domains = form.words("domains")
    typed.newRole = User.Role(rawValue: form["new_role"]) ?? .viewer
    typed.roleClaim = form.filled("role_claim")
    typed.roleRules = form.raw("role_rules").split(separator: "\n").map(String.init)
    typed.allowsPasswords = form["passwords"] == "yes"
    do {
      try await page.store.write { [typed] database in
        _ = try typed.save(database, for: page) { stored, settings in
          try Revision(Self.form(stored)).check(form, saving: Revision(Self.form(settings)))
        }
      }
    } catch let error as Revision.Overtaken {
      let errors = try await page.overtaken("settings.oidc", "settings oidc")
      return try await show(page, form.with(error.stored), errors)
    } catch let problems as Problems {
      return try await show(page, form, FieldErrors(problems, page.texts))
    } catch let mismatch as SealingMismatch {
      var errors = FieldErrors()
      errors.add("client_secret", page.texts.text(mismatch))
      return try await show(page, form, errors)
    }
    page.console.oidc.forget()
    return page.redirect(to: path, flash: "settings_saved")
  }

  /// Asks the provider for its documents.
  private static func test(_ page: PageContext, _ settings: OIDCSettings) async throws -> TestResult {
    let texts = page.texts
    try await page.note(page.audit("settings.oidc_test", "settings oidc", ["issuer": .string(settings.issuer)]))
    do {
      let metadata = try await page.console.oidc.metadata(settings.issuer, isFresh: true, now: page.now)
      return TestResult(isGood: true, text: texts("oidc_settings.test_good"), answer: metadata.authorization)
    } catch let problem as Problem {
      return TestResult(isGood: false, text: texts("oidc_settings.test_bad"), answer: texts.text(problem))
    }
  }
}

struct OIDCSettingsView: PageView {
  static let template = "settings/oidc"
  static let section: Section? = .settings

  let form: Form
  let errors: FieldErrors
  /// Whether a secret is saved.
  let hasSecret: Bool
  /// Whether the key cannot open the saved secret.
  let isClosed: Bool
  let canTest: Bool
  /// To be registered at the provider.
  let redirect: String
  let admissions: [ChoiceView]
  let roles: [ChoiceView]
  let test: TestResult?

  static let fields: [Field<OIDCSettingsView>] = typed + others

  private static let texts = ["issuer", "client_id", "label", "scopes", "domains", "role_claim", "role_rules"]
  private static let named = texts + ["client_secret", "admission", "new_role", "on", "passwords"]

  /// Fields filled in as submitted.
  private static var typed: [Field<OIDCSettingsView>] {
    texts.map { name in
      .view("oidc_\(name)") { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
    }
  }

  private static let others: [Field<OIDCSettingsView>] = [
    .optional("problem") { $0.errors.others(named) },
    .optional("revision") { $0.form.filled(Revision.field) },
    .view("client_secret") { FieldView(error: $0.errors["client_secret"]) },
    .flag("has_secret") { $0.hasSecret },
    .flag("secret_closed") { $0.isClosed },
    .view("admission") { FieldView(error: $0.errors["admission"], choices: $0.admissions) },
    .view("new_role") { FieldView(error: $0.errors["new_role"], choices: $0.roles) },
    .view("on") { FieldView(isChecked: $0.form["on"] == "yes") },
    .view("passwords") { FieldView(isChecked: $0.form["passwords"] == "yes") },
    .text("passwords_error") { $0.errors["passwords"] },
    .flag("can_test") { $0.canTest },
    .text("redirect") { $0.redirect },
    .view("test") { $0.test },
  ]
}
