/// A segment in the tree of routes.
struct RouteNode: Sendable {
  /// A variable segment of a pattern.
  struct Variable: Sendable {
    let index: Int
    let name: String
    let isRest: Bool
  }

  /// One for each method: too few for a table.
  private var routes: [Route] = []
  private var text: [String: RouteNode] = [:]
  /// Zero or one element: an array, because a value cannot contain itself.
  private var variable: [RouteNode] = []
  private var rest: [RouteNode] = []

  static func parts(of pattern: String) -> [Substring] {
    precondition(pattern.hasPrefix("/"), "a pattern must begin with a slash: \(pattern)")
    return pattern == "/" ? [] : pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
  }

  static func variables(of pattern: String) -> [Variable] {
    let parts = parts(of: pattern)
    return parts.enumerated().compactMap { index, part in
      let isRest = part.hasPrefix("*")
      precondition(!isRest || index == parts.count - 1, "a rest parameter must end the pattern: \(pattern)")
      guard isRest || part.hasPrefix(":") else { return nil }
      return Variable(index: index, name: String(part.dropFirst()), isRest: isRest)
    }
  }

  mutating func add(_ route: Route) { add(route, Self.parts(of: route.pattern)[...]) }

  private mutating func add(_ route: Route, _ parts: ArraySlice<Substring>) {
    guard let part = parts.first else {
      precondition(
        !routes.contains { $0.method == route.method }, "duplicate route: \(route.method) \(route.pattern)")
      routes.append(route)
      return
    }
    if part.hasPrefix(":") {
      if variable.isEmpty { variable.append(RouteNode()) }
      variable[0].add(route, parts.dropFirst())
    } else if part.hasPrefix("*") {
      if rest.isEmpty { rest.append(RouteNode()) }
      rest[0].add(route, [])
    } else {
      text[String(part), default: RouteNode()].add(route, parts.dropFirst())
    }
  }

  /// The routes at the end of a path, one for each method; nil if no pattern matches.
  func find(_ segments: [String], from index: Int = 0) -> [Route]? {
    guard index < segments.count else { return routes.isEmpty ? nil : routes }
    if let found = text[segments[index]]?.find(segments, from: index + 1) { return found }
    if !segments[index].isEmpty, let found = variable.first?.find(segments, from: index + 1) { return found }
    return rest.first?.routes
  }
}

/// One entry of the router's table.
package final class Route: Sendable {
  /// Settings that apply before the handler is called. The body is read only when the handler asks for it, so that it
  /// can authenticate the client first.
  package struct Options: Sendable {
    package var bodyLimit: Int
    /// The longest total wait for the pieces of the body; nil: the server's default.
    package var bodyTimeLimit: Duration?
    /// Whether a request without a body is answered with 411.
    package var requiresBody: Bool
    /// Whether the handler is cancelled when the client closes its side: for expensive work that only this client
    /// needs. Otherwise a half-closed client still gets its answer.
    package var endsWithClient: Bool
    /// Whether the handler may wait for something to happen: others of the same client run meanwhile.
    package var mayWait: Bool

    package init(
      bodyLimit: Int = 1 << 20, bodyTimeLimit: Duration? = nil, requiresBody: Bool = false,
      endsWithClient: Bool = false, mayWait: Bool = false
    ) {
      self.bodyLimit = bodyLimit
      self.bodyTimeLimit = bodyTimeLimit
      self.requiresBody = requiresBody
      self.endsWithClient = endsWithClient
      self.mayWait = mayWait
    }
  }

  package let method: Method
  /// The path with its variable segments, such as `/pushes/:id`.
  package let pattern: String
  package let name: String?
  /// Settings that apply before the body is read.
  package let options: Options
  let handler: Handler
  let quick: QuickHandler?
  let variables: [RouteNode.Variable]

  init(
    method: Method, pattern: String, name: String?, options: Options, handler: @escaping Handler, quick: QuickHandler?,
    variables: [RouteNode.Variable]
  ) {
    self.method = method
    self.pattern = pattern
    self.name = name
    self.options = options
    self.handler = handler
    self.quick = quick
    self.variables = variables
  }

  func with(_ handler: @escaping Handler, quick: QuickHandler?) -> Route {
    Route(
      method: method, pattern: pattern, name: name, options: options, handler: handler, quick: quick,
      variables: variables)
  }
}
