import Foundation
import HTTPServer
import JSON
import Mustache
import OpenSSL
import SQLite
import Store

/// “Confirm it’s you”: changes that affect access require a recent proof of identity. Signing in is one.
enum ProofGate {
  static let views: [any PageView.Type] = [ProofView.self] + SecondStepGate.views

  /// How long a proof counts, in seconds.
  static let lifetime: TimeInterval = 900
  /// The field with the password.
  private static let field = "proof"
  /// The field with the code of the authenticator app.
  private static let codeField = "proof_code"
  /// The field with the page that *Cancel* leads to.
  private static let fromField = "proof_from"
  static let path = "/session/confirm"

  /// Why a proof is not accepted.
  struct Refusal {
    let text: String
    /// Whether the code was wrong, and not the password.
    var isOfCode = false
    /// Seconds until the next attempt is looked at; nil: this one was.
    var wait: Int?

    /// Of the page that says so.
    var status: Status { wait == nil ? .unprocessableContent : .tooManyRequests }

    /// There were too many attempts: this one was not looked at.
    static func tooOften(_ seconds: Int, _ texts: Texts) -> Refusal {
      Refusal(text: texts("session.slow", count: seconds), wait: seconds)
    }
  }

  enum Outcome {
    case proven(PageContext)
    case refused(Refusal)
  }

  static func isFresh(_ session: Session, now: Date) -> Bool {
    now.timeIntervalSince(session.provedAt) < lifetime
  }

  static func add(to routes: inout ConsoleRouter) {
    SecondStepGate.add(to: &routes)
    routes.page(.get, path) { page in try await ask(page, returnTo: SessionPages.ownPath(page.query["return"])) }
    routes.page(.post, path) { page in
      let returnTo = SessionPages.ownPath(page.form.raw("return"))
      switch try await check(page) {
      case .proven: return page.redirect(to: returnTo)
      case .refused(let problem): return try await ask(page, returnTo: returnTo, problem: problem)
      }
    }
  }

  /// Calls the handler of a form if the last proof is fresh; otherwise asks for one, and goes on with the same form.
  static func passing(_ page: PageContext, _ handler: ConsoleRouter.PageHandler) async throws -> Response {
    let session = try page.signedIn().session
    if isFresh(session, now: page.now) { return try await handler(page) }
    if page.request.method.isSafe { return try await ask(page, returnTo: SessionPages.ownPath(page.request.target)) }
    // A page cannot carry a chosen file: it is chosen once more, on the page that the form comes from.
    if page.form.hasFiles { return try await ask(page, returnTo: page.keptAddress(), isFileLost: true) }
    guard page.form.has(field) || PasskeyPages.isIn(page.form) else { return try await ask(page) }
    switch try await check(page) {
    case .proven(let page): return try await handler(page)
    case .refused(let problem): return try await ask(page, problem: problem)
    }
  }

  /// The path of the page that a form was sent from.
  private static func origin(_ request: Request, _ base: BasePath) -> String {
    let url = request.header("Referer").flatMap { URLComponents(string: $0) }
    return SessionPages.ownPath((url?.percentEncodedPath).map(base.served.stripped))
  }

  /// Checks what the form brings, and notes the proof.
  ///
  /// - Parameter asksPassword: false: the code alone, where the session was opened with a password a moment ago.
  static func check(_ page: PageContext, asksPassword: Bool = true) async throws -> Outcome {
    guard case .user(let user, var session)? = page.principal else { throw PageError(.forbidden, "csrf") }
    let (refusal, secondStep) = try await shown(page, user, session, asksPassword: asksPassword)
    if let refusal {
      try await page.note(refusal, of: user, step: "confirm")
      return .refused(refusal)
    }
    (session.provedAt, session.secondStep) = (page.now, secondStep ?? session.secondStep)
    try await page.note(page.audit("session.confirm", "user \(user.name)"))
    page.renewal.note(secondStep)
    var page = page
    page.principal = .user(user, session)
    return .proven(page)
  }

  /// What the form shows: as much as the person's sign-in asks for.
  private static func shown(
    _ page: PageContext, _ user: User, _ session: Session, asksPassword: Bool
  ) async throws -> (Refusal?, Session.SecondStep?) {
    if PasskeyPages.isIn(page.form) {
      let isOwn = try await PasskeyPages.person(page)?.id == user.id
      return (isOwn ? nil : Refusal(text: page.texts("passkeys.wrong")), .own)
    }
    let person = try await page.store.read { try Person.get($0, id: user.id) }
    guard asksPassword ? person.provesByPassword(session) : person.hasAuthenticator else {
      return (Refusal(text: page.texts("proof.passkey_needed")), nil)
    }
    if asksPassword, let refusal = try await refusal(page, password: page.form.raw(field)) { return (refusal, nil) }
    guard person.hasAuthenticator else { return (nil, nil) }
    return (try await SecondStepCheck.refusal(page, user, typed: page.form.raw(codeField)), .own)
  }

