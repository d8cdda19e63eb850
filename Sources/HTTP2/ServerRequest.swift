/// A request as it came, whole.
public struct ServerRequest: Sendable {
  /// The connection that it came on.
  public let connection: ServerConnection
  /// Odd; grows with each request of a connection.
  public let streamID: Int32
  /// All fields in order, repeats kept, pseudo-fields too.
  public let fields: HeaderList
  /// At most ``ServerSettings/maximumBodyBytes`` of the body.
  public let body: [UInt8]
  /// How long the body was.
  public let bodyByteCount: Int

  /// `:method`.
  public var method: String { fields[":method"] ?? "" }
  /// `:path`, with the query.
  public var path: String { fields[":path"] ?? "" }
  /// `:authority`, or `host` where a client sends that instead (RFC 9113 §8.3.1 allows it).
  public var authority: String { fields[":authority"] ?? fields["host"] ?? "" }
}
