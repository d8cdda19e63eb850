package import Foundation

package protocol SQLiteBindable {
  /// Binds the value to the parameter `index`, counted from 1.
  func bind(to statement: Statement, at index: Int) throws(SQLiteError)
}

extension Int64: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Int: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Bool: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(index, self ? 1 : 0)
  }
}

extension Double: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension String: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension [UInt8]: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Optional: SQLiteBindable where Wrapped: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    if let self { try self.bind(to: statement, at: index) } else { try statement.bindNull(index) }
  }
}

extension SQLiteBindable where Self: RawRepresentable, RawValue: SQLiteBindable {
  /// Binds the raw value: enums only declare the conformance.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try rawValue.bind(to: statement, at: index)
  }
}

package enum SQLiteValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

extension SQLiteValue: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
  package init(nilLiteral: ()) { self = .null }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension SQLiteValue: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    switch self {
    case .null: try statement.bindNull(index)
    case .integer(let value): try statement.bind(index, value)
    case .real(let value): try statement.bind(index, value)
    case .text(let value): try statement.bind(index, value)
    case .blob(let value): try statement.bind(index, value)
    }
  }
}

extension Data: SQLiteBindable {
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.check(withUnsafeBytes { statement.bind(index, bytes: $0) })
  }
}

extension Date: SQLiteBindable {
  /// Since 1970; a time beyond what 64 bits hold is the last or the first that they do.
  package var milliseconds: Int64 {
    let milliseconds = (timeIntervalSince1970 * 1000).rounded()
    return Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min)
  }

  package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(index, milliseconds)
  }
}

extension Row {
  package func date(_ column: Int) -> Date { Date(milliseconds: int64(column)) }

  package func optionalDate(_ column: Int) -> Date? { isNull(column) ? nil : date(column) }
}
