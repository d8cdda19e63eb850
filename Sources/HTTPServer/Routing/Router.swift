package typealias Handler = @Sendable (Request) async throws -> Response

/// Answers on the event loop without a task of its own, from what is in memory; nil leaves the request to the route's
/// handler. Must not block. Its answer is sent as it is: it negotiates the content coding itself.
package typealias QuickHandler = @Sendable (Request) throws -> Response?

/// Steps around all handlers. Both are synchronous, so that a quick answer passes them too.
package struct Middleware: Sendable {
  /// Before the handler: may change the request, or refuse it by an error, which becomes an answer.
  package var prepare: @Sendable (inout Request) throws -> Void
  /// After the handler, for answers and error pages. Not called if `prepare` has thrown.
  package var finish: @Sendable (inout Response, Request) -> Void
  package init(
    prepare: @escaping @Sendable (inout Request) throws -> Void = { _ in },
    finish: @escaping @Sendable (inout Response, Request) -> Void = { _, _ in }
  ) {
    self.prepare = prepare
    self.finish = finish
  }
}

/// Chooses a handler by method and path.
///
/// A pattern consists of segments: text, compared after percent-decoding; `:name`, which matches one segment that is
/// not empty; and at the end `*name`, which matches one or more. Text wins over `:name`, which wins over `*name`. HEAD
/// is answered by the route for GET, OPTIONS by the router.
package struct Router: Sendable {
  /// All routes in the order in which they were added.
  package private(set) var routes: [Route] = []
  /// A path that requests may begin with, whether or not a proxy removes it. It is not seen by handlers.
  package var servedPath = ServedPath.none
  /// Answers requests for which there is no route.
  package var missing: Handler = { _ in throw HTTPError(.notFound) }
  /// Renders each failure; must not block. Plain text by default.
  package var errorPage: @Sendable (Failure) -> Response = { $0.plainResponse } {
    didSet { rebuild() }
  }

  /// The routes with their handlers already wrapped in the middleware.
  private var root = RouteNode()
  private var middleware: [Middleware] = []

  package init() {}

  /// Adds middleware around all routes and the router's own answers; the first added is the outermost.
  package mutating func use(_ middleware: Middleware) {
    self.middleware.append(middleware)
    rebuild()
  }

  /// Adds a route. A duplicate or malformed pattern is a programming mistake.
  package mutating func on(
    _ method: Method, _ pattern: String, name: String? = nil, options: Route.Options = .init(),
    quick: QuickHandler? = nil, _ handler: @escaping Handler
  ) {
    let route = Route(
      method: method, pattern: pattern, name: name, options: options, handler: handler, quick: quick,
      variables: RouteNode.variables(of: pattern))
    routes.append(route)
    root.add(route.with(wrapped(handler), quick: quick.map(wrapped)))
  }

  private mutating func rebuild() {
    root = RouteNode()
    for route in routes { root.add(route.with(wrapped(route.handler), quick: route.quick.map(wrapped))) }
  }

  package mutating func get(
    _ pattern: String, name: String? = nil, options: Route.Options = .init(), _ handler: @escaping Handler
  ) { on(.get, pattern, name: name, options: options, handler) }

  /// Chooses the route before any of the body is read; without one, the handler answers 404, 405 with `Allow`, 501, or
  /// OPTIONS. Called on the event loop: must not block.
  func resolve(_ head: RequestHead) -> Resolution {
    let asked = head.method
    guard asked.isKnown else {
      return failing(HTTPError(.notImplemented, "The server does not support the method \(asked)."))
    }
    if !servedPath.text.isEmpty, head.text(head.path) == servedPath.text {
      // The middleware adds the path.
      return Resolution(handler: wrapped { _ in Response.redirect(to: "/") })
    }
    if head.path.isEmpty {
      let methods = Set(routes.map(\.method)).union([.options])
      return Resolution(handler: wrapped { _ in Self.allowed(methods) })
    }
    guard let found = root.find(head.segments) else { return Resolution(handler: wrapped(missing)) }
    guard let route = found.first(where: { $0.method == asked }) ?? Self.head(asked, found) else {
      let own = Set(found.map(\.method))
      let methods = own.union(own.contains(.get) ? [.options, .head] : [.options])
      if asked == .options { return Resolution(handler: wrapped { _ in Self.allowed(methods) }) }
      return failing(
        HTTPError(
          .methodNotAllowed, "\(asked) is not allowed here.", headers: Self.allowed(methods).headers))
    }
    if case .length(let length) = head.framing, length > route.options.bodyLimit {
      return failing(
        HTTPError(.contentTooLarge, "The body is longer than \(route.options.bodyLimit) bytes."),
        bodyLimit: route.options.bodyLimit)
    }
    if head.framing != .none, let coding = head.first(named: "Content-Encoding"),
      !coding.equalsIgnoringCase("identity")
    {
      return failing(
        HTTPError(
          .unsupportedMediaType,
          "The Content-Encoding \(coding.prefix(40)) is not supported. Send the body without one.",
          headers: ["Accept-Encoding": "identity"]), bodyLimit: route.options.bodyLimit)
    }
    if route.options.requiresBody, head.framing == .none {
      return failing(HTTPError(.lengthRequired, "The request needs a body with a Content-Length."))
    }
    var resolution = Resolution(
      bodyLimit: route.options.bodyLimit, bodyTimeLimit: route.options.bodyTimeLimit, handler: route.handler)
    resolution.route = route
    resolution.quick = route.quick
    resolution.endsWithClient = route.options.endsWithClient
    resolution.mayWait = route.options.mayWait
    return resolution
  }

  /// HEAD is answered as GET.
  private static func head(_ method: Method, _ routes: [Route]) -> Route? {
    method == .head ? routes.first { $0.method == .get } : nil
  }

  /// Answers without a connection, for tests: errors are pages as over a connection.
  package func respond(to request: Request) async -> Response {
    var request = request.below(servedPath)
    let resolution = resolve(request.head)
    request.chosenRoute = resolution.route
    do {
      if let answer = try resolution.quick?(request) { return answer }
      return try await resolution.handler(request)
    } catch {
      return errorResponse(for: Failure(error, request: request, requestID: request.id))
    }
  }

  package func errorResponse(for failure: Failure) -> Response { errorPage(failure) }

  private func failing(_ error: HTTPError, bodyLimit: Int = 1 << 20) -> Resolution {
    Resolution(bodyLimit: bodyLimit, handler: wrapped { _ in throw error })
  }

  private static func allowed(_ methods: Set<Method>) -> Response {
    let names = methods.map(\.rawValue).sorted()
    return Response(.noContent, headers: ["Allow": names.joined(separator: ", ")])
  }

  /// Wraps a handler in the middleware. The error of a step becomes a page before the outer steps see it, so that
  /// steps that add header fields add them to error pages too.
  private func wrapped(_ handler: @escaping Handler) -> Handler {
    if middleware.isEmpty { return handler }
    return { [middleware, errorPage] request in
      var way = Way(middleware, request)
      do {
        try way.prepare()
        var answer = try await handler(way.request)
        way.finish(&answer)
        return answer
      } catch {
        var page = try Self.page(error, way.request, errorPage)
        way.finish(&page)
        return page
      }
    }
  }

  private func wrapped(_ quick: @escaping QuickHandler) -> QuickHandler {
    if middleware.isEmpty { return quick }
    return { [middleware, errorPage] request in
      var way = Way(middleware, request)
      do {
        try way.prepare()
        guard var answer = try quick(way.request) else { return nil }
        way.finish(&answer)
        return answer
      } catch {
        var page = try Self.page(error, way.request, errorPage)
        way.finish(&page)
        return page
      }
    }
  }

  private static func page(
    _ error: any Error, _ request: Request, _ errorPage: @Sendable (Failure) -> Response
  ) throws -> Response {
    if ClientGone.explains(error) { throw ClientGone() }
    let failure = Failure(error, request: request, requestID: request.id)
    if failure.status == .internalServerError { request.report?(failure) }
    return errorPage(failure)
  }
}

