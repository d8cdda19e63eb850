public import Foundation

extension Data: SQLiteBindable {
  /// Binds a BLOB.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.check(withUnsafeBytes { statement.bind(index, bytes: $0) })
  }
}

extension Date: SQLiteBindable {
  /// Milliseconds since 1970, as dates are stored.
  public var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

  /// The date of so many milliseconds since 1970.
  public init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// Binds an INTEGER: milliseconds since 1970.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(index, milliseconds)
  }
}

extension Row {
  /// A date, from milliseconds since 1970.
  public func date(_ column: Int) -> Date { Date(milliseconds: int64(column)) }

  /// A date, nil for NULL.
  public func optionalDate(_ column: Int) -> Date? { isNull(column) ? nil : date(column) }
}
