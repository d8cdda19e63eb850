import Foundation
import HTTPServer
import JSON
import Mail
import Mustache
import Model
import Reminders
import Store

enum MailSettingsPage {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/mail", role: .admin) { page in try await show(page) }
    routes.page(.post, "/settings/mail", role: .admin, proof: true, save)
    routes.page(.post, "/settings/mail/test", role: .admin, test)
  }

  private static func known(_ page: PageContext) async throws -> MailSettings? {
    let sealer = page.store.sealer
    return try await page.store.read { try MailSettings.load($0, sealer: sealer) }
  }

  private static func show(_ page: PageContext) async throws -> Response {
    let known = try await known(page)
    return show(page, known, opened(known), FieldErrors())
  }

  private static func opened(_ known: MailSettings?) -> Form {
    let form = form(known)
    return form.with(Revision(form))
  }

  private static func form(_ known: MailSettings?) -> Form {
    let server = known?.server
    return Form([
      ("host", server?.host ?? ""), ("port", server.map { String($0.port) } ?? ""),
      ("security", (server?.security ?? .startTLS).rawValue), ("user", server?.user ?? ""),
      ("from", known?.from.address ?? ""), ("from_name", known?.from.name ?? "Signalbox"),
      ("trust", server?.trustPEM ?? ""),
    ])
  }

  private static func show(
    _ page: PageContext, _ known: MailSettings?, _ form: Form, _ errors: FieldErrors, _ test: TestResult? = nil
  ) -> Response {
    let texts = page.texts
    return page.answer(
      MailSettingsView(
        form: form, errors: errors,
        securities: SMTPServer.Security.allCases.map {
          ChoiceView(
            value: $0.rawValue, label: texts("settings.security.\($0.rawValue)"),
            isSelected: $0.rawValue == form["security"])
        }, hasPassword: known?.server.password != nil, canTest: known != nil,
        links: page.console.configuration.address == nil
          ? texts("settings.links", ["address": page.console.courier.address ?? page.address]) : "",
        to: page.form.has("to") ? page.form["to"] : page.user.flatMap { MailAddress($0.name)?.address } ?? "",
        test: test), status: errors.status)
  }

  private static func save(_ page: PageContext) async throws -> Response {
    let form = page.form
    var typed = MailForm()
    typed.host = form["host"]
    typed.port = form["port"].isEmpty ? nil : Int(form["port"]) ?? 0
    typed.security = SMTPServer.Security(rawValue: form["security"]) ?? .startTLS
    typed.user = form.filled("user")
    // An empty field keeps the stored password.
    typed.password = form.raw("password").isEmpty ? nil : form.raw("password")
    (typed.from, typed.fromName) = (form["from"], form["from_name"])
    typed.trust = form.filled("trust")
    let (wanted, sealer) = (typed, page.store.sealer)
    do {
      try await page.store.write { database in
        let stored = try MailSettings.load(database, sealer: sealer)
        let settings = try wanted.settings(stored)
        try Revision(Self.form(stored)).check(form, saving: Revision(Self.form(settings)))
        try settings.keep(database, for: page)
      }
    } catch let problems as Problems {
      return show(page, try await known(page), form, FieldErrors(problems, page.texts))
    } catch let error as Revision.Overtaken {
      let errors = try await page.overtaken("settings.mail", "settings mail")
      return show(page, try await known(page), form.with(error.stored), errors)
    }
    return page.redirect(to: "/settings/mail", flash: "settings_saved")
  }

  private static func test(_ page: PageContext) async throws -> Response {
    let known = try await known(page)
    var problems: [Problem] = []
    if MailAddress(page.form["to"]) == nil { problems.append(MailForm.badAddress("to")) }
    if known == nil { problems.append(MailForm.notSetUp) }
    let errors = problems.isEmpty ? FieldErrors() : FieldErrors(Problems(problems), page.texts)
    guard errors.isEmpty else { return show(page, known, opened(known), errors) }
    let to = Receiver.Secrets(address: page.form["to"])
    let (isGood, answer) = await ReceiverPages.attempt(page, .email, to, language: page.texts.code, mail: known)
    try await page.note(page.audit("settings.mail_test", "settings mail", ["to": .string(to.address)]))
    let text = page.texts(isGood ? "settings.test_good" : "settings.test_bad", ["to": to.address])
    let result = TestResult(isGood: isGood, text: text, answer: answer)
    return try page.shown(at: "/settings/mail") { page in show(page, known, opened(known), FieldErrors(), result) }
  }
}
