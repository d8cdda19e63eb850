import JSON
import Model
import Mustache

/// The texts in other languages: numbered rows of fields, such as `localization.1.title`.
extension SendForm {
  private static let texts = ["title", "subtitle", "body"]
  /// The row numbers that are read. Bounded, because a new row gets the number after the last one.
  private static let numbers = 1...9999
  /// Where a problem of all rows stands.
  static let rowsField = Localization.key

  static func field(_ row: some CustomStringConvertible, _ name: String) -> String { "localization.\(row).\(name)" }

  /// The numbers of the rows, in order. Without script, a removed row leaves a gap.
  var rows: [Int] {
    let numbers = form.all.compactMap { field -> Int? in
      let parts = field.name.split(separator: ".")
      return parts.count == 3 && parts[0] == "localization" ? Int(parts[1]) : nil
    }
    return Set(numbers.filter(Self.numbers.contains)).sorted()
  }

  /// Whether a field belongs to a row.
  static func isOfRow(_ name: String) -> Bool { name.hasPrefix("localization.") }

  var rowFields: [String] { rows.flatMap { row in (["language"] + Self.texts).map { Self.field(row, $0) } } }

  /// Nil: there are none.
  func localizations(_ problems: inout [Problem]) -> JSONValue? {
    var found: [String: JSONValue] = [:]
    var seen: [LanguageTag: String] = [:]
    for row in rows {
      // Prose keeps its spaces and line breaks.
      let texts = Self.texts.filter { !form[Self.field(row, $0)].isEmpty }
      let (field, name) = (Self.field(row, "language"), form[Self.field(row, "language")])
      if name.isEmpty {
        if !texts.isEmpty { problems.append(Problem(field, FieldMessage.required)) }
        continue
      }
      do throws(Problem) {
        let tag = try LanguageTag(parsing: name)
        if let other = seen.updateValue(name, forKey: tag) {
          throw Problem("", LocalizationMessage.same, ["one": other, "other": name])
        }
        found[tag.text] = .object(
          Dictionary(uniqueKeysWithValues: texts.map { ($0, .string(form.raw(Self.field(row, $0)))) }))
      } catch {
        problems.append(error.under(field))
      }
    }
    return found.isEmpty ? nil : .object(found)
  }

  /// Maps a problem with a text to its row.
  func placed(_ problem: Problem) -> Problem {
    let path = problem.field.split(separator: ".").map(String.init)
    guard path.count > 2, path[1] == Localization.key,
      let row = rows.first(where: { (try? LanguageTag(parsing: form[Self.field($0, "language")]))?.text == path[2] })
    else { return Self.placed(problem) }
    var placed = problem
    placed.field = Self.field(row, path.count > 3 ? path[3] : "title")
    return placed
  }

  /// The form with one more row.
  func withRow() -> Form {
    Form(form.all.filter { $0.name != "add_language" } + [(Self.field((rows.last ?? 0) + 1, "language"), "")])
  }

  /// The form without a row.
  func without(row: String) -> Form {
    Form(form.all.filter { $0.name != "remove_language" && !$0.name.hasPrefix(Self.field(row, "")) })
  }

  static func languageFields(_ localizations: [Localization]) -> [(String, String)] {
    localizations.enumerated().flatMap { index, text in
      [
        ("language", text.language.text), ("title", text.title), ("subtitle", text.subtitle), ("body", text.body),
      ].compactMap { name, value in value.map { (field(index + 1, name), $0) } }
    }
  }
}

/// A row of the send form: the texts in one language.
struct LanguageRowView: View {
  /// `N` stands for the number in the row that a script copies.
  let number: String
  let form: Form
  let errors: FieldErrors

  static let fields: [Field<Self>] = [
    .text("number") { $0.number }, part("language"), part("title"), part("subtitle"), part("body"),
  ]

  /// Named `row_…`, because the form itself has a title, too.
  private static func part(_ name: String) -> Field<Self> { .view("row_\(name)") { $0.part(name) } }

  private func part(_ name: String) -> FieldView {
    let field = SendForm.field(number, name)
    return FieldView(value: form.raw(field), error: errors[field])
  }
}