  /// Why the password of the signed-in person is not accepted; nil if it is right. Guesses are slowed down.
  static func refusal(_ page: PageContext, password: String) async throws -> Refusal? {
    let (user, session) = try page.signedIn()
    guard try await page.store.read({ try OIDCSettings.allowsPasswords($0) }) else {
      return Refusal(text: page.texts("session.no_passwords"))
    }
    let hash = user.passwordHash.flatMap { PasswordHash($0) }
    let now = page.now
    // Counted per session: guesses at the sign-in form must not block a signed-in person.
    let answer = try await page.store.write { database in
      try SignInThrottle.begin(database, [.session(session.idHash)], now: now)
    }
    switch answer {
    case .wait(let seconds): return .tooOften(seconds, page.texts)
    case .go(let attempt):
      let isRight: Bool
      do {
        isRight = try await page.hashing(isKnown: true) { hash?.verifies(password) ?? false }
      } catch {
        try await page.store.write { try SignInThrottle.takeBack($0, attempt) }
        throw error
      }
      guard isRight else { return Refusal(text: page.texts("account.current_wrong")) }
      try await page.store.write { try SignInThrottle.succeeded($0, attempt) }
      return nil
    }
  }

  /// The page that asks.
  ///
  /// - Parameter returnTo: the path to go on to; nil: with the form of this request.
  static func ask(
    _ page: PageContext, returnTo: String? = nil, problem: Refusal? = nil, isFileLost: Bool = false
  ) async throws -> Response {
    let (user, session) = try page.signedIn()
    let (person, provider) = try await page.store.read { database in
      (try Person.get(database, id: user.id), try OIDCSettings.load(database))
    }
    let isLinked = user.isLinked && provider?.isOn == true
    // A typed form stays in its tab, and the provider opens in another one.
    let back = ConsoleRouter.escaped(returnTo ?? "/account")
    let carried = returnTo.map { [(name: "return", value: $0)] } ?? page.form.all.filter { !own.contains($0.name) }
    // A refused proof comes from this page: the way back is the one that it had.
    let from =
      page.form.has(fromField)
      ? SessionPages.ownPath(page.form.raw(fromField)) : origin(page.request, page.console.basePath)
    return page.answer(
      ProofView(
        action: returnTo == nil ? page.request.path : path, name: user.name, problem: problem,
        isFileLost: isFileLost, carriesForm: returnTo == nil,
        hasPassword: user.passwordHash != nil && provider.map { !$0.isOn || $0.allowsPasswords } ?? true
          && person.provesByPassword(session),
        hasCode: person.hasAuthenticator, hasPasskeys: person.passkeys > 0,
        provider: isLinked
          ? LinkView(href: "\(OIDCPages.confirm)?return=\(back)", label: provider?.label ?? "") : nil,
        carried: (carried + [(name: fromField, value: from)]).map { HiddenFieldView(name: $0.name, value: $0.value) },
        from: from),
      status: page.request.method.isSafe ? .ok : problem?.status ?? .forbidden, retryAfter: problem?.wait,
      language: language(page, returnTo))
  }

  /// A form that is carried along would be lost; any other has an address of its own.
  private static func language(_ page: PageContext, _ returnTo: String?) -> LanguageSwitch {
    guard let returnTo, !page.request.method.isSafe else { return .reloading }
    return .at("\(path)?return=\(ConsoleRouter.escaped(returnTo))")
  }

  /// Fields that the page sets anew.
  private static let own = Set([field, codeField, fromField, "csrf", "username"] + PasskeyPages.fields)
}

extension PageContext {
  /// Writes to the activity log that what somebody showed was refused. Attempts that were not looked at are counted, so
  /// that a flood of them does not fill the log.
  func note(_ refusal: ProofGate.Refusal, of user: User, step: String) async throws {
    let entry = audit("session.refused", "user \(user.name)", ["step": .string(step)])
    guard refusal.wait != nil else { return try await note(entry) }
    await noteTooOften(entry)
  }

  /// Counts an attempt that was not looked at.
  func noteTooOften(_ entry: NewAuditEntry) async {
    await console.noteRefusal(ofStranger: entry, request, .tooManyRequests, "too many attempts", now: now)
  }
}

extension Person {
  /// Whether a password, with the code where an app is set up, confirms who is there, as it signs in: with passkeys
  /// alone it does not where a second step is required.
  func provesByPassword(_ session: Session) -> Bool {
    hasAuthenticator || passkeys == 0 || !session.rule.isRequired(of: user.role)
  }
}

struct ProofView: PageView {
  static let template = "session/confirm"
  static let section: Section? = nil

  let action: String
  /// The signed-in person, for password managers.
  let name: String
  let problem: ProofGate.Refusal?
  let isFileLost: Bool
  let carriesForm: Bool
  let hasPassword: Bool
  /// Whether a code is asked for beside the password.
  let hasCode: Bool
  let hasPasskeys: Bool
  /// The way to the provider; nil if the person has never signed in there.
  let provider: LinkView?
  /// What was sent, to be sent again.
  let carried: [HiddenFieldView]
  /// The page to go back to without a proof.
  let from: String

  static let fields: [Field<Self>] = [
    .text("action") { $0.action },
    .text("username") { $0.name },
    .view("proof") { FieldView(error: $0.problem.flatMap { $0.isOfCode ? nil : $0.text } ?? "") },
    .view("proof_code") { FieldView(error: $0.problem.flatMap { $0.isOfCode ? $0.text : nil } ?? "") },
    .flag("has_code") { $0.hasCode },
    .optional("problem") { $0.problem?.text },
    .flag("file_lost") { $0.isFileLost },
    .flag("carries_form") { $0.carriesForm },
    .flag("has_password") { $0.hasPassword },
    .flag("has_passkeys") { $0.hasPasskeys },
    .view("provider") { $0.provider },
    .list("carried") { $0.carried },
    .text("from") { $0.from },
  ]
}
