import Foundation
import HTTPServer
import JSON
import Mustache
import OpenSSL
import Model
import Reactor
import SQLite
import Store

/// `/account`: the person's password and sessions, and API tokens for administrators.
enum AccountPages {
  static let views: [any PageView.Type] = [AccountView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/account") { page in try await show(page) }
    routes.page(.post, "/account/password", options: Route.Options(endsWithClient: true)) { page in
      try await changePassword(page)
    }
    routes.page(.post, "/account/sessions/end") { page in try await endSessions(page) }
    routes.page(.post, "/account/tokens", role: .admin) { page in try await makeToken(page) }
    routes.page(.post, "/account/tokens/:id/revoke", role: .admin) { page in try await revoke(page) }
  }

  private static let lifetimes = [30, 90, 365]

  /// What the page shows in addition to stored data.
  private struct Extra {
    var errors = FieldErrors()
    var newToken: NewTokenView?
  }

  private static func show(_ page: PageContext, _ extra: Extra = Extra()) async throws -> Response {
    guard let user = page.user, let own = page.session else { throw PageError(.forbidden, "csrf") }
    let texts = page.texts
    let isAdmin = page.may(.admin)
    let (sessions, tokens) = try await page.store.read { database in
      (try Session.all(database, user: user.id), isAdmin ? try APIToken.all(database) : [])
    }
    let facts = [
      FactView(texts("account.name"), user.name),
      FactView(texts("account.role"), texts("account.roles.\(user.role.rawValue)")),
      FactView(texts("account.since"), at: user.createdAt),
    ]
    let view = AccountView(
      email: user.name, facts: facts.compactMap { $0 },
      languages: page.console.locales.texts.values.sorted { $0.code < $1.code }.map {
        ChoiceView(value: $0.code, label: $0("layout.own_name"), isSelected: $0.code == texts.code)
      },
      newToken: extra.newToken, errors: extra.errors,
      sessions: sessions.map { session in
        SessionRow(
          session: session, publicID: publicID(session),
          browser: BrowserName.short(session.userAgent) ?? texts("account.unknown_browser"),
          isOwn: session.idHash == own.idHash)
      }, tokens: isAdmin ? tokensView(page, tokens, extra.errors) : nil)
    return page.answer(view, status: extra.errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func tokensView(_ page: PageContext, _ tokens: [APIToken], _ errors: FieldErrors) -> TokensView {
    let (form, texts) = (page.form, page.texts)
    let chosen = form.has("expires") ? form["expires"] : "90"
    let scopes = form.all("scopes").isEmpty ? ["operator"] : form.all("scopes")
    let expiries: [(days: String, label: String)] =
      lifetimes.map { (String($0), texts("account.days", ["count": String($0)])) } + [("", texts("account.for_ever"))]
    return TokensView(
      tokens: tokens.map { row($0, texts, now: page.now) },
      name: FieldView(value: form.raw("name"), error: errors["name"]),
      expires: FieldView(
        error: errors["expires"],
        choices: expiries.map { ChoiceView(value: $0.days, label: $0.label, isSelected: $0.days == chosen) }),
      scopes: FieldView(
        error: errors["scopes"],
        choices: User.Role.allCases.reversed().map {
          ChoiceView(
            value: $0.rawValue, label: texts("account.roles.\($0.rawValue)"), isSelected: scopes.contains($0.rawValue))
        }))
  }

  /// The start of the stored hash: it tells sessions apart and grants no access.
  private static func publicID(_ session: Session) -> String { Base64URL.encode(session.idHash.prefix(9)) }

  private static func row(_ token: APIToken, _ texts: Texts, now: Date) -> TokenRow {
    let isExpired = token.expiresAt.map { $0 <= now } ?? false
    let state = token.revokedAt != nil ? "revoked" : isExpired ? "expired" : "good"
    return TokenRow(
      token: token, scopes: token.scopes.map { texts("roles.\($0)") }, state: texts("account.\(state)"),
      isGood: state == "good", now: now)
  }

  // MARK: Password

  private static func changePassword(_ page: PageContext) async throws -> Response {
    guard let user = page.user, let session = page.session else { throw PageError(.forbidden, "csrf") }
    let current = page.form.raw("current")
    let hash = user.passwordHash.flatMap { PasswordHash($0) }
    let now = page.now
    // Counted per session: guesses at the sign-in form must not block a password change.
    let answer = try await page.store.write { database in
      try SignInThrottle.begin(database, [.session(session.idHash)], now: now)
    }
    var errors = FieldErrors()
    switch answer {
    case .wait(let seconds): errors.add("current", page.texts("session.slow", count: seconds))
    case .go(let attempt):
      let isRight: Bool
      do {
        isRight = try await page.hashing(isKnown: true) { hash?.verifies(current) ?? false }
      } catch {
        try await page.store.write { try SignInThrottle.takeBack($0, attempt) }
        throw error
      }
      if isRight {
        try await page.store.write { try SignInThrottle.succeeded($0, attempt) }
      } else {
        errors.add("current", page.texts("account.current_wrong"))
      }
    }
    let password: String
    do {
      password = try NewPassword.read(page.form, page.texts)
    } catch {
      for (field, texts) in error.byField { for text in texts { errors.add(field, text) } }
      return try await show(page, Extra(errors: errors))
    }
    guard errors.isEmpty else { return try await show(page, Extra(errors: errors)) }
    let parameters = page.console.configuration.passwordCost.parameters
    let text = try await page.hashing(isKnown: true) {
      try PasswordHash.make(password: password, parameters: parameters).text
    }
    let audit = page.audit("user.password", "user \(user.name)")
    try await page.store.write { database in
      try User.setPassword(database, id: user.id, hash: text, keepingSession: session.idHash)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/account", flash: "password_changed")
  }

  // MARK: Sessions

  private static func endSessions(_ page: PageContext) async throws -> Response {
    guard let user = page.user, let own = page.session else { throw PageError(.forbidden, "csrf") }
    let wanted = page.form["session"]
    try await page.store.write { database in
      for session in try Session.all(database, user: user.id) {
        let isMeant = wanted == "others" ? session.idHash != own.idHash : publicID(session) == wanted
        if isMeant { try Session.end(database, idHash: session.idHash) }
      }
    }
    return page.redirect(to: "/account", flash: "session_ended")
  }

  // MARK: Tokens

  private static func makeToken(_ page: PageContext) async throws -> Response {
    let name = page.form["name"]
    let scopes = page.form.all("scopes").compactMap(User.Role.init)
    let days = page.form.filled("expires").flatMap(Int.init)
    var errors = FieldErrors()
    if name.isEmpty {
      errors.add("name", page.texts.text(Problem("name", FieldMessage.required)))
    } else if let problem = AppName.problem(withName: name) {
      errors.add("name", page.texts.text(problem))
    }
    if scopes.isEmpty { errors.add("scopes", page.texts("account.scope_none")) }
    if page.form.filled("expires") != nil, days.map(lifetimes.contains) != true {
      errors.add("expires", page.texts("account.expires_hint"))
    }
    guard errors.isEmpty else { return try await show(page, Extra(errors: errors)) }
    let value = Secret.apiToken()
    let (user, now) = (page.user?.id, page.now)
    let audit = page.audit(
      "token.create", "token \(name)", ["scopes": .array(scopes.map { .string($0.rawValue) })])
    try await page.store.write { database in
      try APIToken.add(
        database, name: name, hash: Secret.hash(value), scopes: scopes.map(\.rawValue), user: user,
        expiresAt: days.map { now.addingTimeInterval(Double($0) * 86_400) }, now: now)
      try AuditEntry.add(database, audit, now: now)
    }
    return try await show(page, Extra(newToken: NewTokenView(name: name, value: value, address: page.address)))
  }

  private static func revoke(_ page: PageContext) async throws -> Response {
    let (id, now) = (try page.id(), page.now)
    let audit = page.audit("token.revoke", "token \(id)")
    try await page.store.write { database in
      try APIToken.revoke(database, id: id, now: now)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/account", flash: "token_revoked")
  }
}

/// The browser's name from its `User-Agent`, for the list of sessions.
enum BrowserName {
  static func short(_ agent: String?) -> String? {
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
    return system.map { "\(browser), \($0)" } ?? browser
  }
}
