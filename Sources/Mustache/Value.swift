/// What a template is filled with.
public enum Value: Sendable {
  /// Nothing; in a section, false.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// Any number; whole ones are written without `.0`.
  case double(Double)
  /// Text; in a section, an empty one counts as false.
  case string(String)
  /// Values that a section repeats over.
  case list([Value])
  /// Values by name.
  case object([String: Value])
  /// Text made on demand. For an interpolation it gets an empty string; for a section, the section's unrendered
  /// source. What it returns is rendered as a template.
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
  /// An object; of two equal names the later counts.
  public init(dictionaryLiteral elements: (String, Value)...) { self = .object(Dictionary(elements) { $1 }) }
  /// Nothing.
  public init(nilLiteral: ()) { self = .null }

  /// Text, or null.
  public init(_ text: String?) { self = text.map(Value.string) ?? .null }
  /// A whole number, or null.
  public init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
  /// True or false.
  public init(_ flag: Bool) { self = .bool(flag) }
}
