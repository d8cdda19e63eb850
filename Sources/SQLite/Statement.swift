internal import CSQLite

/// One compiled statement: bind, step, reset, and again. Belongs to its connection's thread.
///
/// For bulk work: bind and step the same statement in a loop; nothing is allocated on the Swift side.
/// Parameters count from 1, as in SQL (`?1`); columns of a row count from 0.
package final class Statement {
  let handle: OpaquePointer
  /// The text it was compiled from.
  package let sql: String
  /// Lent out by the statement cache; a second user gets a statement of its own.
  var isLent = false
  /// When the statement cache lent it last, by the cache's own count.
  var lastUse: UInt64 = 0

  /// Compiles exactly one statement.
  init(connection: OpaquePointer, sql: String, persistent: Bool) throws(SQLiteError) {
    var compiled: OpaquePointer?
    var rest = 0
    var sql = sql
    let code = sql.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { text in
        var tail: UnsafePointer<CChar>?
        // An empty string has no address: SQLite then answers OK and no statement.
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(connection, text.baseAddress, Int32(text.count), flags, &compiled, &tail)
        if let tail, let start = text.baseAddress {
          rest = text[(tail - start)...].count { ![32, 10, 13, 9, 59].contains($0) }
        }
        return code
      }
    }
    guard code == SQLITE_OK else { throw SQLiteError(connection: connection, sql: sql) }
    guard let compiled else { throw SQLiteError(.misuse, "there is no statement in this text", sql: sql) }
    guard rest == 0 else {
      sqlite3_finalize(compiled)
      throw SQLiteError(.misuse, "more than one statement; use script(_:)", sql: sql)
    }
    handle = compiled
    self.sql = sql
  }

  deinit { sqlite3_finalize(handle) }

  /// How many parameters it has.
  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }
  /// How many columns its rows have; 0 for a statement that returns none.
  package var columnCount: Int { Int(sqlite3_column_count(handle)) }

  /// Goes on to the next row.
  ///
  /// - Returns: whether there is one; after false, or an error, the statement is reset and can run again.
  @discardableResult
  package func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      sqlite3_reset(handle)
      return false
    default:
      let error = SQLiteError(connection: sqlite3_db_handle(handle), sql: sql)
      sqlite3_reset(handle)
      throw error
    }
  }

  /// Runs to the end and makes ready to run again; what was bound stays bound.
  package func run() throws(SQLiteError) { while try step() {} }

  /// The row that the last ``step()`` arrived at.
  package var row: Row { Row(handle) }

  /// Makes ready to run again; what was bound stays bound.
  package func reset() { sqlite3_reset(handle) }

  /// Forgets all that was bound.
  package func clearBindings() { sqlite3_clear_bindings(handle) }

  func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw SQLiteError(connection: sqlite3_db_handle(handle), sql: sql) }
  }
}
