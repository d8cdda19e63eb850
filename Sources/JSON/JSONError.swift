/// Why a text is no JSON, or is ambiguous.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Fault: String, Sendable, CaseIterable {
    case ended
    /// The text ends within a value.
    case unexpected
    /// Something follows the value.
    case trailing
    /// An unescaped control character in a string; `detail` is its code point.
    case controlCharacter
    /// An unknown escape after a backslash.
    case escape
    /// `\\u` with half of a surrogate pair.
    case surrogate
    /// Invalid UTF-8 in a string.
    case encoding
    /// A number that would be rounded.
    case number
    /// A duplicate name in an object; `detail` is the name.
    case repeatedKey
    /// Too many nested arrays and objects; `detail` is the limit.
    case tooDeep
  }

  /// What is wrong.
  public let fault: Fault
  /// From 1.
  public let line: Int
  /// In characters, from 1.
  public let column: Int
  /// The character at that place; nil at the end of the text.
  public let character: String?
  /// What the fault says more.
  public let detail: String?
  /// The value that it is in, such as `options.rate` or `tags[2]`; empty: the outermost.
  public internal(set) var path = ""

  /// The same, of a member or an element of another value.
  func under(_ place: String) -> JSONError {
    var error = self
    error.path = path.isEmpty || path.hasPrefix("[") ? place + path : "\(place).\(path)"
    return error
  }

  /// As `line 3, column 10: unexpected “x”`.
  public var description: String {
    let subject = (detail ?? character).map { " “\($0)”" } ?? ""
    let words: String =
      switch fault {
      case .ended: "the text ends before its value does"
      case .unexpected: "unexpected\(subject)"
      case .trailing: "\(subject.dropFirst()) follows the complete value"
      case .controlCharacter: "a string contains the control character\(subject)"
      case .escape: "unknown escape after a backslash"
      case .surrogate: "\\u gives half a character"
      case .encoding: "invalid UTF-8"
      case .number: "a number that cannot be represented exactly"
      case .repeatedKey: "the member\(subject) appears twice in one object"
      case .tooDeep: "nested more than \(detail ?? "") levels deep"
      }
    return "line \(line), column \(column): \(words)"
  }
}
