/// Compiled statements of one connection by their text. The least recently used one goes when it is full.
struct StatementCache {
  private var statements: [String: Statement] = [:]
  private var clock: UInt64 = 0
  private let capacity = 128
  /// Texts longer than this are lists of many parameters, hardly ever the same twice.
  private let longest = 4096

  /// A statement that nobody else uses at the moment, marked as lent.
  mutating func take(_ sql: String, connection: OpaquePointer) throws(SQLiteError) -> Statement {
    clock += 1
    if let statement = statements[sql] {
      if statement.isLent { return try Statement(connection: connection, sql: sql, persistent: false) }
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
      }
      statement.lastUse = clock
      statements[sql] = statement
    }
    return statement
  }

  /// Finalizes all that nobody holds.
  mutating func removeAll() { statements.removeAll() }
}
