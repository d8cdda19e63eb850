/// Text in the cell of a spreadsheet. What begins with one of a few characters is a formula there, whoever wrote it; an
/// apostrophe before it makes it text (OWASP, CSV injection).
public enum SpreadsheetText {
  // Scalars, not characters: a combining mark, or the two of CR LF, would hide them.
  private static let formula: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]

  /// With an apostrophe in front if a spreadsheet would take it for a formula.
  public static func guarded(_ text: String) -> String { isFormula(text) ? "'" + text : text }

  /// Without the apostrophe of ``guarded(_:)``.
  static func unguarded(_ text: String) -> String {
    guard text.unicodeScalars.first == "'" else { return text }
    let rest = String(text.unicodeScalars.dropFirst())
    return isFormula(rest) ? rest : text
  }

  /// Also with apostrophes before it: each text comes back from ``guarded(_:)`` as it was.
  private static func isFormula(_ text: String) -> Bool {
    text.unicodeScalars.first { $0 != "'" }.map(formula.contains) ?? false
  }
}
