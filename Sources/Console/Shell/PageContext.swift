import Calendar
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import OpenSSL
import Providers
import Reactor
import SQLite
import Store
import Text

/// One request for a page, with its principal, language and form.
struct PageContext: ActorContext {
  let console: Console
  let request: Request
  /// Nil on pages that need no sign-in.
  var principal: Principal?
  var texts: Texts
  /// The token that this page's forms must send; pages show it masked.
  let csrf: String
  var form: Form
  let now: Date
  /// For the navigation.
  var shell = ShellState()
  let renewal = SessionRenewal()

  /// Adds the form.
  ///
  /// - Throws: 403 if the form lacks the token.
  func reading(_ form: Form) throws -> PageContext {
    guard CSRFToken.matches(form.raw("csrf"), csrf) else { throw PageError(.forbidden, "csrf") }
    var context = self
    context.form = form
    return context
  }

  var store: Store { console.store }
  var query: URLEncodedForm { request.queryItems }

  var user: User? { if case .user(let user, _)? = principal { user } else { nil } }
  var session: Session? { if case .user(_, let session)? = principal { session } else { nil } }

  /// The person and the session.
  ///
  /// - Throws: 403 for strangers, whom only pages without sign-in have.
  func signedIn() throws -> (user: User, session: Session) {
    guard case .user(let user, let session)? = principal else { throw PageError(.forbidden, "csrf") }
    return (user, session)
  }

  /// The hash of the cookie that recognizes this browser.
  var deviceHash: [UInt8]? {
    Cookies.value(Cookies.device, of: request).map { Secret.hash($0) }
  }

  var actor: String { principal?.name ?? "anonymous" }

  /// The console's public address, for commands to copy: as configured, else as the browser requested it.
  var address: String { console.address(request) }

  /// What a query finds, from memory if nothing has changed since the same request of the same second.
  ///
  /// - Parameter query: depends on the database, the request's target and the time alone, not on the principal.
  func kept<Result: Sendable>(_ query: @escaping @Sendable (Database, Date) throws -> Result) async throws -> Result {
    let now = now
    let second = Int(now.timeIntervalSince1970.rounded(.down))
    return try await store.read(keptAs: "\(second) \(request.target)", bytes: { _ in Self.usualSize }) {
      try query($0, now)
    }
  }

  /// Rough bytes of the rows of a page.
  private static let usualSize = 64 * 1024

  /// Whether the person may send in an environment, apart from the role.
  func maySend(_ environment: Environment) -> Bool {
    environment == .development || user?.sendsToProduction ?? false
  }

  func leaving(_ database: Database) throws -> LeavingProduction {
    LeavingProduction(maySend: try user.map { try Approval.maySend(database, person: $0.id) } ?? false)
  }

  /// - Throws: 403 if the person may not send in the environment. The store decides in the end.
  func check(sendingIn environment: Environment?) throws {
    if let environment, !maySend(environment) { throw PageError(.forbidden, "production") }
  }

  /// - Throws: 403 if the person may not send where a draft reaches phones.
  func check(sending draft: PushDraft?) async throws {
    guard let draft else { return }
    try check(sendingIn: try await store.read { try ProductionGuard.environment($0, of: draft) })
  }

  func may(_ role: User.Role) -> Bool { (principal?.role).map { $0 >= role } ?? false }

