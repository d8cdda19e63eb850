import Foundation
import HTTPServer
import JSON
import Logging
import Model
import OpenSSL
import Reactor
import SQLite
import Store

/// Sign-in with a provider of OpenID Connect: authorization code with PKCE (OpenID Connect Core 1.0 §3.1, RFC 7636).
enum OIDCPages {
  static let start = "/session/oidc"
  /// Registered at the provider, below the console's address.
  static let callback = "/session/oidc/callback"
  static let confirm = "/session/oidc/confirm"

  static func add(to routes: inout ConsoleRouter) {
    // Links, not forms: the page's policy lets no form lead to another site (`form-action`).
    routes.open(.get, start) { page in
      let returnTo = SessionPages.ownPath(page.query["return"])
      if page.user != nil { return .redirect(to: returnTo) }
      return try await leave(page, OIDCFlow(returnTo: returnTo, now: page.now))
    }
    routes.page(.get, confirm) { page in
      let session = try page.signedIn().session
      let returnTo = SessionPages.ownPath(page.query["return"])
      return try await leave(page, OIDCFlow(returnTo: returnTo, session: name(of: session), now: page.now))
    }
    routes.open(.get, callback, options: Route.Options(endsWithClient: true)) { page in
      var response = try await comeBack(page)
      // The code is in the address.
      response.headers.append("Referrer-Policy", "no-referrer")
      return response
    }
  }

  static func redirectAddress(_ page: PageContext) -> String { page.address + callback }

  /// Names a session in a cookie without giving away more of it.
  private static func name(of session: Session) -> String { Base64URL.encode(Digest.sha256(session.idHash)) }

  /// Sends the browser to the provider.
  private static func leave(_ page: PageContext, _ flow: OIDCFlow) async throws -> Response {
    do {
      let settings = try await settings(page)
      let metadata = try await page.console.oidc.metadata(settings.issuer, now: page.now)
      let cookie = flow.cookie
      let state = page.console.tickets.make(OIDCFlow.purpose(cookie), now: page.now)
      var response = Response.redirect(
        to: flow.address(metadata, settings, redirect: redirectAddress(page), state: state))
      Cookies.set(Cookies.oidc, cookie, age: Int(OIDCFlow.lifetime), on: &response, page.request)
      return response
    } catch let problem as Problem {
      // Not noted: strangers could fill the log.
      return try await tell(page, flow, problem)
    }
  }

  /// - Throws: a `Problem` if it is off, or the secret cannot be opened.
  private static func settings(_ page: PageContext) async throws -> OIDCSettings {
    let sealer = page.store.sealer
    let found = try await page.store.read { database -> (OIDCSettings?, isClosed: Bool) in
      let known = try OIDCSettings.load(database)
      guard known != nil else { return (nil, false) }
      let opened = try Sealing.opened { try OIDCSettings.load(database, sealer: sealer) }
      return (opened ?? known, opened == nil)
    }
    guard let settings = found.0, settings.isOn else { throw Problem("", OIDCMessage.off) }
    if found.isClosed { throw Problem("", OIDCMessage.closed) }
    return settings
  }

  /// The browser is back with a code or an error.
  private static func comeBack(_ page: PageContext) async throws -> Response {
    let now = page.now
    let cookie = Cookies.value(Cookies.oidc, of: page.request) ?? ""
    let begun = OIDCFlow(cookie: cookie)
    // Before anything else: what others make up is neither shown nor sent on. Nor does it count as an attempt, because an
    // image on any page makes browsers ask for this address.
    guard let flow = begun,
      page.console.tickets.redeem(
        page.query["state"] ?? "", OIDCFlow.purpose(cookie), lifetime: OIDCFlow.lifetime, now: now)
    else {
      await page.console.noteRefusal(
        ofStranger: page.audit("session.refused", "user \(page.user?.name ?? "unknown")"), page.request,
        .unprocessableContent, OIDCMessage.state.code, now: now)
      return try await tell(page, begun, Problem("", OIDCMessage.state))
    }
    var response = try await finish(page, flow)
    Cookies.set(Cookies.oidc, "", age: 0, on: &response, page.request)
    return response
  }

