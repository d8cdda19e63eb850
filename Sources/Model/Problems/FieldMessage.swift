package enum FieldMessage: String, MessageSet {
  case required = "field.required"
  case choose = "field.choose"
  case expected = "field.expected"
  case expectedChoice = "field.not_a_choice"
  case empty = "field.empty"
  /// Of a field that cannot be left out.
  case emptyRequired = "field.empty_required"
  case tooManyCharacters = "field.too_many_characters"
  case tooManyBytes = "field.too_many_bytes"
  case outOfRange = "field.out_of_range"
  case tooMany = "field.too_many"
  case controlCharacter = "field.control_character"
  case unknown = "field.unknown"
  case unknownSimilar = "field.unknown_similar"
  case notATime = "field.not_a_time"
  case notAnAddress = "field.not_an_address"

  package var english: String {
    switch self {
    case .required: "This field is required."
    case .choose: "Choose one of {choices}. There is no default."
    case .expected: "Expected a JSON {expected}, found {found}."
    case .expectedChoice: "Must be one of {choices}, not “{value}”."
    case .empty: "Must not be empty. Leave the field out instead."
    case .emptyRequired: "Must not be empty."
    case .tooManyCharacters: "Must have at most {limit} characters, but has {count}."
    case .tooManyBytes: "Must have at most {limit} bytes of UTF-8, but has {count}."
    case .outOfRange: "Must be between {low} and {high}, not {value}."
    case .tooMany: "Must have at most {limit} entries, but has {count}."
    case .controlCharacter: "Must not contain the control character {character} (at position {position})."
    case .unknown: "Unknown field. Known fields: {known}."
    case .unknownSimilar: "Unknown field. Did you mean “{suggestion}”?"
    case .notATime: "Must be an RFC 3339 time with Z or an offset, e.g. 2026-12-01T09:00:00Z, not “{value}”."
    case .notAnAddress: "Must be a URL that starts with https:// or http://, not “{value}”."
    }
  }
}

/// How long a text may be.
package enum TextLimit: Sendable, Hashable {
  /// Unicode's code points, as JSON Schema counts for `maxLength`.
  case characters(Int)
  /// In UTF-8.
  case bytes(Int)

  package func problem(with text: String) -> Problem? {
    switch self {
    // No text has more characters than bytes, and bytes are cheaper to count.
    case .characters(let limit) where text.utf8.count > limit && text.unicodeScalars.count > limit:
      Problem("", FieldMessage.tooManyCharacters, ["limit": String(limit), "count": String(text.unicodeScalars.count)])
    case .bytes(let limit) where text.utf8.count > limit:
      Problem("", FieldMessage.tooManyBytes, ["limit": String(limit), "count": String(text.utf8.count)])
    default: nil
    }
  }
}
