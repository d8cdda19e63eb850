/// One line of the router's table.
public struct Route: Sendable {
  /// What is decided before the body is read.
  public struct Options: Sendable {
    /// The most bytes of the body.
    public var bodyLimit: Int
    /// Whether the handler reads the body itself. Otherwise it is read before the handler is called, so that
    /// `request.body.collect(upTo:)` returns at once.
    public var streamsBody: Bool
    /// Whether a request without a body is answered with 411.
    public var requiresBody: Bool
    /// Whether the handler is cancelled when the client closes its side: for costly work that only this client wants.
    /// Otherwise a client that has closed its side still gets its answer.
    public var endsWithClient: Bool

    /// Creates options.
    public init(
      bodyLimit: Int = 1 << 20, streamsBody: Bool = false, requiresBody: Bool = false, endsWithClient: Bool = false
    ) {
      self.bodyLimit = bodyLimit
      self.streamsBody = streamsBody
      self.requiresBody = requiresBody
      self.endsWithClient = endsWithClient
    }
  }

  /// The method.
  public let method: Method
  /// The path with its variable segments, as `/pushes/:id`.
  public let pattern: String
  /// What the route is called.
  public let name: String?
  /// What is decided before the body is read.
  public let options: Options
  let handler: Handler
  let variables: [RouteNode.Variable]
}
