internal import Foundation
import JSON
internal import Model
import Text

/// How the fields of a device stand in the cells of a CSV file.
enum DeviceCSV {
  /// What is wrong with a header, nil if nothing is.
  static func problem(withHeader names: [String], defaults: [String: JSONValue]) -> Problem? {
    let known = DeviceImport.columns + DeviceImport.readOnlyColumns
    for (index, name) in names.enumerated() {
      if !known.contains(name) {
        let arguments = ["column": String(name.prefix(60)), "known": DeviceImport.columns.joined(separator: ", ")]
        return Problem("", ImportMessage.columnUnknown, arguments)
      }
      if names[..<index].contains(name) { return Problem("", ImportMessage.columnTwice, ["column": name]) }
    }
    let missing = DeviceImport.neededColumns.first { !names.contains($0) && defaults[$0] == nil }
    return missing.map { Problem("", ImportMessage.columnMissing, ["column": $0]) }
  }

  /// The object that the line stands for. An empty cell says nothing.
  static func json(_ header: [String], _ cells: [String]) throws(Problem) -> JSONValue {
    var members: [String: JSONValue] = [:]
    for (name, written) in zip(header, cells) where !written.isEmpty {
      let cell = SpreadsheetText.unguarded(written)
      if name != "tags" {
        members[name] = .string(cell)
      } else if cell.hasPrefix("[") {
        do throws(Problem) {
          members[name] = try JSONValue(checking: Array(cell.utf8))
        } catch {
          throw error.under("tags")
        }
      } else {
        members[name] = .array(cell.split(separator: " ").map { .string(String($0)) })
      }
    }
    return .object(members)
  }

  /// Tags in one cell: separated by blanks; as a JSON array if a tag has a blank itself.
  static func cell(tags: [String]) -> String {
    let isPlain = tags.allSatisfy { !$0.contains(" ") } && tags.first?.hasPrefix("[") != true
    return isPlain ? tags.joined(separator: " ") : JSONValue.array(tags.map { .string($0) }).text()
  }

  /// A cell as RFC 4180 wants it.
  static func quoted(_ cell: String) -> String {
    let isPlain = !cell.utf8.contains { $0 == 0x22 || $0 == 0x2c || $0 == 0x3b || $0 < 0x20 }
    return isPlain ? cell : "\"" + cell.replacing("\"", with: "\"\"") + "\""
  }
}

/// Text in the cell of a spreadsheet. What begins with one of a few characters is a formula there, whoever wrote it; an
/// apostrophe before it makes it text (OWASP, CSV injection).
package enum SpreadsheetText {
  // Scalars, not characters: a combining mark, or the two of CR LF, would hide them.
  private static let formula: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]

  /// With an apostrophe in front if a spreadsheet would take it for a formula.
  package static func guarded(_ text: String) -> String { isFormula(text) ? "'" + text : text }

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
