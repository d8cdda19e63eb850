internal import CSQLite

extension Database {
  package enum Next: Sendable {
    case `continue`
    case stop
  }

  /// - Returns: how many rows it changed; meaningless for other statements.
  @discardableResult
  package func execute(_ sql: String, _ arguments: [SQLiteValue] = []) throws -> Int {
    try withStatement(sql) { statement in
      try statement.bindAll(arguments)
      try statement.run()
      return changes
    }
  }

  /// - Returns: how many rows it changed; meaningless for other statements.
  @discardableResult
  package func run(_ sql: String, _ arguments: any SQLiteBindable...) throws -> Int {
    try withStatement(sql) { statement in
      try statement.bindAll(arguments)
      try statement.run()
      return changes
    }
  }

  /// Runs all statements of a text, without arguments and without the cache.
  package func script(_ sql: String) throws(SQLiteError) {
    let connection = try connection()
    // sqlite3_exec reports no position: the message with the text is all there is.
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw SQLiteError(connection: connection, sql: sql)
    }
  }

  package func fetchAll<Value>(
    _ sql: String, _ arguments: any SQLiteBindable..., row body: (borrowing Row) throws -> Value
  ) throws -> [Value] {
    try fetchAll(sql, arguments: arguments, row: body)
  }

  /// For arguments in an array.
  package func fetchAll<Value>(
    _ sql: String, arguments: [any SQLiteBindable], row body: (borrowing Row) throws -> Value
  ) throws -> [Value] {
    try withStatement(sql) { statement in
      try statement.bindAll(arguments)
      var values: [Value] = []
      while try statement.step() { values.append(try body(statement.row)) }
      return values
    }
  }

  package func fetchOne<Value>(
    _ sql: String, _ arguments: any SQLiteBindable..., row body: (borrowing Row) throws -> Value
  ) throws -> Value? {
    try fetchOne(sql, arguments: arguments, row: body)
  }

  /// For arguments in an array.
  package func fetchOne<Value>(
    _ sql: String, arguments: [any SQLiteBindable], row body: (borrowing Row) throws -> Value
  ) throws -> Value? {
    try withStatement(sql) { statement in
      try statement.bindAll(arguments)
      return try statement.step() ? try body(statement.row) : nil
    }
  }

  package func forEach(
    _ sql: String, _ arguments: any SQLiteBindable..., row body: (borrowing Row) throws -> Next
  ) throws {
    try forEach(sql, arguments: arguments, row: body)
  }

  /// For arguments in an array.
  package func forEach(
    _ sql: String, arguments: [any SQLiteBindable], row body: (borrowing Row) throws -> Next
  ) throws {
    try withStatement(sql) { statement in
      try statement.bindAll(arguments)
      while try statement.step() {
        if case .stop = try body(statement.row) { break }
      }
    }
  }

  /// The integer in the first column of the first row, 0 if there is none.
  package func int(_ sql: String, _ arguments: any SQLiteBindable...) throws -> Int {
    try fetchOne(sql, arguments: arguments) { $0.int(0) } ?? 0
  }
}