/// A request's way through the middleware and back.
private struct Way {
  private let middleware: [Middleware]
  /// How many steps have prepared the request: only these see the answer.
  private var prepared = 0
  private(set) var request: Request

  init(_ middleware: [Middleware], _ request: Request) {
    self.middleware = middleware
    self.request = request
  }

  mutating func prepare() throws {
    for step in middleware {
      try step.prepare(&request)
      prepared += 1
    }
  }

  func finish(_ answer: inout Response) {
    // Behind a proxy, a step has put the client's address there.
    answer.remoteAddress = request.remoteAddress
    for index in (0..<prepared).reversed() { middleware[index].finish(&answer, request) }
  }
}

/// The handler of a request, and its limits.
struct Resolution: Sendable {
  var handler: Handler
  /// Tried first.
  var quick: QuickHandler?
  /// Nil if there is none.
  var route: Route?
  /// The most bytes of a body; a longer one is answered with 413 before it is read.
  var bodyLimit: Int
  /// Whether the handler is cancelled when the client closes its side.
  var endsWithClient = false
  /// Whether the handler may wait for something to happen, and so does not count for ``ServerConfiguration/requestsOfClient``.
  var mayWait = false
  /// The longest total wait for the pieces of the body; nil: the server's default.
  var bodyTimeLimit: Duration?
  init(bodyLimit: Int = 1 << 20, bodyTimeLimit: Duration? = nil, handler: @escaping Handler) {
    self.handler = handler
    self.bodyLimit = bodyLimit
    self.bodyTimeLimit = bodyTimeLimit
  }
}
