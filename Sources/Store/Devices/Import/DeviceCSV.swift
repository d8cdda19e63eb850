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
      members[name] = name == "tags" ? try tags(cell) : .string(cell)
    }
    return .object(members)
  }

  private static let separators = ",;，、\t\r\n"

  /// The tags of a cell: separated by commas, semicolons or line ends, or, without one of these, by blanks; a JSON array;
  /// or an array as PostgreSQL writes it, `{beta,"early bird"}`.
  private static func tags(_ cell: String) throws(Problem) -> JSONValue {
    let text = cell.trimmingCharacters(in: .whitespacesAndNewlines)
    if text.hasPrefix("["), !EmptyValue.marks.contains(text) {
      do throws(Problem) {
        return try JSONValue(checking: Array(text.utf8))
      } catch {
        throw error.under("tags")
      }
    }
    if let array = postgresArray(text) { return .array(array.map(JSONValue.string)) }
    let isListed = text.contains { separators.contains($0) }
    let tags = text.split { isListed ? separators.contains($0) : $0.isWhitespace }
    return .array(tags.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.map(JSONValue.string))
  }

  /// The elements of `{a,"b c",NULL}`; nil: another text.
  private static func postgresArray(_ text: String) -> [String]? {
    guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
    var elements: [String] = []
    var rest = text.dropFirst().dropLast()
    while let first = rest.first {
      var element = ""
      if first == "\"" {
        rest.removeFirst()
        while let next = rest.popFirst(), next != "\"" {
          if next == "\\" { rest.popFirst().map { element.append($0) } } else { element.append(next) }
        }
        rest = rest.drop { $0 != "," }
      } else {
        let word = rest.prefix { $0 != "," }
        element = word.trimmingCharacters(in: .whitespaces)
        rest = rest[word.endIndex...]
      }
      elements.append(element)
      rest = rest.dropFirst()
    }
    return elements
  }

  /// Tags in one cell, separated by blanks; a JSON array if that would be read differently.
  static func cell(tags: [String]) -> String {
    let isPlain = tags.allSatisfy { tag in
      !EmptyValue.marks.contains(tag) && !tag.contains { $0.isWhitespace || separators.contains($0) }
    }
    let begins = tags.first?.first
    return isPlain && begins != "[" && begins != "{"
      ? tags.joined(separator: " ") : JSONValue.array(tags.map { .string($0) }).text()
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
