internal import Foundation
import JSON
internal import Model
import Text

/// Devices in the cells of a CSV file.
enum DeviceCSV {
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

  /// The object of a line. Empty cells are absent members.
  static func json(_ header: [String], _ cells: [String]) throws(Problem) -> JSONValue {
    var members = [String: JSONValue](minimumCapacity: header.count)
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

  /// Tags in one cell, separated by blanks; a JSON array if a tag contains a blank.
  static func cell(tags: [String]) -> String {
    let isPlain = tags.allSatisfy { !$0.contains(" ") } && tags.first?.hasPrefix("[") != true
    return isPlain ? tags.joined(separator: " ") : JSONValue.array(tags.map { .string($0) }).text()
  }

  /// Quotes a cell according to RFC 4180.
  static func quoted(_ cell: String) -> String {
    let isPlain = !cell.utf8.contains { $0 == 0x22 || $0 == 0x2c || $0 == 0x3b || $0 < 0x20 }
    return isPlain ? cell : "\"" + cell.replacing("\"", with: "\"\"") + "\""
  }
}

/// Text for cells of spreadsheets, which interpret some first characters as a formula, whoever wrote the text. An
/// apostrophe prevents that (OWASP, CSV injection).
package enum SpreadsheetText {
  // Scalars, not characters: a combining mark, or CR LF, would hide them.
  private static let formula: Set<Unicode.Scalar> = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"]

  /// With an apostrophe in front if a spreadsheet would see a formula.
  package static func guarded(_ text: String) -> String { isFormula(text) ? "'" + text : text }

  /// Reverts ``guarded(_:)``.
  static func unguarded(_ text: String) -> String {
    guard text.unicodeScalars.first == "'" else { return text }
    let rest = String(text.unicodeScalars.dropFirst())
    return isFormula(rest) ? rest : text
  }

  /// Also with leading apostrophes, so that ``guarded(_:)`` is reversible for each text.
  private static func isFormula(_ text: String) -> Bool {
    text.unicodeScalars.first { $0 != "'" }.map(formula.contains) ?? false
  }
}
