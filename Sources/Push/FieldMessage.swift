/// What is said about a field of a request that cannot be read.
public enum FieldMessage: String, MessageSet {
  case required = "field.required"
  case choose = "field.choose"
  case expected = "field.expected"
  case expectedChoice = "field.not_a_choice"
  case empty = "field.empty"
  case tooManyCharacters = "field.too_many_characters"
  case tooManyBytes = "field.too_many_bytes"
  case outOfRange = "field.out_of_range"
  case tooMany = "field.too_many"
  case controlCharacter = "field.control_character"
  case unknown = "field.unknown"
  case unknownSimilar = "field.unknown_similar"
  case notATime = "field.not_a_time"
  case notAnAddress = "field.not_an_address"
  case notYet = "field.not_yet"

  /// The English sentence.
  public var english: String {
    switch self {
    case .required: "This is needed."
    case .choose: "Choose one of {choices}; nothing is preselected."
    case .expected: "Expected a JSON {expected}, found {found}."
    case .expectedChoice: "Must be one of {choices}; it is “{value}”."
    case .empty: "Must not be empty; leave it out instead."
    case .tooManyCharacters: "May have at most {limit} characters; this has {count}."
    case .tooManyBytes: "May have at most {limit} bytes of UTF-8; this has {count}."
    case .outOfRange: "Must be between {low} and {high}; it is {value}."
    case .tooMany: "May list at most {limit}; this lists {count}."
    case .controlCharacter: "Must not contain the control character {character} (at position {position})."
    case .unknown: "There is no such field here; there are {known}."
    case .unknownSimilar: "There is no such field here. Did you mean “{suggestion}”?"
    case .notATime:
      "Must be a time as RFC 3339 writes it, as 2026-12-01T09:00:00Z, with Z or an offset; it is “{value}”."
    case .notAnAddress: "Must be an address that begins with https:// or http://; it is “{value}”."
    case .notYet: "Signalbox knows this field, but cannot act on it yet: leave it out or empty."
    }
  }
}
