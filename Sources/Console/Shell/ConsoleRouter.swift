import Foundation
import HTTPServer
import OpenSSL
import SQLite
import Store

/// Registers routes. Each of the seven ways decides who has access, and does so before the body is read, so that
/// strangers cannot fill the memory.
struct ConsoleRouter {
  /// Bytes for a form that needs no sign-in: two passwords with every character escaped.
  private static let openFormLimit = 32 * 1024

  typealias PageHandler = @Sendable (PageContext) async throws -> Response
  typealias UploadHandler = @Sendable (PageContext, IncomingFile?) async throws -> Response
  typealias APIHandler = @Sendable (APIContext) async throws -> Response

  private var router = Router()
  private let address: PublicAddress
  let console: Console

  init(_ console: Console) {
    self.console = console
    let errors = ErrorResponses(console)
    let address = PublicAddress(console.configuration.address)
    let base = console.basePath
    self.address = address
    router.servedPath = base.served
    router.errorPage = { failure in
      var response = errors.response(to: failure)
      // Others pass the middleware.
      if failure.request == nil { base.add(to: &response) }
      // Malformed requests never reach the middleware below.
      SecurityHeaders.add(to: &response, isSecure: address.isSecure || failure.request?.isSecure ?? false)
      return response
    }
    let proxies = TrustedProxies(
      ranges: console.configuration.trustedProxies, undeclared: UndeclaredProxies(log: console.log))
    let isClearOnlyForProxies = console.configuration.isClearOnlyForProxies
    router.use(
      Middleware(
        prepare: { request in
          if isClearOnlyForProxies { try proxies.checkClear(request) }
          proxies.restore(&request)
          try address.check(request)
          // Even behind an undeclared proxy: a console with an https address never sets cookies for plain http.
          if address.isSecure { request.isSecure = true }
        },
        finish: { response, request in
          base.add(to: &response)
          SecurityHeaders.add(to: &response, isSecure: request.isSecure)
          // RFC 5789 §3.1
          let namesMethods = request.method == .options || response.status == .methodNotAllowed
          if namesMethods, response.headers["Allow"]?.contains("PATCH") == true {
            response.headers.append("Accept-Patch", APIContext.bodyType)
          }
        }))
    router.missing = { request in
      if request.pathSegments.first == "api" || request.path.hasPrefix("/simulator/") { throw Self.noSuchCall }
      guard errors.isPage(request), let page = try await Self.notFound(console, request) else {
        throw HTTPError(.notFound)
      }
      return page
    }
  }

  private static let noSuchCall = HTTPError(
    .notFound, "The API has no such path. /api/openapi.json lists all of them.")

  /// The finished router; paths without a route are looked up among the public files.
  func finished() -> Router {
    var router = router
    let files = console.publicFiles
    let assets = console.assets
    router.on(
      .get, "/assets/:version/*path",
      quick: { request in
        let version = request.parameters["version"] ?? ""
        return try assets.response(to: request, version: version, path: request.parameters.rest)
      }
    ) { _ in throw HTTPError(.notFound) }
    // Not /api/*path: a mistyped POST of the API would be answered with 405.
    for pattern in Console.Resources.assetFolders.map({ "/\($0)/*path" }) + ["/api/:document"] {
      router.on(.get, pattern, quick: { try files.quickResponse(to: $0) }) { request in
        guard let response = try await files.response(to: request, path: request.pathSegments) else {
          throw request.pathSegments.first == "api" ? Self.noSuchCall : HTTPError(.notFound)
        }
        return response
      }
    }
    return router
  }

  /// A page for signed-in people with at least `role`. A form without the session's token, or from another site, is
  /// refused before the handler runs.
  ///
  /// - Parameter proof: whether the person must have signed in, or proved who they are, in the last minutes.
  mutating func page(
    _ method: Method, _ pattern: String, role: User.Role = .viewer, proof: Bool = false,
    options: Route.Options = Route.Options(), _ handler: @escaping PageHandler
  ) {
    personal(method, pattern, role: role, options: options) { context in
      if method == .get, let (page, show) = context.shownPage() { return try await show(page) }
      let page = method.isSafe ? context : try context.reading(try await Form(context.request))
      return proof ? try await ProofGate.passing(page, handler) : try await handler(page)
    }
  }

  /// A form with a file that the handler streams, whatever its size. The other fields, including the token, come before
  /// the file.
  mutating func upload(
    _ pattern: String, role: User.Role, options: Route.Options, _ handler: @escaping UploadHandler
  ) {
    personal(.post, pattern, role: role, options: options) { context in
      let (form, file) = try await IncomingFile.after(fieldsOf: context.request)
      return try await handler(context.reading(form), file)
    }
  }

