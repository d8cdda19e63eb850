package import JSON
import Text

package enum JSONMessage: String, MessageSet {
  case ended = "json.ended"
  case unexpected = "json.unexpected"
  case trailing = "json.trailing"
  case controlCharacter = "json.control_character"
  case escape = "json.escape"
  case surrogate = "json.surrogate"
  case encoding = "json.encoding"
  case number = "json.number"
  case numberOf = "json.number_of"
  case repeatedKey = "json.repeated_key"
  case tooDeep = "json.too_deep"

  package var english: String {
    switch self {
    case .ended: "The JSON is incomplete: it ends at line {line}, column {column}."
    case .unexpected: "Invalid JSON: unexpected “{character}” at line {line}, column {column}."
    case .trailing: "Unexpected “{character}” after the end of the JSON, at line {line}, column {column}."
    case .controlCharacter:
      "Line {line}, column {column}: a JSON string must not contain {character}. Escape it with a backslash."
    case .escape: "Line {line}, column {column}: invalid escape after a backslash."
    case .surrogate: "Line {line}, column {column}: \\u starts a surrogate pair whose other half is missing."
    case .encoding: "Line {line}, column {column}: invalid UTF-8."
    case .number: "Line {line}, column {column}: this number cannot be stored exactly. Use a smaller one, or a string."
    case .numberOf:
      "{field}: this number cannot be stored exactly (line {line}, column {column}). Use a smaller one, or a string if "
        + "the field takes text."
    case .repeatedKey: "Line {line}, column {column}: duplicate key “{key}”."
    case .tooDeep: "Line {line}, column {column}: the JSON is nested more than {limit} levels deep."
    }
  }
}

extension Problem {
  /// Describes a JSON error.
  package init(_ error: JSONError) {
    let message: JSONMessage
    var arguments = ["line": String(error.line), "column": String(error.column)]
    arguments["character"] = error.character
    switch error.fault {
    case .ended: message = .ended
    case .unexpected: message = .unexpected
    case .trailing: message = .trailing
    case .controlCharacter:
      message = .controlCharacter
      arguments["character"] = error.detail
    case .escape: message = .escape
    case .surrogate: message = .surrogate
    case .encoding: message = .encoding
    case .number where error.path.isEmpty: message = .number
    case .number:
      message = .numberOf
      arguments["field"] = error.path.abbreviated(to: 60)
    case .repeatedKey:
      message = .repeatedKey
      arguments["key"] = error.detail?.abbreviated(to: 60)
    case .tooDeep:
      message = .tooDeep
      arguments["limit"] = error.detail
    }
    self.init("", message, arguments)
  }
}
