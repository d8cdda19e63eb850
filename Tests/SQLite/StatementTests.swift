import Foundation
import SQLite
import Testing

@Suite struct StatementTests {
  @Test(
    "what is bound comes back as it was",
    arguments: [
      .null, .integer(0), .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("a\0b"), .text("极光 👩‍👩‍👧"),
      .blob([]), .blob([0, 255, 0]), .blob([UInt8](repeating: 7, count: 100_000)),
    ] as [SQLiteValue])
  func roundTrip(value: SQLiteValue) throws {
    let found = try withDatabase { database in try database.fetchOne("SELECT ?", value) { $0.value(0) } }
    #expect(found == value)
  }

  @Test("Swift's own types are arguments")
  func types() throws {
    try withDatabase { database in
      let date = Date(milliseconds: 1_795_000_000_123)
      let missing: String? = nil
      let row = try database.fetchOne(
        "SELECT ?, ?, ?, ?, ?, ?, ?", 7, true, "text", [1, 2] as [UInt8], Data([3, 4]), date, missing
      ) { row in
        (
          row.int(0), row.bool(1), row.text(2), row.blob(3), row.blob(4), row.date(5), row.int64(5),
          row.optionalText(6), row.isNull(6)
        )
      }
      let found = try #require(row)
      #expect(found.0 == 7)
      #expect(found.1)
      #expect(found.2 == "text")
      #expect(found.3 == [1, 2])
      #expect(found.4 == [3, 4])
      #expect(found.5 == date)
      #expect(found.6 == 1_795_000_000_123)
      #expect(found.7 == nil)
      #expect(found.8)
    }
  }

  @Test("text with a NUL keeps its length in the database too")
  func embeddedNull() throws {
    let length = try withDatabase { database in try database.int("SELECT length(CAST(? AS BLOB))", "a\0b") }
    #expect(length == 3)
  }

  @Test("a prepared statement runs again and again with other values")
  func reuse() throws {
    try withDatabase { database in
      try database.script("CREATE TABLE t(a INTEGER, b BLOB, c TEXT) STRICT")
      let insert = try database.prepare("INSERT INTO t VALUES (?1, ?2, ?3)")
      for number in 0..<100 {
        try insert.bind(1, number)
        try insert.bind(2, [UInt8(number)])
        try insert.bind(3, number.isMultiple(of: 2) ? "even" : nil)
        try insert.run()
      }
      #expect(insert.parameterCount == 3)
      let select = try database.prepare("SELECT a, b, c FROM t WHERE a >= ? ORDER BY a")
      try select.bind(1, 98)
      var rows: [SQLiteValue] = []
      while try select.step() { rows += [select.row.value(0), select.row.value(1), select.row.value(2)] }
      #expect(rows == [98, .blob([98]), "even", 99, .blob([99]), nil])
    }
  }

  @Test("arguments must be as many as parameters", arguments: [[], [1, 2]] as [[SQLiteValue]])
  func argumentCount(arguments: [SQLiteValue]) throws {
    try withDatabase { database in
      #expect(failure { try database.execute("SELECT ?", arguments) }?.code == .range)
    }
  }

  @Test(
    "a text that is not one statement is refused", arguments: ["", "  ;", "SELECT 1; SELECT 2", "-- only a comment"])
  func notOne(sql: String) throws {
    try withDatabase { database in
      #expect(failure { try database.execute(sql) }?.code == .misuse)
    }
  }

  @Test("a statement may end in semicolon and blanks")
  func trailing() throws {
    let sum = try withDatabase { database in try database.int("SELECT 41 + 1 ;\n ") }
    #expect(sum == 42)
  }

  @Test("the same text inside its own loop gets another statement")
  func nestedUse() throws {
    try withDatabase { database in
      try database.script("CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1), (2), (3)")
      var seen: [Int] = []
      try database.forEach("SELECT a FROM t ORDER BY a") { outer in
        let inner = try database.fetchAll("SELECT a FROM t ORDER BY a") { $0.int(0) }
        #expect(inner == [1, 2, 3])
        seen.append(outer.int(0))
        return seen.count < 2 ? .continue : .stop
      }
      #expect(seen == [1, 2])
      // The statement that was stopped half-way starts at its beginning again.
      #expect(try database.fetchAll("SELECT a FROM t ORDER BY a") { $0.int(0) } == [1, 2, 3])
    }
  }

  @Test("more different statements than the cache holds still work")
  func cacheOverflow() throws {
    try withDatabase { database in
      for round in 0..<2 {
        for number in 0..<300 {
          let sum = try database.int("SELECT \(number) + ?", round)
          #expect(sum == number + round)
        }
      }
    }
  }

  private enum Colour: String { case red, green }
  private enum Size: Int, SQLiteBindable { case small = 1 }

  @Test("raw values are read, and unknown ones refused by the name of the column")
  func rawValues() throws {
    try withDatabase { database in
      let colour = try database.fetchOne("SELECT 'green'") { try $0.value(0, as: Colour.self) }
      #expect(colour == .green)
      let size = try database.fetchOne("SELECT ?", Size.small) { try $0.value(0, as: Size.self) }
      #expect(size == .small)
      let error = failure { _ = try database.fetchOne("SELECT 'blue' AS tint") { try $0.value(0, as: Colour.self) } }
      #expect(error?.code == .mismatch)
      #expect(error?.message == "column tint holds no known Colour")
    }
  }
}
