/// The data for a template.
public enum Value: Sendable {
  /// Nothing; false in a section.
  case null
  case bool(Bool)
  case integer(Int64)
  /// Written without `.0` if it is an integer.
  case double(Double)
  /// Text; an empty one is false in a section.
  case string(String)
  case list([Value])
  case object([String: Value])
  /// Text computed on demand. For an interpolation the argument is empty; for a section, it is the section's unrendered
  /// source. The result is rendered as a template.
  case lambda(@Sendable (String) -> String)

  /// Whether a section with this value is shown.
  var isTrue: Bool {
    switch self {
    case .null: false
    case .bool(let value): value
    case .string(let text): !text.isEmpty
    case .list(let values): !values.isEmpty
    case .integer, .double, .object, .lambda: true
    }
  }

  /// The member of an object, nil for anything else.
  public subscript(name: String) -> Value? {
    if case .object(let members) = self { members[name] } else { nil }
  }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral,
  ExpressibleByStringInterpolation
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A list.
  public init(arrayLiteral elements: Value...) { self = .list(elements) }
  /// Of two equal names the later wins.
  public init(dictionaryLiteral elements: (String, Value)...) { self = .object(Dictionary(elements) { $1 }) }
  /// Nothing.
  public init(nilLiteral: ()) { self = .null }
}
