import HTTPServer
import Store

/// The code after the password, of an authenticator app or a recovery code.
extension SessionPages {
  private static let path = "/session/code"

  static func addCode(to routes: inout ConsoleRouter) {
    routes.open(.post, path) { page in
      guard page.form.has("lang") else { return try await enterCode(page) }
      // Looks at no code: the same page, in another language.
      return try await LanguagePages.choosing(page) { page in
        guard let user = try await ticketHolder(page) else { return try await tooLate(page) }
        return codePage(page, user, ticket: page.form.raw("ticket"), returnTo: ownPath(page.form.raw("return")))
      }
    }
  }

  /// - Parameter ticket: of a page that is shown once more; nil: it begins now.
  static func codePage(
    _ page: PageContext, _ user: User, ticket: String? = nil, returnTo: String, refusal: ProofGate.Refusal? = nil
  ) -> Response {
    let ticket = ticket ?? "\(user.id).\(page.console.tickets.make(purpose(user), now: page.now))"
    return page.answer(
      CodeView(
        name: user.name, ticket: ticket, returnTo: returnTo, problem: refusal?.text,
        recovers: refusal != nil && !page.form.raw("recovery").isEmpty),
      status: refusal?.status ?? .ok, retryAfter: refusal?.wait,
      language: .posting(form: CodeView.form, to: path))
  }

  /// A new password makes older tickets worthless.
  private static func purpose(_ user: User) -> String { "code \(user.id) \(user.passwordHash ?? "")" }

  /// The person whose password was right a short time ago.
  private static func ticketHolder(_ page: PageContext) async throws -> User? {
    let parts = page.form.raw("ticket").split(separator: ".", maxSplits: 1).map(String.init)
    let id = parts.first.flatMap { Int64($0) } ?? 0
    guard let user = try await page.store.read({ try User.find($0, id: id) }), user.state == .active,
      page.console.tickets.isGood(parts.last ?? "", purpose(user), now: page.now)
    else { return nil }
    return user
  }

  /// Asks for the password once more.
  private static func tooLate(_ page: PageContext) async throws -> Response {
    try await signInPage(
      page, returnTo: ownPath(page.form.raw("return")), problem: page.texts("session.code_late"),
      status: .unprocessableContent)
  }

  /// The code after the password.
  private static func enterCode(_ page: PageContext) async throws -> Response {
    guard let user = try await ticketHolder(page) else { return try await tooLate(page) }
    let (returnTo, id) = (ownPath(page.form.raw("return")), user.id)
    let (now, sealer) = (page.now, page.store.sealer)
    let (code, recovery) = (page.form.raw("code"), page.form.raw("recovery"))
    let wrong = recovery.isEmpty ? "second_step.wrong" : "second_step.wrong_recovery"
    let refusal = try await SecondStepCheck.refusal(page, user, wrong: wrong) { database in
      guard recovery.isEmpty else { return try RecoveryCode.use(recovery, database, user: id) }
      return try Authenticator.find(database, user: id)?.accept(code, database, sealer: sealer, now: now) ?? false
    }
    if let refusal {
      try await page.note(refusal, of: user, step: "code")
      return codePage(page, user, returnTo: returnTo, refusal: refusal)
    }
    return try await enter(page, user, returnTo: returnTo, with: recovery.isEmpty ? "code" : "recovery code", .own)
  }
}
