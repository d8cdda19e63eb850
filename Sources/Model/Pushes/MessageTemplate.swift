package import JSON
import Text

/// A saved message with places such as `{{name}}`, which are filled in when it is sent.
package struct MessageTemplate: Sendable, Hashable {
  /// Of a push in the API: what a template holds. App and audience are chosen when it is sent.
  package static let members = ["notification", "apns", "android", "jpush", "options"]
  /// Characters of a value.
  package static let valueLimit = 2000

  package let content: [String: JSONValue]

  /// - Throws: every problem, by its path: members that a template cannot have, unknown fields, and misspelt places.
  package init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    for name in Self.members { _ = fields.members(name) }
    for place in Self.places(in: json).sorted() where !Self.isName(place) {
      fields.report(Problem("", TemplateMessage.place, ["place": place.abbreviated(to: 40)]))
    }
    var push = (json.object ?? [:]).filter { Self.members.contains($0.key) }
    (push["app"], push["environment"], push["audience"]) = ("com.example.app", "development", "all")
    do {
      _ = try PushDraft(json: .object(push))
    } catch {
      // A place may stand for a number: whether values fit shows when the push is sent.
      let known =
        [FieldMessage.unknown.code, FieldMessage.unknownSimilar.code, DraftMessage.contentMissing.code]
        + LocalizationMessage.allCases.map(\.code)
      for problem in error.all where known.contains(problem.code) { fields.report(problem) }
    }
    try fields.finish()
    content = (json.object ?? [:]).filter { Self.members.contains($0.key) && $0.value != .null }
  }

  /// What ``json`` wrote, unchecked.
  package init(stored json: JSONValue) { content = json.object ?? [:] }

  package var json: JSONValue { .object(content) }

  /// The names of its places, in alphabetical order.
  package var places: [String] { Self.places(in: json).sorted() }

  /// The content with every place filled in. A text that is one place takes a number or a boolean as it is.
  ///
  /// - Throws: every place without a value, and every value without a place.
  package func filled(_ values: [String: JSONValue]) throws(Problems) -> [String: JSONValue] {
    let places = places
    var problems = places.filter { values[$0] == nil }.map {
      Problem("values.\($0)", TemplateMessage.missing, ["place": $0])
    }
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      if !places.contains(name) {
        let similar = Suggestion.closest(to: name, among: places.filter { values[$0] == nil })
        problems.append(
          similar.map { Problem("values.\(name)", TemplateMessage.unknownSimilar, ["suggestion": $0]) }
            ?? Problem(
              "values.\(name)", TemplateMessage.unknown,
              ["known": places.isEmpty ? "–" : places.joined(separator: ", ")]))
      } else if Self.text(value) == nil {
        problems.append(Problem("values.\(name)", TemplateMessage.value))
      }
    }
    guard problems.isEmpty else { throw Problems(problems) }
    return content.mapValues { Self.filling($0, values) }
  }

  private static func filling(_ value: JSONValue, _ values: [String: JSONValue]) -> JSONValue {
    switch value {
    case .string(let text):
      var filled = ""
      for piece in pieces(of: text) {
        switch piece {
        case .text(let text): filled += text
        case .place(let name, let isWhole):
          guard let value = values[name] else { continue }
          if isWhole { return value }
          filled += Self.text(value) ?? ""
        }
      }
      return .string(filled)
    case .array(let elements): return .array(elements.map { filling($0, values) })
    case .object(let members): return .object(members.mapValues { filling($0, values) })
    case .null, .bool, .integer, .double: return value
    }
  }

  /// Nil: lists, objects and null fill no place.
  private static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text.count <= valueLimit ? text : nil
    case .integer, .double, .bool: value.text()
    case .null, .array, .object: nil
    }
  }

  private enum Piece {
    case text(String)
    /// `isWhole`: nothing stands beside it.
    case place(String, isWhole: Bool)
  }

  private static func pieces(of text: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
      if open.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<open.lowerBound]))) }
      let isWhole = open.lowerBound == text.startIndex && close.upperBound == text.endIndex
      let name = rest[open.upperBound..<close.lowerBound].drop { $0 == " " }
      pieces.append(.place(String(name.reversed().drop { $0 == " " }.reversed()), isWhole: isWhole))
      rest = rest[close.upperBound...]
    }
    return rest.isEmpty ? pieces : pieces + [.text(String(rest))]
  }

  private static func places(in value: JSONValue) -> Set<String> {
    switch value {
    case .string(let text): Set(pieces(of: text).compactMap { if case .place(let name, _) = $0 { name } else { nil } })
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(places(in: $1)) }
    case .object(let members): members.values.reduce(into: []) { $0.formUnion(places(in: $1)) }
    case .null, .bool, .integer, .double: []
    }
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 40
      && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
  }
}

package enum TemplateMessage: String, MessageSet {
  case place = "template.place"
  case missing = "template.missing"
  case unknown = "template.unknown"
  case unknownSimilar = "template.unknown_similar"
  case value = "template.value"
  case both = "template.both"
  case none = "template.none"
  case taken = "template.taken"

  package var english: String {
    switch self {
    case .place: "“{place}” cannot be the name of a placeholder. Use letters, digits, and _, at most 40 characters."
    case .missing: "The template needs a value for “{place}”."
    case .unknown: "The template has no such placeholder. Its placeholders: {known}."
    case .unknownSimilar: "The template has no such placeholder. Did you mean “{suggestion}”?"
    case .value: "A value must be a text of at most 2000 characters, a number, true, or false."
    case .both: "This comes from the template. Leave it out, or leave out the template."
    case .none: "There is no template “{name}”."
    case .taken: "Another template has this name."
    }
  }
}
