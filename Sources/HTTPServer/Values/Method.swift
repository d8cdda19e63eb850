/// The method of a request; upper and lower case are different methods (RFC 9110 section 9.1).
package struct Method: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }

  package init(stringLiteral value: String) { rawValue = value }

  package var description: String { rawValue }

  /// Whether the method is safe: it asks for no change (RFC 9110 section 9.2.1).
  package var isSafe: Bool { self == .get || self == .head || self == .options }

  /// Whether the server knows the method; others are answered with 501.
  var isKnown: Bool { Self.known.contains(self) }

  private static let known: [Method] = [.get, .post, .head, .put, .delete, .patch, .options, .trace, .query]

  package static let get: Method = "GET"
  package static let head: Method = "HEAD"
  package static let post: Method = "POST"
  package static let put: Method = "PUT"
  package static let patch: Method = "PATCH"
  package static let delete: Method = "DELETE"
  package static let options: Method = "OPTIONS"
  /// Known, so that it is refused with 405; answering it would show a script its own cookies.
  static let trace: Method = "TRACE"
  /// Known, so that it is refused with 405.
  static let query: Method = "QUERY"
}
