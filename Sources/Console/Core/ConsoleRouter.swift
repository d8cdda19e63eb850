import Foundation
import HTTPServer
import OpenSSL
import Store

/// Registers routes. There are four ways, and none without a decision who may come in.
struct ConsoleRouter {
  typealias PageHandler = @Sendable (PageContext) async throws -> Response
  typealias APIHandler = @Sendable (APIContext) async throws -> Response

  private var router = Router()
  let console: Console

  init(_ console: Console) {
    self.console = console
    let errors = ErrorResponses(console)
    router.errorPage = { failure in
      var response = errors.response(to: failure)
      // What could not be read never reaches the middleware below.
      SecurityHeaders.add(to: &response, isSecure: failure.request?.isSecure ?? false)
      return response
    }
    let proxies = TrustedProxies(
      ranges: console.configuration.trustedProxies, undeclared: UndeclaredProxies(log: console.log))
    router.use { request, next in
      let request = proxies.restored(request)
      var response = try await next(request)
      SecurityHeaders.add(to: &response, isSecure: request.isSecure)
      return response
    }
  }

  /// The finished router; what no route takes is looked for among the public files.
  func finished() -> Router {
    var router = router
    let files = console.publicFiles
    for folder in ["css", "js", "icons", "api"] {
      router.get("/\(folder)/*path") { request in
        guard let response = try await files.response(to: request, path: [folder] + request.parameters.rest) else {
          throw HTTPError(.notFound)
        }
        return response
      }
    }
    return router
  }

  /// A page for people who have signed in and may do what needs `role`. A form that came without the session's token,
  /// or from another site, is refused before the handler sees it.
  mutating func page(
    _ method: Method, _ pattern: String, role: User.Role = .viewer, options: Route.Options = Route.Options(),
    _ handler: @escaping PageHandler
  ) {
    let console = console
    router.on(method, pattern, options: options) { request in
      let now = console.clock()
      guard let principal = try await Authentication(store: console.store).user(request, now: now),
        case .user(let user, let session) = principal
      else {
        return Response.redirect(to: "/session/new?return=\(Self.escaped(method == .get ? request.target : "/"))")
      }
      let texts = Self.texts(console, request, user)
      let form = method.isSafe ? Form() : try await Form(request)
      let context = PageContext(
        console: console, request: request, principal: principal, texts: texts, csrf: session.csrf, form: form,
        now: now)
      return try await Self.answer(context) {
        if !method.isSafe { try Self.check(request, form, csrf: session.csrf) }
        guard context.may(role) else { throw PageError(.forbidden, "role", ["role": texts("roles.\(role.rawValue)")]) }
        return try await handler(context)
      }
    }
  }

  /// A page for everybody. Its forms carry a token that a cookie of the same browser holds.
  mutating func open(
    _ method: Method, _ pattern: String, options: Route.Options = Route.Options(), _ handler: @escaping PageHandler
  ) {
    let console = console
    router.on(method, pattern, options: options) { request in
      let now = console.clock()
      let principal = try await Authentication(store: console.store).user(request, now: now)
      let known = request.cookie(Cookies.form) ?? ""
      let csrf = known.utf8.count >= 20 ? known : Random.token(bytes: 18)
      let form = method.isSafe ? Form() : try await Form(request)
      var user: User?
      var expected = csrf
      if case .user(let person, let session)? = principal { (user, expected) = (person, session.csrf) }
      let context = PageContext(
        console: console, request: request, principal: principal, texts: Self.texts(console, request, user),
        csrf: expected, form: form, now: now)
      var response = try await Self.answer(context) {
        if !method.isSafe { try Self.check(request, form, csrf: expected) }
        return try await handler(context)
      }
      if csrf != known { Cookies.set(Cookies.form, csrf, age: nil, on: &response, request) }
      return response
    }
  }

  /// A call of the JSON API, with a bearer token that may do what needs `role`.
  mutating func api(
    _ method: Method, _ pattern: String, role: User.Role, options: Route.Options = Route.Options(),
    _ handler: @escaping APIHandler
  ) {
    let console = console
    router.on(method, pattern, name: "api", options: options) { request in
      let now = console.clock()
      let principal = try await Authentication(store: console.store).token(request, now: now)
      guard principal.role >= role else {
        throw HTTPError(
          .forbidden, "This token has the role \(principal.role.rawValue); \(role.rawValue) is needed here.")
      }
      return try await handler(APIContext(console: console, request: request, principal: principal, now: now))
    }
  }

  /// An answer for everybody that is no page, as `/healthz`.
  mutating func plain(_ method: Method, _ pattern: String, _ handler: @escaping Handler) {
    router.on(method, pattern, handler)
  }

  // MARK: -

  private static func answer(
    _ context: PageContext, _ body: () async throws -> Response
  ) async throws -> Response {
    do {
      return try await body()
    } catch let error as PageError {
      return try context.errorPage(error)
    } catch is PasswordsBusy {
      var response = try context.errorPage(PageError(.serviceUnavailable, "crowded"))
      response.headers.append("Retry-After", String(PasswordsBusy.pause))
      return response
    } catch let error as StoreError {
      switch error {
      case .notFound: return try context.errorPage(PageError(.notFound, "not_found"))
      // An address that somebody edited; a row that somebody else took into use meanwhile.
      case .badCursor: return try context.errorPage(PageError(.badRequest, "refused"))
      case .taken, .inUse: return try context.errorPage(PageError(.conflict, "refused"))
      case .detailsRemoved(_, let date):
        return try context.errorPage(PageError(.conflict, "details_removed", ["date": date.dayText]))
      case .unreadable, .outOfOrder: throw error
      }
    } catch let error as HTTPError where error.status == .notFound {
      return try context.errorPage(PageError(.notFound, "not_found"))
    }
  }

  private static func texts(_ console: Console, _ request: Request, _ user: User?) -> Texts {
    if let chosen = user?.language ?? request.cookie(Cookies.language), console.locales.texts[chosen] != nil {
      return console.locales[chosen]
    }
    return console.locales.best(for: request.header("Accept-Language"))
  }

  /// Cross-site request forgery: what browsers say about the origin, and a token that other sites cannot know.
  private static func check(_ request: Request, _ form: Form, csrf: String) throws {
    let site = request.header("Sec-Fetch-Site") ?? "same-origin"
    let isOwn = site == "same-origin" || site == "none"
    guard isOwn, constantTimeEqual(Array(form.raw("csrf").utf8), Array(csrf.utf8)) else {
      throw PageError(.forbidden, "csrf")
    }
  }

  /// A path for a query's value.
  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~/"))) ?? ""
  }
}
