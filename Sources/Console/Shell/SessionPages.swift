import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import OpenSSL
import Reactor
import SQLite
import Store

/// Sign-in, sign-out, and the one-time link that sets a password.
enum SessionPages {
  static let views: [any PageView.Type] = [SignInView.self, SetupView.self] + ProofGate.views

  static func add(to routes: inout ConsoleRouter) {
    routes.open(.get, "/session/new") { page in
      let returnTo = ownPath(page.query["return"])
      return page.user == nil ? try await signInPage(page, returnTo: returnTo) : .redirect(to: returnTo)
    }
    let console = routes.console
    // Asked by pages that are open: `Public/js/session.js`.
    routes.plain(.get, "/session/left") { request in
      let seconds = try await console.authentication.left(request, now: console.clock())
      return APIContext.answer { json in json.member("seconds", seconds) }
    }
    // Sent by a page that leaves because its session has ended: what was typed and not sent.
    let address = PublicAddress(console.configuration.address)
    routes.plain(.post, "/session/kept", name: "kept") { request in
      let (page, action) = (ownPath(request.queryItems["page"]), ownPath(request.queryItems["action"]))
      let kept = try await KeptForm.keep(
        request, path: SessionPages.address(page), action: action, console, address, now: console.clock())
      return APIContext.answer { json in json.member("page", kept) }
    }
    // Skips the password check if the client has disconnected.
    let options = Route.Options(endsWithClient: true)
    routes.open(.post, "/session", options: options, signIn)
    routes.open(.get, SetupLink.page) { page in try await setUpPage(page, token: page.query["token"]) }
    // The token of an address with a fragment, which only the browser knows.
    routes.open(.post, "/session/link") { page in try await setUpPage(page, token: page.form["token"]) }
    routes.open(.post, SetupLink.page, options: options, setUp)
    LanguagePages.add(to: &routes)
    addCode(to: &routes)
    ProofGate.add(to: &routes)
    routes.page(.post, "/session/end") { page in
      if let session = page.session {
        try await page.store.write { database in
          try Session.end(database, idHash: session.idHash)
          try page.record(database, "session.close", "user \(page.actor)")
        }
      }
      var response = Response.redirect(to: "/session/new")
      Cookies.set(Cookies.session, "", age: 0, on: &response, page.request)
      // What scripts keep, such as drafts. Not the cache: pages are never in it, and style sheets hold no secrets.
      response.headers.append("Clear-Site-Data", "\"storage\"")
      return response
    }
  }

