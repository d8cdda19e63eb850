public import Foundation

/// Any JSON value; integers are not converted to floating point.
public enum JSONValue: Sendable, Hashable, Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Parses a document strictly: no trailing commas, no duplicate keys, no rounded numbers.
  ///
  /// - Throws: what is wrong, with line and column.
  public init(parsing data: Data) throws(JSONError) {
    try self.init(parsing: Array(data))
  }

  /// - Throws: what is wrong, with line and column.
  public init(parsing bytes: [UInt8]) throws(JSONError) {
    var parser = JSONParser(bytes)
    self = try parser.document()
  }

  /// Reads a value from any decoder.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {  // each form is tried in turn
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {  // as above
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {  // as above
      self = .double(value)
    } else if let value = try? container.decode(String.self) {  // as above
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {  // as above
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Writes the value to any encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// Keys sorted, no blanks, slashes not escaped.
  public func data(pretty: Bool = false) -> Data {
    guard pretty else { return Data(bytes) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    // Encoding fails only for NaN and infinities, which JSON input cannot produce.
    return (try? encoder.encode(self)) ?? Data("null".utf8)
  }

  /// ``data(pretty:)`` as bytes, not pretty.
  public var bytes: [UInt8] { JSONWriter.bytes(of: self) }

  /// ``data(pretty:)`` as a string.
  public func text(pretty: Bool = false) -> String {
    pretty ? String(decoding: data(pretty: true), as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
  }

  /// The member of an object; nil for other kinds of values, as below.
  public subscript(key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// The text of a string, nil for anything else.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The value of a whole number, nil for anything else.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The value of true or false, nil for anything else.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The elements of an array, nil for anything else.
  public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  /// The members of an object, nil for anything else.
  public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
}

// Not `ExpressibleByNilLiteral`: where a `JSONValue?` is meant, `found ? value : nil` would silently become `.null`.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Of two equal keys the later wins.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}
