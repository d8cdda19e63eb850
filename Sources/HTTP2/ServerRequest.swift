/// A request as it came, whole.
package struct ServerRequest: Sendable {
  /// The connection that it came on.
  package let connection: ServerConnection
  /// Odd; grows with each request of a connection.
  package let streamID: Int32
  /// All fields in order, repeats kept, pseudo-fields too.
  package let fields: HeaderList
  /// At most ``ServerSettings/maximumBodyBytes`` of the body.
  package let body: [UInt8]
  /// How long the body was.
  package let bodyByteCount: Int

  /// `:method`.
  package var method: String { fields[":method"] ?? "" }
  /// `:path`, with the query.
  package var path: String { fields[":path"] ?? "" }
  /// `:authority`, or `host` where a client sends that instead (RFC 9113 §8.3.1 allows it).
  package var authority: String { fields[":authority"] ?? fields["host"] ?? "" }
}
