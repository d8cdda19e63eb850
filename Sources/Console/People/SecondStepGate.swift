import HTTPServer
import Mustache
import Store

/// Holds back who must have a second step and has not shown one: nothing else can be done until then.
enum SecondStepGate {
  static let views: [any PageView.Type] = [SecondStepGateView.self]

  private static let path = "/session/second-step"
  private static let always: Set<String> = [path, "/session/end"]
  /// Where people without a second step set one up. Another one is not added with the password alone.
  private static let settingUp: Set<String> = [
    SecondStepPages.path, SecondStepPages.path + "/begin", "/account/passkeys", ProofGate.path, OIDCPages.confirm,
  ]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/session/second-step") { page in
      let returnTo = SessionPages.ownPath(page.query["return"])
      return page.isGated ? try await show(page, returnTo: returnTo) : page.redirect(to: returnTo)
    }
    routes.page(.post, "/session/second-step") { page in
      let returnTo = SessionPages.ownPath(page.form.raw("return"))
      guard page.isGated else { return page.redirect(to: returnTo) }
      switch try await ProofGate.check(page, asksPassword: false) {
      case .proven: return page.redirect(to: returnTo)
      case .refused(let problem): return try await show(page, returnTo: returnTo, problem: problem)
      }
    }
  }

  /// Where the person is sent in place of a page.
  ///
  /// - Parameter pattern: of the page's route.
  /// - Returns: nil if the page may be opened.
  static func detour(_ page: PageContext, _ pattern: String) async throws -> Response? {
    guard page.isGated, let user = page.user, !always.contains(pattern) else { return nil }
    if settingUp.contains(pattern), try await !page.store.read({ try Person.get($0, id: user.id).hasSecondStep }) {
      return nil
    }
    let back = page.request.method == .get ? page.request.target : "/"
    return page.redirect(to: "\(path)?return=\(ConsoleRouter.escaped(back))")
  }

  /// - Parameter errors: of a passkey that could not be added.
  static func show(
    _ page: PageContext, returnTo: String, problem: ProofGate.Refusal? = nil, errors: FieldErrors = FieldErrors()
  ) async throws -> Response {
    let user = try page.signedIn().user
    let person = try await page.store.read { try Person.get($0, id: user.id) }
    return page.answer(
      SecondStepGateView(
        email: user.name, returnTo: returnTo, hasAuthenticator: person.hasAuthenticator,
        hasPasskeys: person.passkeys > 0, problem: problem,
        adding: person.hasSecondStep
          ? nil : PasskeysView(user: user, passkeys: [], error: errors["passkey"], now: page.now)),
      status: problem?.status ?? errors.status, retryAfter: problem?.wait,
      language: .at("\(path)?return=\(ConsoleRouter.escaped(returnTo))"))
  }
}

extension PageContext {
  /// Whether the person must show a second step before anything else.
  var isGated: Bool {
    guard case .user(let user, let session)? = principal else { return false }
    return session.lacksSecondStep(user.role)
  }
}

struct SecondStepGateView: PageView {
  static let template = "session/second_step"
  static let section: Section? = nil

  let email: String
  let returnTo: String
  let hasAuthenticator: Bool
  let hasPasskeys: Bool
  let problem: ProofGate.Refusal?
  /// For a first passkey; nil if there is a second step.
  let adding: PasskeysView?

  static let fields: [Field<Self>] = [
    .text("email") { $0.email },
    .text("return") { $0.returnTo },
    .flag("has_any") { $0.adding == nil },
    .flag("has_authenticator") { $0.hasAuthenticator },
    .flag("has_passkeys") { $0.hasPasskeys },
    .optional("problem") { $0.problem.flatMap { $0.isOfCode ? nil : $0.text } },
    .view("proof_code") { FieldView(error: $0.problem.flatMap { $0.isOfCode ? $0.text : nil } ?? "") },
    .view("passkeys") { $0.adding },
  ]
}
