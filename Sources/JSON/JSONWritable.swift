/// What writes itself as JSON.
public protocol JSONWritable {
  func write(to json: inout JSONWriter)
}

/// What writes itself as a JSON object.
public protocol JSONObject: JSONWritable {
  func writeMembers(to json: inout JSONWriter)
}

extension JSONObject {
  /// An object of its members.
  @inlinable
  public func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }
}

extension JSONWritable {
  /// Indented, members sorted, for people.
  public var prettyJSON: String {
    JSONValue(written: self).text(pretty: true)
  }
}

extension String: JSONWritable {
  /// A string, escaped.
  public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: JSONWritable {
  /// `true` or `false`.
  public func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Int: JSONWritable {
  /// A number.
  public func write(to json: inout JSONWriter) { json.integer(Int64(self)) }
}

extension Int64: JSONWritable {
  /// A number.
  public func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Double: JSONWritable {
  /// A number.
  public func write(to json: inout JSONWriter) { json.double(self) }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
  /// Nil is `null`.
  @inlinable
  public func write(to json: inout JSONWriter) {
    if let self { self.write(to: &json) } else { json.null() }
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  /// An array of its elements.
  @inlinable
  public func write(to json: inout JSONWriter) {
    json.array { json in for element in self { json.element(element) } }
  }
}

extension JSONValue {
  /// Converts a value, to store it inside another one, such as an activity log entry's detail.
  public init<Value: JSONWritable>(written value: Value) {
    // The writer's output is valid JSON.
    self = (try? JSONValue(parsing: JSONWriter.bytes(of: value))) ?? .null
  }
}

extension JSONValue: JSONWritable {
  /// Members are sorted, so that equal values are written equally.
  public func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .bool(let flag): json.bool(flag)
    case .integer(let number): json.integer(number)
    case .double(let number): json.double(number)
    case .string(let text): json.string(text)
    case .array(let elements): elements.write(to: &json)
    case .object(let members):
      json.object { json in
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
          json.key(dynamic: name)
          member.write(to: &json)
        }
      }
    }
  }
}
