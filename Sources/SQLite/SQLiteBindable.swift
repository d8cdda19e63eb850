package import Foundation

/// What can be an argument of a statement.
package protocol SQLiteBindable {
  /// Binds the value to the parameter `index`, counted from 1.
  func bind(to statement: Statement, at index: Int) throws(SQLiteError)
}

extension Int64: SQLiteBindable {
  /// Binds an INTEGER.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Int: SQLiteBindable {
  /// Binds an INTEGER.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Bool: SQLiteBindable {
  /// Binds 1 or 0.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(index, self ? 1 : 0)
  }
}

extension Double: SQLiteBindable {
  /// Binds a REAL.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension String: SQLiteBindable {
  /// Binds TEXT.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension [UInt8]: SQLiteBindable {
  /// Binds a BLOB.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Optional: SQLiteBindable where Wrapped: SQLiteBindable {
  /// Binds the value, or NULL.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    if let self { try self.bind(to: statement, at: index) } else { try statement.bindNull(index) }
  }
}

extension SQLiteBindable where Self: RawRepresentable, RawValue: SQLiteBindable {
  /// Binds the raw value: a type of yours needs no more than to declare the conformance.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try rawValue.bind(to: statement, at: index)
  }
}

/// Any value that SQLite keeps.
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
  /// NULL.
  package init(nilLiteral: ()) { self = .null }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
  /// Text.
  package init(stringLiteral value: String) { self = .text(value) }
  /// 1 or 0.
  package init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension SQLiteValue: SQLiteBindable {
  /// Binds the value.
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
  /// Binds a BLOB.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.check(withUnsafeBytes { statement.bind(index, bytes: $0) })
  }
}

extension Date: SQLiteBindable {
  /// Milliseconds since 1970, as dates are stored.
  package var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

  /// The date of so many milliseconds since 1970.
  package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// Binds an INTEGER: milliseconds since 1970.
  package func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(index, milliseconds)
  }
}

extension Row {
  /// A date, from milliseconds since 1970.
  package func date(_ column: Int) -> Date { Date(milliseconds: int64(column)) }

  /// A date, nil for NULL.
  package func optionalDate(_ column: Int) -> Date? { isNull(column) ? nil : date(column) }
}
