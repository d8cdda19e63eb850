import Foundation
import HTTPServer
import Mustache
import OpenSSL
import Push
import Reactor
import SQLite
import Store

/// `/account`: one's own password and sessions; for administrators the API's tokens.
enum AccountPages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/account") { page in try await show(page) }
    routes.page(.post, "/account/password", options: Route.Options(endsWithClient: true)) { page in
      try await changePassword(page)
    }
    routes.page(.post, "/account/sessions/end") { page in try await endSessions(page) }
    routes.page(.post, "/account/tokens", role: .admin) { page in try await makeToken(page) }
    routes.page(.post, "/account/tokens/:id/revoke", role: .admin) { page in try await revoke(page) }
  }

  private static let fields = ["current", "password", "repeat", "name", "expires", "scopes"]
  private static let lifetimes = [30, 90, 365]

  /// What a page shows beside what is kept.
  private struct Extra {
    var errors = FieldErrors()
    var newToken: (name: String, value: String)?
  }

  private static func show(_ page: PageContext, _ extra: Extra = Extra()) async throws -> Response {
    guard let user = page.user, let own = page.session else { throw PageError(.forbidden, "csrf") }
    let texts = page.texts
    let isAdmin = page.may(.admin)
    let now = page.now
    let (sessions, tokens) = try await page.store.read { database in
      (try Session.all(database, user: user.id), isAdmin ? try APIToken.all(database) : [])
    }
    let facts = [
      ("name", user.name), ("role", texts("account.roles.\(user.role.rawValue)")), ("since", user.createdAt.utcText),
    ]
    let errors = extra.errors
    return try page.page(
      "account/show", nil,
      [
        "email": .string(user.name),
        "facts": .list(
          facts.map { ["label": .string(texts("account.\($0)")), "value": .string($1)] }),
        "new_token": extra.newToken.map { newToken($0.name, $0.value, page) } ?? false,
        "problem": .string(errors["account"]), "token_problem": .string(errors["token"]),
        "errors": errors.value(fields), "form": page.form.value(["name"]),
        "any_others": .bool(sessions.count > 1),
        "sessions": .list(sessions.map { session($0, isOwn: $0.idHash == own.idHash, texts) }), "admin": .bool(isAdmin),
        "any_tokens": .bool(!tokens.isEmpty), "tokens": .list(tokens.map { token($0, texts, now: now) }),
        "expiries": .options(
          lifetimes.map { (String($0), texts("account.days", ["count": String($0)])) }
            + [("", texts("account.for_ever"))], selected: page.form.has("expires") ? page.form["expires"] : "90"),
        "all_scopes": .choices(
          User.Role.allCases.reversed().map { ($0.rawValue, texts("account.roles.\($0.rawValue)")) },
          checked: page.form.all("scopes").isEmpty ? ["operator"] : page.form.all("scopes")),
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func newToken(_ name: String, _ value: String, _ page: PageContext) -> Value {
    let address = page.address
    return [
      "name": .string(name), "value": .string(value),
      "curl": .string("curl --header 'Authorization: Bearer \(value)' '\(address)/api/v1/apps'"),
    ]
  }

  private static func session(_ session: Session, isOwn: Bool, _ texts: Texts) -> Value {
    let browser = BrowserName.short(session.userAgent) ?? texts("account.unknown_browser")
    let seen = Value.instant(session.seenAt)
    let address = session.address ?? ""
    return [
      "id": .string(publicID(session)), "browser": .string(browser), "address": .string(address),
      "current": .bool(isOwn),
      "since": .string(texts("account.since_text", ["date": session.createdAt.utcText])), "seen": seen.datetime,
      "seen_text": seen.text,
      "end_label": .string(texts("account.end_label", ["browser": browser, "address": address])),
    ]
  }

  /// The beginning of the hash: enough to tell one's sessions apart, and worth nothing to anybody.
  private static func publicID(_ session: Session) -> String { Base64URL.encode(session.idHash.prefix(9)) }

  private static func token(_ token: APIToken, _ texts: Texts, now: Date) -> Value {
    let isExpired = token.expiresAt.map { $0 <= now } ?? false
    let state = token.revokedAt != nil ? "revoked" : isExpired ? "expired" : "good"
    let created = Value.instant(token.createdAt)
    return [
      "id": .integer(token.id), "name": .string(token.name),
      "scopes": .list(token.scopes.map { ["name": .string(texts("roles.\($0)"))] }), "created": created.datetime,
      "created_text": created.text, "last_used": .string(texts.ago(token.lastUsedAt, now: now)),
      "expires": .string(token.expiresAt?.utcText ?? texts("account.for_ever")),
      "state": .string(state == "good" ? "active" : "dead"), "state_text": .string(texts("account.\(state)")),
      "good": .bool(state == "good"), "revoke_label": .string(texts("account.revoke_label", ["name": token.name])),
    ]
  }

  // MARK: Password

  private static func changePassword(_ page: PageContext) async throws -> Response {
    guard let user = page.user, let session = page.session else { throw PageError(.forbidden, "csrf") }
    let current = page.form.raw("current")
    let hash = user.passwordHash.flatMap { PasswordHash($0) }
    let now = page.now
    // A counter of the session's own: who guesses at the sign-in does not keep anybody from changing a password.
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
    return try await show(page, Extra(newToken: (name, value)))
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

/// A browser's name out of its `User-Agent`, for people who look through their sessions.
enum BrowserName {
  static func short(_ agent: String?) -> String? {
    guard let agent, !agent.isEmpty else { return nil }
    // Each names those before it as well: the order matters.
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
