/// The method of a request; upper and lower case are different methods (RFC 9110 section 9.1).
public struct Method: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// As it stands in the request line.
  public let rawValue: String

  /// Takes a method's name as it is.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Takes a method's name as it is.
  public init(stringLiteral value: String) { rawValue = value }

  /// The name.
  public var description: String { rawValue }

  /// Whether a request with this method asks for nothing to change (RFC 9110 section 9.2.1).
  public var isSafe: Bool { self == .get || self == .head || self == .options }

  /// Whether the server knows what the method means; others are answered with 501.
  var isKnown: Bool { Self.known.contains(self) }

  private static let known: [Method] = [.get, .post, .head, .put, .delete, .patch, .options, .trace, .query]

  /// GET
  public static let get: Method = "GET"
  /// HEAD
  public static let head: Method = "HEAD"
  /// POST
  public static let post: Method = "POST"
  /// PUT
  public static let put: Method = "PUT"
  /// PATCH
  public static let patch: Method = "PATCH"
  /// DELETE
  public static let delete: Method = "DELETE"
  /// OPTIONS
  public static let options: Method = "OPTIONS"
  /// TRACE: known, so that it is refused with 405, and never answered: it would show a script its own cookies.
  static let trace: Method = "TRACE"
  /// QUERY: known, so that it is refused with 405.
  static let query: Method = "QUERY"
}
