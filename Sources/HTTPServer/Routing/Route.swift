/// One line of the router's table.
package struct Route: Sendable {
  /// What is decided before the handler is called. Nothing of the body is read before the handler asks for it, so that
  /// it can find out first who sends it.
  package struct Options: Sendable {
    /// The most bytes of the body.
    package var bodyLimit: Int
    /// The most that is waited for all pieces of the body together; nil: as the server is configured.
    package var bodyTimeLimit: Duration?
    /// Whether a request without a body is answered with 411.
    package var requiresBody: Bool
    /// Whether the handler is cancelled when the client closes its side: for costly work that only this client wants.
    /// Otherwise a client that has closed its side still gets its answer.
    package var endsWithClient: Bool

    /// Creates options.
    package init(
      bodyLimit: Int = 1 << 20, bodyTimeLimit: Duration? = nil, requiresBody: Bool = false, endsWithClient: Bool = false
    ) {
      self.bodyLimit = bodyLimit
      self.bodyTimeLimit = bodyTimeLimit
      self.requiresBody = requiresBody
      self.endsWithClient = endsWithClient
    }
  }

  /// The method.
  package let method: Method
  /// The path with its variable segments, as `/pushes/:id`.
  package let pattern: String
  /// What the route is called.
  package let name: String?
  /// What is decided before the body is read.
  package let options: Options
  let handler: Handler
  let variables: [RouteNode.Variable]
}
