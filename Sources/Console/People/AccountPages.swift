import Foundation
import HTTPServer
import JSON
import Mustache
import OpenSSL
import Model
import Reactor
import SQLite
import Store

/// `/account`: the person's password and sessions.
enum AccountPages {
  static let views: [any PageView.Type] = [AccountView.self] + SecondStepPages.views

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/account") { page in try await show(page) }
    routes.page(.post, "/account/password", options: Route.Options(endsWithClient: true), changePassword)
    routes.page(.post, "/account/sessions/end", proof: true, endSessions)
  }

  static func show(_ page: PageContext, errors: FieldErrors) async throws -> Response { try await show(page, errors) }

  private static func show(
    _ page: PageContext, _ errors: FieldErrors = FieldErrors(), wait: Int? = nil
  ) async throws -> Response {
    let (user, own) = try page.signedIn()
    let texts = page.texts
    let (person, passkeys, sessions) = try await page.store.read { database in
      (
        try Person.get(database, id: user.id), try Passkey.all(database, user: user.id),
        try Session.all(database, user: user.id)
      )
    }
    let (identities, allowsPasswords) = try await page.store.read { database in
      (try Identity.all(database, user: user.id), try OIDCSettings.allowsPasswords(database))
    }
    let facts =
      [
        FactView(texts("account.name"), user.name),
        FactView(texts("account.role"), texts("account.roles.\(user.role.rawValue)")),
        FactView(texts("account.since"), at: user.createdAt),
      ] + identities.map { FactView(texts("people.provider"), $0.issuer, isMono: true) }
    let view = AccountView(
      email: user.name, facts: facts.compactMap { $0 },
      languages: page.console.locales.texts.values.sorted { $0.code < $1.code }.map {
        ChoiceView(value: $0.code, label: $0("layout.own_name"), isSelected: $0.code == texts.code)
      },
      hasPassword: user.passwordHash != nil && allowsPasswords, hasAuthenticator: person.hasAuthenticator,
      passkeys: PasskeysView(user: user, passkeys: passkeys, error: errors["passkey"], now: page.now),
      errors: errors,
      sessions: sessions.map { session in
        SessionRow(session: session, texts: texts, isOwn: session.idHash == own.idHash, now: page.now)
      })
    let status: Status = wait != nil ? .tooManyRequests : errors.status
    return page.answer(view, status: status, retryAfter: wait)
  }

  // MARK: Password

  private static func changePassword(_ page: PageContext) async throws -> Response {
    let (user, session) = try page.signedIn()
    var errors = FieldErrors()
    let refusal = try await ProofGate.refusal(page, password: page.form.raw("current"))
    if let refusal {
      errors.add("current", refusal.text)
      try await page.note(refusal, of: user, step: "password")
    }
    let password: String
    do {
      password = try await NewPassword.read(page, name: user.name)
    } catch let error as FieldErrors {
      for (field, texts) in error.byField { for text in texts { errors.add(field, text) } }
      return try await show(page, errors, wait: refusal?.wait)
    }
    guard errors.isEmpty else { return try await show(page, errors, wait: refusal?.wait) }
    // Last, because a code works once.
    if try await page.store.read({ try Authenticator.isOn($0, user: user.id) }),
      let refusal = try await SecondStepCheck.refusal(page, user, typed: page.form.raw("code"))
    {
      errors.add("code", refusal.text)
      try await page.note(refusal, of: user, step: "password")
      return try await show(page, errors, wait: refusal.wait)
    }
    let hash = try await page.newHash(of: password)
    try await page.store.write { database in
      try User.setPassword(database, id: user.id, hash: hash, keepingSession: session.idHash)
      try page.record(database, "user.password", "user \(user.name)")
    }
    return page.redirect(to: "/account", flash: "password_changed")
  }

  // MARK: Sessions

  private static func endSessions(_ page: PageContext) async throws -> Response {
    let (user, own) = try page.signedIn()
    let wanted = page.form["session"]
    try await page.store.write { database in
      let meant = try Session.all(database, user: user.id).filter {
        wanted == "others" ? $0.idHash != own.idHash : $0.publicID == wanted
      }
      guard !meant.isEmpty else { return }
      for session in meant { try Session.end(database, idHash: session.idHash) }
      try page.record(
        database, "session.end", "user \(user.name)", ["addresses": .array(meant.map { .optional($0.address) })])
    }
    return page.redirect(to: "/account", flash: "session_ended")
  }
}

/// The browser's name from its `User-Agent`, for the list of sessions.
enum BrowserName {
  static func short(_ agent: String?, between words: String = ", ") -> String? {
    guard let agent, !agent.isEmpty else { return nil }
    // Later browsers also name the earlier ones in their `User-Agent`: the order matters.
    let browsers = [
      ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    let systems = [
      ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS X", "macOS"),
      ("Linux", "Linux"),
    ]
    let browser = browsers.first { agent.contains($0.0) }?.1
    let system = systems.first { agent.contains($0.0) }?.1
    guard let browser else { return String(agent.prefix { $0 != "/" && $0 != " " }.prefix(40)) }
    return system.map { browser + words + $0 } ?? browser
  }
}
