/// Compiled statements of one connection by their text. The least recently used one goes when it is full.
struct StatementCache {
  private struct Entry {
    let statement: Statement
    var used: UInt64
  }

  private var entries: [String: Entry] = [:]
  private var clock: UInt64 = 0
  private let capacity = 128
  /// Texts longer than this are lists of many parameters, hardly ever the same twice.
  private let longest = 4096

  /// A statement that nobody else uses at the moment, marked as lent.
  mutating func take(_ sql: String, connection: OpaquePointer) throws(SQLiteError) -> Statement {
    clock += 1
    if let statement = entries[sql]?.statement {
      if statement.isLent { return try Statement(connection: connection, sql: sql, persistent: false) }
      entries[sql]?.used = clock
      statement.isLent = true
      return statement
    }
    let keep = sql.utf8.count <= longest
    let statement = try Statement(connection: connection, sql: sql, persistent: keep)
    statement.isLent = true
    if keep {
      if entries.count >= capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key {
        entries[oldest] = nil
      }
      entries[sql] = Entry(statement: statement, used: clock)
    }
    return statement
  }

  /// How many are kept.
  var count: Int { entries.count }

  /// Finalizes all that nobody holds.
  mutating func removeAll() { entries.removeAll() }
}