  /// Calls the handler for a signed-in person with the right role and a request of this site. The form is not read yet.
  private mutating func personal(
    _ method: Method, _ pattern: String, role: User.Role, options: Route.Options, _ handler: @escaping PageHandler
  ) {
    let (console, address) = (console, address)
    router.on(method, pattern, options: options) { request in
      let now = console.clock()
      guard let principal = try await console.authentication.user(request, now: now),
        case .user(let user, let session) = principal
      else {
        if method.isSafe { return .redirect(to: "/session/new?return=\(Self.escaped(request.target))") }
        // Of a form: the page that it stands on, with what was typed.
        let path = SessionPages.address(SessionPages.postedPage(request, console.basePath))
        let kept = try await KeptForm.keep(request, path: path, console, address, now: now)
        return .redirect(
          to: "/session/new?return=\(Self.escaped(kept ?? path))&why=\(kept == nil ? "lost" : "kept")")
      }
      let texts = Self.texts(console, request, user)
      let context = PageContext(
        console: console, request: request, principal: principal, texts: texts, csrf: session.csrf, form: Form(),
        now: now, shell: try await ShellState.find(console.store, now: now))
      if let seconds = console.rateLimits.wait(session: session.idHash, request, now: now) {
        var response = context.errorPage(PageError(.tooManyRequests, "too_many", retryAfter: seconds))
        response.actor = principal.name
        return response
      }
      // Only thrown errors count: the page that asks for a proof of identity answers with 403 too, but refuses nothing.
      var refusal: String?
      var response = try await Self.answer(context) {
        do {
          if !method.isSafe { try Self.checkSite(request, address) }
          if let detour = try await SecondStepGate.detour(context, pattern) { return detour }
          guard context.may(role) else {
            throw PageError(.forbidden, "role", ["role": texts("roles.\(role.rawValue)")])
          }
          return try await handler(context)
        } catch let error as PageError where error.status == .forbidden {
          refusal = error.code
          throw error
        }
      }
      if let refusal { await console.noteRefusal(of: principal, request, .forbidden, refusal, now: now) }
      if let proof = context.renewal.proof {
        try await console.authentication.renew(session, proof, request, on: &response, now: now)
      }
      response.actor = principal.name
      return response
    }
  }

  /// A page that needs no sign-in. Its forms carry a token that must match a cookie of the same browser.
  mutating func open(
    _ method: Method, _ pattern: String, options: Route.Options = Route.Options(), _ handler: @escaping PageHandler
  ) {
    let (console, address) = (console, address)
    var options = options
    options.bodyLimit = Self.openFormLimit
    router.on(method, pattern, options: options) { request in
      let now = console.clock()
      let principal = try await console.authentication.user(request, now: now)
      let known = Cookies.value(Cookies.form, of: request) ?? ""
      let csrf = known.utf8.count >= 20 ? known : Random.token(bytes: 18)
      var user: User?
      var expected = csrf
      if case .user(let person, let session)? = principal { (user, expected) = (person, session.csrf) }
      let context = PageContext(
        console: console, request: request, principal: principal, texts: Self.texts(console, request, user),
        csrf: expected, form: Form(), now: now)
      var response = try await Self.answer(context) {
        guard !method.isSafe else { return try await handler(context) }
        try Self.checkSite(request, address)
        // Without a session and without the cookie, no token can be valid.
        guard principal != nil || csrf == known else { throw PageError(.forbidden, "csrf") }
        return try await handler(context.reading(try await Form(request)))
      }
      if csrf != known { Cookies.set(Cookies.form, csrf, age: nil, on: &response, request) }
      response.actor = principal?.name
      return response
    }
  }

  /// A call of the JSON API, with a bearer token that may do it.
  mutating func api(
    _ method: Method, _ pattern: String, _ access: CallAccess, options: Route.Options = Route.Options(),
    _ handler: @escaping APIHandler
  ) {
    let console = console
    router.on(method, pattern, name: "api", options: options) { request in
      let now = console.clock()
      let isLimited = try console.rateLimits.take(request, now: now)
      let token = try await console.token(of: request, now: now)
      let standing = isLimited ? try console.rateLimits.take(token: token.id, now: now) : nil
      let principal = Principal.token(token)
      var response: Response
      do {
        try await access.check(token, request, console.store)
        // No resource has an entity tag, so a change that requires one must not happen (RFC 9110 §13.1.1).
        if !method.isSafe, let tags = request.header("If-Match"), tags != "*" {
          throw HTTPError(
            .preconditionFailed, "Nothing was changed. If-Match cannot match, because this resource has no ETag.")
        }
        response = try await handler(APIContext(console: console, request: request, principal: principal, now: now))
      } catch let error as any HTTPResponseError where error.status == .forbidden {
        await console.noteRefusal(of: principal, request, error.status, error.message, now: now)
        throw error
      }
      standing?.write(to: &response.headers)
      response.actor = principal.name
      return response
    }
  }

