/// A segment of the routes' tree.
struct RouteNode: Sendable {
  /// A place in a pattern that takes what the request has there.
  struct Variable: Sendable {
    let index: Int
    let name: String
    let isRest: Bool
  }

  private var routes: [Method: Route] = [:]
  private var text: [String: RouteNode] = [:]
  /// None or one: an array, because a value cannot hold itself.
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
      precondition(routes[route.method] == nil, "duplicate route: \(route.method) \(route.pattern)")
      routes[route.method] = route
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

  /// The routes at the end of a path, by method; nil if no pattern fits.
  func find(_ segments: [String], from index: Int = 0) -> [Method: Route]? {
    guard index < segments.count else { return routes.isEmpty ? nil : routes }
    if let found = text[segments[index]]?.find(segments, from: index + 1) { return found }
    if !segments[index].isEmpty, let found = variable.first?.find(segments, from: index + 1) { return found }
    return rest.first?.routes
  }
}

extension Parameters {
  /// The values of a route's variables.
  init(of route: Route, in segments: [String]) {
    self.init()
    for variable in route.variables {
      if variable.isRest {
        rest = Array(segments[variable.index...])
        set(variable.name, rest.joined(separator: "/"))
      } else {
        set(variable.name, segments[variable.index])
      }
    }
  }
}