  /// A trimmed query parameter; nil if empty.
  func filled(_ name: String) -> String? {
    guard request.query != nil else { return nil }
    let text = (query[name] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
    return text.isEmpty ? nil : text
  }

  /// A filter of the address; nil if empty.
  ///
  /// - Parameter known: the value that a text names; nil: there is none.
  /// - Throws: a page that says so. A list of everything would look like the answer.
  func filter<Value>(_ name: String, _ known: (String) throws -> Value?) throws -> Value? {
    guard let text = filled(name) else { return nil }
    if let value = try known(text) { return value }
    throw PageError(
      .unprocessableContent, "unknown_filter", ["filter": name, "value": String(text.singleLine.prefix(100))],
      action: (list, "errors.unknown_filter.action"))
  }

  /// The app that a filter names by its row ID; nil if empty.
  ///
  /// - Throws: as ``filter(_:_:)``.
  func filterByApp() async throws -> Int64? {
    guard filled("app") != nil else { return nil }
    let ids = try await store.read { try App.all($0).map(\.id) }
    return try filter("app") { text in Int64(text).flatMap { ids.contains($0) ? $0 : nil } }
  }

  /// The list of this address, or of this file.
  private var list: String {
    for ending in [".csv", ".json"] where request.path.hasSuffix(ending) {
      return String(request.path.dropLast(ending.count))
    }
    return request.path
  }

  /// A query parameter as `2026-11-20`: its first moment in UTC. Nil if empty.
  ///
  /// - Throws: as ``filter(_:_:)``, for what is no date.
  func day(_ name: String) throws -> Date? {
    try filter(name) { $0.utf8.count == 10 ? Timestamp.parse($0 + "T00:00:00Z") : nil }
  }

  /// Sends the browser on, with a message (a key under `flash` in the locale tables) for the next page.
  ///
  /// - Parameter count: of a message that says how many.
  func redirect(to path: String, flash: String? = nil, count: Int? = nil) -> Response {
    var response = Response.redirect(to: path)
    if let flash { Cookies.set(Cookies.flash, flash + (count.map { ":\($0)" } ?? ""), age: 60, on: &response, request) }
    return response
  }

  /// An event stream that ends when the person loses access.
  func events(_ body: @escaping @Sendable (EventStream) async throws -> Void) throws -> Response {
    guard let principal else { throw PageError(.forbidden, "csrf") }
    return console.events(for: principal, body)
  }

  func errorPage(_ error: PageError) -> Response {
    func text(_ part: String) -> String {
      let key = "errors.\(error.code).\(part)"
      return texts.known(key) == nil ? "" : texts(key, error.arguments)
    }
    let wait = error.retryAfter.map { texts("errors.wait", count: $0) }
    return answer(
      ErrorView(
        status: error.status.code, title: text("title"), happened: text("happened"), kept: text("kept"),
        next: text("next").isEmpty ? wait ?? "" : text("next"), request: request.id,
        action: error.action.map { LinkView(href: $0.href, label: texts($0.label)) }), status: error.status,
      retryAfter: error.retryAfter,
      // Nothing typed is on this page: another language leads back to the one that was posted.
      language: [.get, .head].contains(request.method)
        ? .reloading : .at(SessionPages.postedPage(request, console.basePath)))
  }
}

/// Too many password checks, or questions to the provider of single sign-on, are waiting.
struct PasswordsBusy: Error {
  /// Seconds until a retry makes sense.
  static let pause = 5
}

extension PageContext {
  /// Queued checks of unknown browsers. Each takes half a second on one of two threads.
  private static let strangersLimit = 8
  /// Queued checks in all: unknown browsers cannot fill the queue.
  private static let limit = 16

  /// Hashes or checks a password on a blocking thread. Skipped if the client disconnects before its turn.
  ///
  /// - Parameter isKnown: whether the person is signed in or the browser is known.
  /// - Throws: ``PasswordsBusy``; errors of `body`.
  func hashing<Value: Sendable>(
    isKnown: Bool, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    do {
      return try await console.pools.hashes.run(waiting: isKnown ? Self.limit : Self.strangersLimit, body)
    } catch is BlockingPoolFull {
      throw PasswordsBusy()
    } catch is CancellationError {
      // Nobody receives this answer; it keeps the disconnect from being logged as an internal error.
      throw HTTPError(499, "The client disconnected.")
    }
  }

  /// The hash of a password to store.
  ///
  /// - Throws: as ``hashing(isKnown:_:)``.
  func newHash(of password: String) async throws -> String {
    let parameters = console.configuration.passwordCost.parameters
    return try await hashing(isKnown: true) { try PasswordHash.make(password: password, parameters: parameters).text }
  }
}

extension PageContext {
  /// Why a push service refused something, or could not be asked, for people.
  ///
  /// - Throws: every other error, as it is.
  func trouble(_ error: any Error) throws -> String {
    func told(_ reason: String) -> [String] {
      let known = Reason.of(reason)
      return [
        texts.known("messages." + known.causeCode) ?? known.cause,
        texts.known("messages." + known.remedyCode) ?? known.remedy,
      ]
    }
    switch error {
    case let error as ServiceRefusal: return (["\(error.reason):"] + told(error.reason)).sentences
    case let error as NoRoute where error.reason == .noCredential: return told(error.reason.rawValue).sentences
    case let error as NoRoute: return error.description
    case let error as ProviderProblem: return error.description
    case let error as Problems: return error.all.map(texts.text).sentences
    default: throw error
    }
  }
}

extension Console {
  /// The address for commands to copy: the public one, else the one that was requested.
  func address(_ request: Request) -> String {
    if let address = configuration.address { return address }
    let host = request.askedHost ?? ""
    // The address is put into quotes in shell commands: accept plain host characters only.
    let isPlain = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".:-[]".contains($0)) }
    return "\(request.isSecure ? "https" : "http")://\(isPlain && !host.isEmpty ? host : "localhost")"
  }
}
