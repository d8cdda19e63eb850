internal import CSQLite

/// A statement's present row, valid until the next step.
///
/// Columns count from 0. The non-optional accessors read NULL as 0 or empty, as SQLite converts it
/// (https://www.sqlite.org/c3ref/column_blob.html); STRICT tables with NOT NULL exclude that where it matters.
package struct Row: ~Copyable {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  package func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }
  package func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
  package func int(_ column: Int) -> Int { Int(int64(column)) }

  /// Everything but 0 is true.
  package func bool(_ column: Int) -> Bool { int64(column) != 0 }
  package func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

  /// Read by its length in bytes, so that a NUL inside it is kept.
  package func text(_ column: Int) -> String {
    // The manual prescribes this order: column_text, then column_bytes.
    guard let start = sqlite3_column_text(handle, Int32(column)) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  package func blob(_ column: Int) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, Int32(column)) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  package func optionalInt64(_ column: Int) -> Int64? { isNull(column) ? nil : int64(column) }
  package func optionalInt(_ column: Int) -> Int? { isNull(column) ? nil : int(column) }
  package func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

  /// A value stored by its raw text.
  ///
  /// - Throws: `SQLiteError` for an unknown text, for instance in a newer program's file.
  package func value<Value: RawRepresentable<String>>(_ column: Int, as type: Value.Type) throws(SQLiteError) -> Value {
    guard let value = Value(rawValue: text(column)) else { throw unknown(column, "\(type)") }
    return value
  }

  /// A value stored by its raw number.
  ///
  /// - Throws: `SQLiteError` for an unknown number, for instance in a newer program's file.
  package func value<Value: RawRepresentable<Int>>(_ column: Int, as type: Value.Type) throws(SQLiteError) -> Value {
    guard let value = Value(rawValue: int(column)) else { throw unknown(column, "\(type)") }
    return value
  }

  /// For code that does not know its columns.
  package func value(_ column: Int) -> SQLiteValue {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_INTEGER: .integer(int64(column))
    case SQLITE_FLOAT: .real(double(column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(blob(column))
    default: .null
    }
  }

  private func unknown(_ column: Int, _ type: String) -> SQLiteError {
    let name = sqlite3_column_name(handle, Int32(column)).map { String(cString: $0) } ?? "\(column)"
    let sql = sqlite3_sql(handle).map { String(cString: $0) }
    return SQLiteError(.mismatch, "column \(name) holds no known \(type)", sql: sql)
  }
}
