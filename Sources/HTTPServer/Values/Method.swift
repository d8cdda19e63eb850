/// The method of a request; upper and lower case are different methods (RFC 9110 section 9.1).
package struct Method: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// As it stands in the request line.
  package let rawValue: String

  /// Takes a method's name as it is.
  package init(rawValue: String) { self.rawValue = rawValue }

  /// Takes a method's name as it is.
  package init(stringLiteral value: String) { rawValue = value }

  /// The name.
  package var description: String { rawValue }

  /// Whether a request with this method asks for nothing to change (RFC 9110 section 9.2.1).
  package var isSafe: Bool { self == .get || self == .head || self == .options }

  /// Whether the server knows what the method means; others are answered with 501.
  var isKnown: Bool { Self.known.contains(self) }

  private static let known: [Method] = [.get, .post, .head, .put, .delete, .patch, .options, .trace, .query]

  /// GET
  package static let get: Method = "GET"
  /// HEAD
  package static let head: Method = "HEAD"
  /// POST
  package static let post: Method = "POST"
  /// PUT
  package static let put: Method = "PUT"
  /// PATCH
  package static let patch: Method = "PATCH"
  /// DELETE
  package static let delete: Method = "DELETE"
  /// OPTIONS
  package static let options: Method = "OPTIONS"
  /// TRACE: known, so that it is refused with 405, and never answered: it would show a script its own cookies.
  static let trace: Method = "TRACE"
  /// QUERY: known, so that it is refused with 405.
  static let query: Method = "QUERY"
}
