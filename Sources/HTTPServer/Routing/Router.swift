/// Chooses a handler by method and path.
///
/// A pattern consists of segments: text, compared after percent-decoding; `:name`, which matches one segment that is
/// not empty; and at the end `*name`, which matches one or more. Text wins over `:name`, which wins over `*name`. HEAD
/// is answered by the route for GET, OPTIONS by the router.
package struct Router: Responder {
  /// All routes in the order in which they were added.
  package private(set) var routes: [Route] = []
  /// Answers requests for which there is no route.
  package var missing: Handler = { _ in throw HTTPError(.notFound) }
  /// Renders each failure; must not block. Plain text by default.
  package var errorPage: @Sendable (Failure) -> Response = { $0.plainResponse } {
    didSet { rebuild() }
  }

  /// The router's own answers pass the middleware too.
  package var refusesLongBodies: Bool { true }

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

  /// Chooses the route; without one, the handler answers 404, 405 with `Allow`, 501, or OPTIONS.
  package func resolve(_ request: inout Request) -> Resolution {
    guard request.method.isKnown else {
      return failing(HTTPError(.notImplemented, "The server does not support the method \(request.method)."))
    }
    if request.head.path.isEmpty {
      let methods = Set(routes.map(\.method)).union([.options])
      return Resolution(handler: wrapped { _ in Self.allowed(methods) })
    }
    guard let found = root.find(request.pathSegments) else { return Resolution(handler: wrapped(missing)) }
    let asked = request.method
    guard let route = found.first(where: { $0.method == asked }) ?? Self.head(asked, found) else {
      let own = Set(found.map(\.method))
      let methods = own.union(own.contains(.get) ? [.options, .head] : [.options])
      if request.method == .options { return Resolution(handler: wrapped { _ in Self.allowed(methods) }) }
      return failing(
        HTTPError(
          .methodNotAllowed, "\(request.method) is not allowed here.", headers: Self.allowed(methods).headers))
    }
    if case .length(let length) = request.head.framing, length > route.options.bodyLimit {
      return failing(
        HTTPError(.contentTooLarge, "The body is longer than \(route.options.bodyLimit) bytes."),
        bodyLimit: route.options.bodyLimit)
    }
    if request.head.framing != .none, let coding = request.header("Content-Encoding"),
      !coding.equalsIgnoringCase("identity")
    {
      return failing(
        HTTPError(
          .unsupportedMediaType,
          "The Content-Encoding \(coding.prefix(40)) is not supported. Send the body without one.",
          headers: ["Accept-Encoding": "identity"]), bodyLimit: route.options.bodyLimit)
    }
    if route.options.requiresBody, request.head.framing == .none {
      return failing(HTTPError(.lengthRequired, "The request needs a body with a Content-Length."))
    }
    request.chosenRoute = route
    var resolution = Resolution(
      bodyLimit: route.options.bodyLimit, bodyTimeLimit: route.options.bodyTimeLimit, handler: route.handler)
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
    var request = request
    let resolution = resolve(&request)
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
        return way.finished(try await handler(way.request))
      } catch {
        return way.finished(try Self.page(error, way.request, errorPage))
      }
    }
  }

  private func wrapped(_ quick: @escaping QuickHandler) -> QuickHandler {
    if middleware.isEmpty { return quick }
    return { [middleware, errorPage] request in
      var way = Way(middleware, request)
      do {
        try way.prepare()
        return try quick(way.request).map { way.finished($0) }
      } catch {
        return way.finished(try Self.page(error, way.request, errorPage))
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

  func finished(_ answer: Response) -> Response {
    var answer = answer
    // Behind a proxy, a step has put the client's address there.
    answer.remoteAddress = request.remoteAddress
    for index in (0..<prepared).reversed() { middleware[index].finish(&answer, request) }
    return answer
  }
}
