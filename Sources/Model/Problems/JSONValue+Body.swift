import Calendar
package import Foundation
public import JSON

extension JSONValue {
  /// Parses JSON input.
  ///
  /// - Throws: a problem with the place of the error.
  package init(checking bytes: [UInt8]) throws(Problem) {
    do throws(JSONError) {
      try self.init(parsing: bytes)
    } catch {
      throw Problem(error)
    }
  }

  /// The type's name in the JSON standard. An integer is a number too, so others say what they are.
  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer: "integer"
    case .double: "number with a fraction"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

extension JSONValue {
  package static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

  /// RFC 3339 in UTC, or null.
  package static func optional(_ date: Date?) -> JSONValue { date.map { .time($0) } ?? .null }

  /// RFC 3339 in UTC.
  package static func time(_ date: Date) -> JSONValue { .string(Timestamp.text(date)) }
  package static func number(_ number: Int) -> JSONValue { .integer(Int64(number)) }
}

extension Date: JSONWritable {
  /// RFC 3339 in UTC.
  package func write(to json: inout JSONWriter) {
    json.plainString(limit: Timestamp.longest) { Timestamp.write(self, to: $0) }
  }
}
