import Calendar
package import Foundation
package import JSON

extension JSONValue {
  /// A text or null.
  package static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

  /// A number or null.
  package static func optional(_ number: Int?) -> JSONValue { number.map { .integer(Int64($0)) } ?? .null }

  /// RFC 3339 in UTC, or null.
  package static func optional(_ date: Date?) -> JSONValue { date.map { .time($0) } ?? .null }

  /// RFC 3339 in UTC.
  package static func time(_ date: Date) -> JSONValue { .string(Timestamp.text(date)) }
  package static func number(_ number: Int) -> JSONValue { .integer(Int64(number)) }
}
