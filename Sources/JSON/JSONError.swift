/// Where a text is not JSON, or two readers could read it differently.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Fault: String, Sendable, CaseIterable {
    /// The text ends before its value does.
    case ended
    /// A character stands where it must not.
    case unexpected
    /// Something follows the value.
    case trailing
    /// A string holds a control character as it is; `detail` is its code point.
    case controlCharacter
    /// JSON knows no such escape after a backslash.
    case escape
    /// `\u` gives half a character.
    case surrogate
    /// A string is not UTF-8.
    case encoding
    /// A number would be rounded.
    case number
    /// A name stands twice in one object; `detail` is the name.
    case repeatedKey
    /// Arrays and objects are nested too deeply; `detail` is how deeply they may be.
    case tooDeep
  }

  /// What is wrong.
  public let fault: Fault
  /// From 1.
  public let line: Int
  /// In characters, from 1.
  public let column: Int
  /// The character there; nil at the end of the text.
  public let character: String?
  /// What the fault says more.
  public let detail: String?

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
      case .repeatedKey: "the member\(subject) stands twice in one object"
      case .tooDeep: "nested more than \(detail ?? "") levels deep"
      }
    return "line \(line), column \(column): \(words)"
  }
}