  /// Returns the path if it belongs to this console, so that a crafted link cannot redirect elsewhere.
  static func ownPath(_ text: String?) -> String {
    guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), !text.hasPrefix("/\\"),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") })
    else { return "/" }
    return text
  }

  /// The page whose form was posted; the Overview if the browser does not tell.
  static func postedPage(_ request: Request, _ base: BasePath) -> String {
    guard let referer = request.header("Referer").flatMap(URLComponents.init(string:)) else { return "/" }
    return ownPath(
      base.served.stripped(referer.percentEncodedPath) + (referer.percentEncodedQuery.map { "?" + $0 } ?? ""))
  }

  // MARK: Sign-in

  static func signInPage(
    _ page: PageContext, returnTo: String, problem: String? = nil, status: Status = .ok, retryAfter: Int? = nil
  ) async throws -> Response {
    let provider = try await page.store.read { try OIDCSettings.load($0) }.flatMap { $0.isOn ? $0 : nil }
    let link = provider.map {
      LinkView(href: "\(OIDCPages.start)?return=\(ConsoleRouter.escaped(returnTo))", label: $0.label)
    }
    return page.answer(
      SignInView(
        problem: problem, notice: notice(page), returnTo: returnTo, email: page.form["email"], provider: link,
        allowsPasswords: provider?.allowsPasswords ?? true), status: status, retryAfter: retryAfter,
      language: .at("/session/new" + (returnTo == "/" ? "" : "?return=\(ConsoleRouter.escaped(returnTo))")))
  }

  /// Says how long to wait. The attempt was not looked at; such attempts are counted in the activity log.
  static func tooOften(
    _ page: PageContext, _ seconds: Int, of account: String = "unknown", returnTo: String
  ) async throws -> Response {
    let entry = page.audit("session.refused", "user \(account.prefix(255))")
    await page.noteTooOften(entry)
    return try await signInPage(
      page, returnTo: returnTo, problem: page.texts("session.slow", count: seconds), status: .tooManyRequests,
      retryAfter: seconds)
  }

  /// Why a page was left for this one.
  private static func notice(_ page: PageContext) -> String? {
    switch page.request.query == nil ? nil : page.query["why"] {
    case "ended": page.texts("session.ended")
    case "kept": page.texts("session.ended_kept")
    case "lost": page.texts("session.ended_lost")
    case "out": page.texts("session.signed_out")
    default: nil
    }
  }

  private static func signIn(_ page: PageContext) async throws -> Response {
    if PasskeyPages.isIn(page.form) { return try await enterWithPasskey(page) }
    let returnTo = ownPath(page.form.raw("return"))
    guard try await page.store.read({ try OIDCSettings.allowsPasswords($0) }) else {
      return try await withoutPasswords(page, returnTo: returnTo)
    }
    let name = page.form["email"]
    let password = page.form.raw("password")
    let now = page.now
    let strangers = SignInThrottle.subjects(account: name, address: page.request.remoteAddress)
    let device = page.deviceHash
    let (found, isKnown, answer) = try await page.store.write { database in
      let found = try User.find(database, name: name)
      var known: SignInFailures.Subject?
      if let found, let device, try KnownDevice.isKnown(database, hash: device, user: found.id, now: now) {
        known = .device(device)
      }
      return (found, known != nil, try SignInThrottle.begin(database, known.map { [$0] } ?? strangers, now: now))
    }
    let attempt: SignInThrottle.Attempt
    switch answer {
    case .go(let counted): attempt = counted
    case .wait(let seconds): return try await tooOften(page, seconds, of: name, returnTo: returnTo)
    }
    let parameters = page.console.configuration.passwordCost.parameters
    let hash = found?.passwordHash.flatMap { PasswordHash($0) }
    let checked = hash ?? PasswordHash.decoy(parameters: parameters)
    let isRight: Bool
    do {
      isRight = try await page.hashing(isKnown: isKnown) { checked.verifies(password) }
    } catch {
      // The password was not checked, so the attempt does not count as a failure.
      try await page.store.write { try SignInThrottle.takeBack($0, attempt) }
      guard error is PasswordsBusy else { throw error }
      return try await signInPage(
        page, returnTo: returnTo, problem: page.texts("session.busy"), status: .serviceUnavailable,
        retryAfter: PasswordsBusy.pause)
    }
    guard isRight, let user = found, user.disabledAt == nil else {
      try await page.note(page.audit("session.refused", "user \(name.prefix(255))"))
      return try await signInPage(
        page, returnTo: returnTo, problem: page.texts("session.wrong"), status: .unprocessableContent)
    }
    try await page.store.write { try SignInThrottle.succeeded($0, attempt) }
    if let former = user.passwordHash, checked.needsRehash(for: parameters) {
      try await rehash(password, of: user, from: former, page)
    }
    return try await go(on: page, user, returnTo: returnTo)
  }

  private static func rehash(_ password: String, of user: User, from former: String, _ page: PageContext) async throws {
    do {
      let hash = try await page.newHash(of: password)
      try await page.store.write { try User.rehash($0, id: user.id, from: former, to: hash) }
    } catch is PasswordsBusy {
      // The next sign-in will rehash it.
    }
  }

  /// Says that passwords are switched off.
  private static func withoutPasswords(_ page: PageContext, returnTo: String) async throws -> Response {
    try await signInPage(
      page, returnTo: returnTo, problem: page.texts("session.no_passwords"), status: .unprocessableContent)
  }

  /// A passkey replaces password and second step.
  private static func enterWithPasskey(_ page: PageContext) async throws -> Response {
    let returnTo = ownPath(page.form.raw("return"))
    let now = page.now
    let subjects = SignInThrottle.subjects(address: page.request.remoteAddress)
    let attempt: SignInThrottle.Attempt
    switch try await page.store.write({ try SignInThrottle.begin($0, subjects, now: now) }) {
    case .go(let counted): attempt = counted
    case .wait(let seconds): return try await tooOften(page, seconds, returnTo: returnTo)
    }
    guard let user = try await PasskeyPages.person(page) else {
      try await page.note(page.audit("session.refused", "user unknown", ["step": "passkey"]))
      return try await signInPage(
        page, returnTo: returnTo, problem: page.texts("passkeys.wrong"), status: .unprocessableContent)
    }
    try await page.store.write { try SignInThrottle.succeeded($0, attempt, account: user.name) }
    return try await enter(page, user, returnTo: returnTo, with: "passkey", .own)
  }

  /// After a right password: asks for a code, or lets the person in.
  private static func go(on page: PageContext, _ user: User, returnTo: String) async throws -> Response {
    guard try await page.store.read({ try Authenticator.isOn($0, user: user.id) }) else {
      return try await enter(page, user, returnTo: returnTo, with: "password", nil)
    }
    return codePage(page, user, returnTo: returnTo)
  }

  /// - Parameters:
  ///   - proof: what let the person in, for the activity log.
  ///   - secondStep: whether it was more than a password.
  ///   - flash: what the next page says.
  ///   - more: what else the activity log says of it.
  static func enter(
    _ page: PageContext, _ user: User, returnTo: String, with proof: String, _ secondStep: Session.SecondStep?,
    flash: String? = nil, noting more: [String: JSONValue] = [:]
  ) async throws -> Response {
    var response = page.redirect(to: returnTo, flash: flash)
    let entry = NewAuditEntry(
      actor: user.name, action: "session.open", subject: "user \(user.name)",
      detail: .object(more.merging(["with": .string(proof)]) { $1 }),
      address: page.clientAddress)
    let now = page.now
    let former = Cookies.value(Cookies.session, of: page.request)
    let (device, formerDevice) = (Secret.text(), page.deviceHash)
    try await page.store.write { database in
      // Never take over a session that the browser had before (session fixation).
      if let former { try Session.end(database, idHash: Secret.hash(former)) }
      try KnownDevice.note(database, hash: Secret.hash(device), former: formerDevice, user: user.id, now: now)
      try AuditEntry.add(database, entry, now: now)
    }
    try await page.console.authentication.open(user, secondStep, page.request, on: &response, now: now)
    Cookies.set(Cookies.device, device, age: Int(KnownDevice.lifetime), on: &response, page.request)
    return response
  }

  // MARK: The one-time link

  private static func setUpPage(
    _ page: PageContext, token: String?, errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    guard let token else { return page.answer(SetupView(form: nil, asksForCode: true)) }
    let now = page.now
    let (found, allowsPasswords) = try await page.store.read { database -> ((SignInLink, User?)?, Bool) in
      let allows = try OIDCSettings.allowsPasswords(database)
      guard let link = try SignInLink.find(database, hash: Secret.hash(token), now: now) else { return (nil, allows) }
      return ((link, try link.userID.flatMap { try User.find(database, id: $0) }), allows)
    }
    if let found, !allowsPasswords, found.0.purpose != .firstStart {
      return try await withoutPasswords(page, returnTo: "/")
    }
    let isFirst = found?.0.purpose == .firstStart
    let email = isFirst ? page.form["email"] : found?.1?.name ?? ""
    let form = found == nil ? nil : SetupFormView(token: token, isFirst: isFirst, email: email, errors: errors)
    var response = page.answer(
      SetupView(form: form), status: found == nil ? 410 : errors.status,
      language: SetupLink.language(page, token))
    // The link is a secret in the address: do not send it to other sites.
    response.headers.append("Referrer-Policy", "no-referrer")
    return response
  }

  private static func setUp(_ page: PageContext) async throws -> Response {
    let token = page.form.raw("token")
    let now = page.now
    let linkHash = Secret.hash(token)
    let (link, known, allowsPasswords) = try await page.store.read { database in
      let link = try SignInLink.find(database, hash: linkHash, now: now)
      let known = try link?.userID.flatMap { try User.find(database, id: $0) }
      return (link, known, try OIDCSettings.allowsPasswords(database))
    }
    if let link, !allowsPasswords, link.purpose != .firstStart {
      return try await withoutPasswords(page, returnTo: "/")
    }
    var errors = FieldErrors()
    var password = ""
    do {
      password = try await NewPassword.read(page, name: known?.name ?? page.form["email"])
    } catch let error as FieldErrors {
      errors = error
    }
    let email = page.form["email"]
    if link?.purpose == .firstStart, AccountName.problem(email) != nil {
      errors.add("email", page.texts("setup.email_problem"))
    }
    guard errors.isEmpty, link != nil else { return try await setUpPage(page, token: token, errors: errors) }
    let hash = try await page.newHash(of: password)
    let user = try await page.store.write { database -> User? in
      try database.transaction {
        guard let link = try SignInLink.use(database, hash: linkHash, now: now) else { return nil }
        let user: User
        switch link.purpose {
        case .firstStart: user = try User.add(database, name: email, role: .admin, now: now)
        case .invitation, .reset: user = try User.get(database, id: link.userID ?? 0)
        }
        try User.setPassword(database, id: user.id, hash: hash)
        try AuditEntry.add(
          database,
          NewAuditEntry(
            actor: user.name, action: "user.password", subject: "user \(user.name)",
            detail: ["link": .string(link.purpose.rawValue)], address: page.clientAddress), now: now)
        return try User.get(database, id: user.id)
      }
    }
    guard let user else { return try await setUpPage(page, token: token) }
    return try await go(on: page, user, returnTo: "/")
  }
}

extension Console {
  /// A link that creates the first administrator; nil if there is a person who can sign in.
  ///
  /// The link works once, for a day. Each call creates a new link and invalidates the previous one.
  ///
  /// - Parameter address: of the console; nil: only the path, for whoever is at this machine.
  package func firstStartLink(at address: String? = nil) async throws -> String? {
    let now = clock()
    let token = Secret.text()
    let isNeeded = try await store.write { database in
      guard try User.activeCount(database, role: .admin) == 0 else { return false }
      try SignInLink.add(
        database, hash: Secret.hash(token), purpose: .firstStart, user: nil, lifetime: SignInLink.lifetime, now: now)
      return true
    }
    guard isNeeded else { return nil }
    return address.map { SetupLink.url(token, at: $0) } ?? SetupLink.path(token)
  }
}
