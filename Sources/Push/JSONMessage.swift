/// What is said about a text that is no JSON, or that two readers could read differently.
public enum JSONMessage: String, MessageSet {
  case ended = "json.ended"
  case unexpected = "json.unexpected"
  case trailing = "json.trailing"
  case controlCharacter = "json.control_character"
  case escape = "json.escape"
  case surrogate = "json.surrogate"
  case encoding = "json.encoding"
  case number = "json.number"
  case repeatedKey = "json.repeated_key"
  case tooDeep = "json.too_deep"

  /// The English sentence.
  public var english: String {
    switch self {
    case .ended: "This is not whole JSON: it ends in line {line}, column {column}, before a value does."
    case .unexpected: "This is not JSON: line {line}, column {column} has “{character}” where it must not stand."
    case .trailing: "The JSON is complete, but “{character}” follows it in line {line}, column {column}."
    case .controlCharacter:
      "Line {line}, column {column}: a JSON string must not contain {character} itself; write it with a backslash."
    case .escape: "Line {line}, column {column}: JSON knows no such escape after a backslash."
    case .surrogate: "Line {line}, column {column}: \\u gives half a character; its other half is missing."
    case .encoding: "Line {line}, column {column}: this is not UTF-8."
    case .number: "Line {line}, column {column}: this number cannot be kept as it is; write it as a string."
    case .repeatedKey: "Line {line}, column {column}: “{key}” stands twice in one object."
    case .tooDeep: "Line {line}, column {column}: the JSON is nested more than {limit} levels deep."
    }
  }
}
