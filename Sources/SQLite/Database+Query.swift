internal import CSQLite

extension Database {
  /// What the body of ``forEach(_:_:row:)`` wants next.
  package enum Next: Sendable {
    /// The next row.
    case `continue`
    /// No more rows.
    case stop
  }

  /// Runs one statement.
  ///
  /// - Returns: how many rows it changed; meaningless for a statement that changes none.
  @discardableResult
  package func execute(_ sql: String, _ arguments: [SQLiteValue] = []) throws -> Int {
    try withStatement(sql) { statement in
      try statement.bindAll(arguments)
      try statement.run()
      return changes
    }
  }

  /// Runs one statement.
  ///
  /// - Returns: how many rows it changed; meaningless for a statement that changes none.
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
    // exec reports no position: the message with the text is all there is.
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw SQLiteError(connection: connection, sql: sql)
    }
  }

  /// All rows.
  package func fetchAll<Value>(
    _ sql: String, _ arguments: any SQLiteBindable..., row body: (borrowing Row) throws -> Value
  ) throws -> [Value] {
    try fetchAll(sql, arguments: arguments, row: body)
  }

  /// All rows, with arguments made by a program.
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

  /// The first row, nil if there is none.
  package func fetchOne<Value>(
    _ sql: String, _ arguments: any SQLiteBindable..., row body: (borrowing Row) throws -> Value
  ) throws -> Value? {
    try fetchOne(sql, arguments: arguments, row: body)
  }

  /// The first row, with arguments made by a program; nil if there is none.
  package func fetchOne<Value>(
    _ sql: String, arguments: [any SQLiteBindable], row body: (borrowing Row) throws -> Value
  ) throws -> Value? {
    try withStatement(sql) { statement in
      try statement.bindAll(arguments)
      return try statement.step() ? try body(statement.row) : nil
    }
  }

  /// Row by row, until the end or until the body says stop.
  package func forEach(
    _ sql: String, _ arguments: any SQLiteBindable..., row body: (borrowing Row) throws -> Next
  ) throws {
    try forEach(sql, arguments: arguments, row: body)
  }

  /// Row by row, with arguments made by a program.
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

  /// The whole number in the first column of the first row, 0 if there is none.
  package func int(_ sql: String, _ arguments: any SQLiteBindable...) throws -> Int {
    try fetchOne(sql, arguments: arguments) { $0.int(0) } ?? 0
  }
}
