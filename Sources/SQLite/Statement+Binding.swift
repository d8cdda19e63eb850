internal import CSQLite

extension Statement {
  /// Binds a whole number.
  package func bind(_ index: Int, _ value: Int64) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, Int32(index), value))
  }

  /// Binds a whole number.
  package func bind(_ index: Int, _ value: Int) throws(SQLiteError) { try bind(index, Int64(value)) }

  /// Binds a number.
  package func bind(_ index: Int, _ value: Double) throws(SQLiteError) {
    try check(sqlite3_bind_double(handle, Int32(index), value))
  }

  /// Binds text by its length in bytes, so that a NUL inside it is kept.
  package func bind(_ index: Int, _ value: String) throws(SQLiteError) {
    var value = value
    let code = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        // A nil pointer would bind NULL: an empty string needs an address too. SQLITE_TRANSIENT: SQLite copies before
        // it returns, because the string's storage ends with this closure.
        if let start = bytes.baseAddress, bytes.count > 0 {
          sqlite3_bind_text64(
            handle, Int32(index), start, UInt64(bytes.count), csqlite_transient(), UInt8(SQLITE_UTF8))
        } else {
          sqlite3_bind_text(handle, Int32(index), "", 0, csqlite_transient())
        }
      }
    }
    try check(code)
  }

  /// Binds bytes.
  package func bind(_ index: Int, _ value: [UInt8]) throws(SQLiteError) {
    try check(value.withUnsafeBytes { bind(index, bytes: $0) })
  }

  /// Binds text, or NULL.
  package func bind(_ index: Int, _ value: String?) throws(SQLiteError) {
    if let value { try bind(index, value) } else { try bindNull(index) }
  }

  /// Binds a whole number, or NULL.
  package func bind(_ index: Int, _ value: Int64?) throws(SQLiteError) {
    if let value { try bind(index, value) } else { try bindNull(index) }
  }

  /// Binds bytes, or NULL.
  package func bind(_ index: Int, _ value: [UInt8]?) throws(SQLiteError) {
    if let value { try bind(index, value) } else { try bindNull(index) }
  }

  /// Binds NULL.
  package func bindNull(_ index: Int) throws(SQLiteError) { try check(sqlite3_bind_null(handle, Int32(index))) }

  /// Binds all parameters; there must be as many arguments.
  package func bindAll(_ arguments: [any SQLiteBindable]) throws(SQLiteError) {
    guard arguments.count == parameterCount else {
      throw SQLiteError(.range, "\(arguments.count) arguments for \(parameterCount) parameters", sql: sql)
    }
    for (offset, argument) in arguments.enumerated() { try argument.bind(to: self, at: offset + 1) }
  }

  /// The result code of binding bytes that live somewhere for the length of the call.
  func bind(_ index: Int, bytes: UnsafeRawBufferPointer) -> Int32 {
    // As with text: a nil pointer would be NULL, an empty blob is not.
    guard let start = bytes.baseAddress, bytes.count > 0 else { return sqlite3_bind_zeroblob(handle, Int32(index), 0) }
    return sqlite3_bind_blob64(handle, Int32(index), start, UInt64(bytes.count), csqlite_transient())
  }
}