  /// A call of the API that is compatible with JPush, with an app's key pair. Its clients write some addresses with a
  /// slash at the end and some without: both lead here.
  mutating func jpush(
    _ method: Method, _ pattern: String,
    _ handler: @escaping @Sendable (JPushCall) async throws -> Response
  ) {
    let console = console
    for pattern in [pattern, pattern + "/"] {
      router.on(method, pattern, name: "jpush", options: Route.Options(bodyLimit: JPushAPI.bodyLimit)) { request in
        try await JPushAPI.answer(console, request, handler)
      }
    }
  }

  /// A call that apps on phones make, without an account: anybody on the Internet may try.
  mutating func app(_ method: Method, _ pattern: String, bodyLimit: Int, _ handler: @escaping Handler) {
    router.on(method, pattern, name: "app", options: Route.Options(bodyLimit: bodyLimit), handler)
  }

  /// A public route that is not a page, such as `/healthz`.
  ///
  /// - Parameter name: of a protocol that checks its callers by itself.
  mutating func plain(_ method: Method, _ pattern: String, name: String? = nil, _ handler: @escaping Handler) {
    router.on(method, pattern, name: name, handler)
  }

  // MARK: -

  private static func answer(
    _ context: PageContext, _ body: () async throws -> Response
  ) async throws -> Response {
    do {
      return try await body()
    } catch let error as PageError {
      return context.errorPage(error)
    } catch is PasswordsBusy {
      return context.errorPage(PageError(.serviceUnavailable, "crowded", retryAfter: PasswordsBusy.pause))
    } catch let error as StoreError {
      switch error {
      case .notFound: return context.errorPage(PageError(.notFound, "not_found"))
      // `badCursor`: the address was edited. `inUse`: the row came into use after the page was shown.
      case .badCursor: return context.errorPage(PageError(.badRequest, "refused"))
      case .taken, .inUse: return context.errorPage(PageError(.conflict, "refused"))
      case .detailsRemoved(_, let date):
        return context.errorPage(PageError(.conflict, "details_removed", ["date": context.texts.day(date)]))
      case .unreadable, .outOfOrder: throw error
      }
    } catch let error as HTTPError where error.status == .notFound {
      return context.errorPage(PageError(.notFound, "not_found"))
    } catch let error as SQLiteError where error.code == .interrupt {
      return context.errorPage(PageError(.serviceUnavailable, "slow", retryAfter: 60))
    }
  }

  /// The not-found page with navigation, for signed-in people; nil for strangers.
  private static func notFound(_ console: Console, _ request: Request) async throws -> Response? {
    let now = console.clock()
    guard case .user(let user, let session)? = try await console.authentication.user(request, now: now),
      !session.lacksSecondStep(user.role)
    else { return nil }
    let context = PageContext(
      console: console, request: request, principal: .user(user, session), texts: texts(console, request, user),
      csrf: session.csrf, form: Form(), now: now,
      shell: try await ShellState.find(console.store, now: now))
    return context.errorPage(PageError(.notFound, "not_found"))
  }

  /// The texts in the language of the person, of the cookie, or of the browser.
  static func texts(_ console: Console, _ request: Request, _ user: User?) -> Texts {
    if let chosen = user?.language ?? Cookies.value(Cookies.language, of: request), console.locales.texts[chosen] != nil
    {
      return console.locales[chosen]
    }
    return console.locales.best(for: request.header("Accept-Language"))
  }

  /// Refuses cross-site form posts by the headers that browsers send. ``PageContext/reading(_:)`` checks the token.
  /// Browsers say whether a form is this site's, over plain HTTP only by its origin: none from a page that keeps its
  /// address to itself, as those with a token in theirs do.
  private static func checkSite(_ request: Request, _ address: PublicAddress) throws {
    let isOwn: Bool
    if let site = request.header("Sec-Fetch-Site") {
      isOwn = site == "same-origin" || site == "none"
    } else {
      let origin = request.header("Origin") ?? "null"
      isOwn = origin == "null" || address.isOrigin(origin, of: request)
    }
    guard isOwn else { throw PageError(.forbidden, "csrf") }
  }

  /// Escapes a path for use as a query value.
  static func escaped(_ text: String) -> String {
    // Most values are plain, and Foundation's way is slow.
    if text.utf8.allSatisfy({ byte in isPlain(byte) }) { return text }
    return text.addingPercentEncoding(withAllowedCharacters: plainCharacters) ?? ""
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "-")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static let plainCharacters = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~/"))
}
