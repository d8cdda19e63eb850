/// What can be an argument of a statement.
public protocol SQLiteBindable {
  /// Binds the value to the parameter `index`, counted from 1.
  func bind(to statement: Statement, at index: Int) throws(SQLiteError)
}

extension Int64: SQLiteBindable {
  /// Binds an INTEGER.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Int: SQLiteBindable {
  /// Binds an INTEGER.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Bool: SQLiteBindable {
  /// Binds 1 or 0.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try statement.bind(index, self ? 1 : 0)
  }
}

extension Double: SQLiteBindable {
  /// Binds a REAL.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension String: SQLiteBindable {
  /// Binds TEXT.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension [UInt8]: SQLiteBindable {
  /// Binds a BLOB.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) { try statement.bind(index, self) }
}

extension Optional: SQLiteBindable where Wrapped: SQLiteBindable {
  /// Binds the value, or NULL.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    if let self { try self.bind(to: statement, at: index) } else { try statement.bindNull(index) }
  }
}

extension SQLiteBindable where Self: RawRepresentable, RawValue: SQLiteBindable {
  /// Binds the raw value: a type of yours needs no more than to declare the conformance.
  public func bind(to statement: Statement, at index: Int) throws(SQLiteError) {
    try rawValue.bind(to: statement, at: index)
  }
}