  /// The browser is back from a sign-in that began here.
  private static func finish(_ page: PageContext, _ flow: OIDCFlow) async throws -> Response {
    let (now, subjects) = (page.now, SignInThrottle.subjects(address: page.request.remoteAddress))
    let attempt: SignInThrottle.Attempt
    switch try await page.store.write({ try SignInThrottle.begin($0, subjects, now: now) }) {
    case .go(let counted): attempt = counted
    case .wait(let seconds): return try await SessionPages.tooOften(page, seconds, returnTo: "/")
    }
    do {
      let settings = try await settings(page)
      let person = try await person(page, flow, settings)
      let response =
        flow.session == nil
        ? try await enter(page, person, settings, flow) : try await prove(page, person, settings, flow)
      try await page.store.write { try SignInThrottle.takeBack($0, attempt) }
      return response
    } catch let problem as Problem {
      let name = page.user?.name ?? problem.arguments["email"].map { String($0.prefix(255)) } ?? "unknown"
      // The code and what it is about: pages in any language show the log.
      var detail = problem.arguments.filter { !["email", "known"].contains($0.key) }
      (detail["step"], detail["reason"]) = (isConfirming(page, flow) ? "confirm" : "OIDC", problem.code)
      try await page.note(page.audit("session.refused", "user \(name)", .object(detail.mapValues { .string($0) })))
      return try await tell(page, flow, problem)
    } catch {
      // The console failed, not the person, or the browser went away before the provider had an answer.
      try await page.store.write { try SignInThrottle.takeBack($0, attempt) }
      throw error
    }
  }

  /// The person in the provider's answer.
  private static func person(
    _ page: PageContext, _ flow: OIDCFlow, _ settings: OIDCSettings
  ) async throws -> OIDCPerson {
    let metadata = try await page.console.oidc.metadata(settings.issuer, now: page.now)
    // RFC 9207: an answer of another provider must not be exchanged here.
    let issuer = page.query["iss"]
    guard issuer == settings.issuer || (issuer == nil && !metadata.namesIssuer) else {
      throw Problem("", OIDCMessage.mixUp)
    }
    if let error = page.query["error"] {
      if ["access_denied", "login_required", "consent_required"].contains(error) {
        throw Problem("", OIDCMessage.denied)
      }
      throw Problem(
        "", OIDCMessage.refused, ["error": OIDCFlow.words(error, page.query["error_description"]) ?? "error"])
    }
    guard let code = page.query["code"], !code.isEmpty else { throw Problem("", OIDCMessage.state) }
    return try await page.console.oidc.person(
      code: code, flow: flow, redirect: redirectAddress(page), settings: settings,
      signedInSince: flow.session == nil ? nil : flow.startedAt, now: page.now)
  }

  private static func enter(
    _ page: PageContext, _ person: OIDCPerson, _ settings: OIDCSettings, _ flow: OIDCFlow
  ) async throws -> Response {
    let user = try await page.store.write { database in
      try database.transaction {
        try Identity.admit(database, person, settings, address: page.clientAddress, now: page.now)
      }
    }
    guard let claim = settings.roleClaim, person.leavesValuesOut else {
      return try await SessionPages.enter(page, user, returnTo: flow.returnTo, with: "OIDC", .provider)
    }
    let problem = Problem("", OIDCMessage.valuesLeftOut, ["claim": claim, "role": user.role.rawValue])
    page.console.log.warning(problem.text, ["person": user.name])
    return try await SessionPages.enter(
      page, user, returnTo: flow.returnTo, with: "OIDC", .provider, flash: "oidc_values_left_out",
      noting: ["reason": "claim left out", "claim": .string(claim), "role": .string(user.role.rawValue)])
  }

  /// The signed-in person has signed in at the provider once more.
  private static func prove(
    _ page: PageContext, _ person: OIDCPerson, _ settings: OIDCSettings, _ flow: OIDCFlow
  ) async throws -> Response {
    guard case .user(let user, let session)? = page.principal, flow.session == name(of: session) else {
      throw Problem("", OIDCMessage.state)
    }
    let known = session.secondStep
    let isSame = try await page.store.write { database in
      guard try Identity.find(database, issuer: settings.issuer, subject: person.subject)?.userID == user.id else {
        return false
      }
      try page.record(database, "session.confirm", "user \(user.name)", ["with": "OIDC"])
      return true
    }
    guard isSame else { throw Problem("", OIDCMessage.otherPerson) }
    var response = page.redirect(to: flow.returnTo, flash: "confirmed")
    // A code or passkey of before is worth more.
    try await page.console.authentication.renew(
      session, SessionRenewal.Proof(secondStep: known ?? .provider), page.request, on: &response, now: page.now)
    return response
  }

  /// Whether the signed-in person wanted to confirm who is there.
  private static func isConfirming(_ page: PageContext, _ flow: OIDCFlow?) -> Bool {
    page.user != nil && flow.map { $0.session != nil } ?? true
  }

  /// Says why, on the page from which it began.
  private static func tell(_ page: PageContext, _ flow: OIDCFlow?, _ problem: Problem) async throws -> Response {
    let (text, returnTo) = (page.texts.text(problem), flow?.returnTo ?? "/")
    guard !isConfirming(page, flow) else {
      return try await ProofGate.ask(page, returnTo: returnTo, problem: ProofGate.Refusal(text: text))
    }
    return try await SessionPages.signInPage(page, returnTo: returnTo, problem: text, status: .unprocessableContent)
  }
}
