internal import CSQLite

/// One compiled statement: bind, step, reset, and again. Belongs to its connection's thread.
///
/// For bulk work, bind and step the same statement in a loop: nothing is allocated on the Swift side. Parameters count
/// from 1, as in SQL (`?1`); columns of a row count from 0.
package final class Statement {
  let handle: OpaquePointer
  /// The SQL text.
  package let sql: String
  /// Whether the cache has lent it out; a second user gets another statement.
  var isLent = false
  /// When the cache lent it last, by the cache's own counter.
  var lastUse: UInt64 = 0

  /// Compiles exactly one statement.
  init(connection: OpaquePointer, sql: String, persistent: Bool) throws(SQLiteError) {
    var compiled: OpaquePointer?
    var rest = 0
    var sql = sql
    let code = sql.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { text in
        var tail: UnsafePointer<CChar>?
        // An empty string has no address: SQLite then returns OK and no statement.
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

  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  /// Advances to the next row.
  ///
  /// - Returns: whether there is one; after false or an error the statement is reset and can run again.
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

  /// Runs to the end and resets; bindings stay.
  package func run() throws(SQLiteError) { while try step() {} }

  /// The row of the last ``step()``.
  package var row: Row { Row(handle) }

  /// Makes it ready to run again; bindings stay.
  package func reset() { sqlite3_reset(handle) }

  package func clearBindings() { sqlite3_clear_bindings(handle) }

  func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw SQLiteError(connection: sqlite3_db_handle(handle), sql: sql) }
  }
}

/// Compiled statements of one connection by their text. When full, the least recently used one is dropped.
struct StatementCache {
  private var statements: [String: Statement] = [:]
  /// The statements found last, by where their texts stand. Nearly every text is a literal, which always stands at the
  /// same address: comparing it with itself takes no time, while hashing it would take longer than binding does.
  private var recent: [Statement?] = Array(repeating: nil, count: 256)
  private var clock: UInt64 = 0
  private let capacity = 128
  /// Longer texts are lists of many parameters, hardly ever reused.
  private let longest = 4096

  /// An idle statement, marked as lent.
  mutating func take(_ sql: String, connection: OpaquePointer) throws(SQLiteError) -> Statement {
    clock += 1
    let place = place(of: sql)
    if let statement = find(sql, at: place) {
      if statement.isLent { return try Statement(connection: connection, sql: sql, persistent: false) }
      recent[place] = statement
      statement.lastUse = clock
      statement.isLent = true
      return statement
    }
    let keep = sql.utf8.count <= longest
    let statement = try Statement(connection: connection, sql: sql, persistent: keep)
    statement.isLent = true
    if keep {
      if statements.count >= capacity, let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
        statements[oldest] = nil
        forgetRecent()
      }
      statement.lastUse = clock
      statements[sql] = statement
    }
    return statement
  }

  private func find(_ sql: String, at place: Int) -> Statement? {
    if let statement = recent[place], statement.sql == sql { return statement }
    return statements[sql]
  }

  private func place(of sql: String) -> Int {
    let address = sql.utf8.withContiguousStorageIfAvailable { UInt(bitPattern: $0.baseAddress) } ?? 0
    // Literals begin at multiples of 16.
    return Int((address >> 4) % UInt(recent.count))
  }

  private mutating func forgetRecent() { recent = Array(repeating: nil, count: recent.count) }

  /// Finalizes all statements that are not lent.
  mutating func removeAll() {
    statements.removeAll()
    forgetRecent()
  }
}

extension Statement {
  package func bind(_ index: Int, _ value: Int64) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, Int32(index), value))
  }

  package func bind(_ index: Int, _ value: Int) throws(SQLiteError) { try bind(index, Int64(value)) }

  package func bind(_ index: Int, _ value: Double) throws(SQLiteError) {
    try check(sqlite3_bind_double(handle, Int32(index), value))
  }

  /// Bound by its length in bytes, so that a NUL inside it is kept.
  package func bind(_ index: Int, _ value: String) throws(SQLiteError) {
    var value = value
    let code = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        // A nil pointer would bind NULL, so an empty string needs an address too. SQLITE_TRANSIENT: SQLite copies
        // before it returns, because the string's storage ends with this closure.
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

  package func bind(_ index: Int, _ value: [UInt8]) throws(SQLiteError) {
    try check(value.withUnsafeBytes { bind(index, bytes: $0) })
  }

  package func bind(_ index: Int, _ value: String?) throws(SQLiteError) {
    if let value { try bind(index, value) } else { try bindNull(index) }
  }

  package func bind(_ index: Int, _ value: Int64?) throws(SQLiteError) {
    if let value { try bind(index, value) } else { try bindNull(index) }
  }

  package func bindNull(_ index: Int) throws(SQLiteError) { try check(sqlite3_bind_null(handle, Int32(index))) }

  /// Binds all parameters; there must be as many arguments.
  package func bindAll(_ arguments: [any SQLiteBindable]) throws(SQLiteError) {
    guard arguments.count == parameterCount else {
      throw SQLiteError(.range, "\(arguments.count) arguments for \(parameterCount) parameters", sql: sql)
    }
    for (offset, argument) in arguments.enumerated() { try argument.bind(to: self, at: offset + 1) }
  }

  /// Binds bytes that live for the length of the call; returns the result code.
  func bind(_ index: Int, bytes: UnsafeRawBufferPointer) -> Int32 {
    // As with text: a nil pointer would be NULL, an empty blob is not.
    guard let start = bytes.baseAddress, bytes.count > 0 else { return sqlite3_bind_zeroblob(handle, Int32(index), 0) }
    return sqlite3_bind_blob64(handle, Int32(index), start, UInt64(bytes.count), csqlite_transient())
  }
}
