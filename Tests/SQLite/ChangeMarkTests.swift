import SQLite
import Testing

@Suite("The mark of a database changes with every commit, and with nothing else")
struct ChangeMarkTests {
  private struct Refused: Error {}

  private static func begin(_ pool: DatabasePool) async throws {
    try await pool.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT") }
  }

  @Test("a commit changes it; a read, a transaction without a change and one that was undone do not")
  func changes() async throws {
    try await withPool { pool in
      try await Self.begin(pool)
      let mark = pool.changeMark
      #expect(mark != nil)
      #expect(try await pool.read { try $0.int("SELECT count(*) FROM t") } == 0)
      #expect(try await pool.write { try $0.int("SELECT count(*) FROM t") } == 0)
      await #expect(throws: Refused.self) {
        try await pool.write { database in
          _ = try database.run("INSERT INTO t VALUES (1)")
          throw Refused()
        }
      }
      #expect(pool.changeMark == mark)
      let count = try await pool.write { try $0.run("INSERT INTO t VALUES (2)") }
      #expect(count == 1)
      let later = pool.changeMark
      #expect(later != nil && later != mark)
    }
  }

  @Test("it is never the same twice, however often the log is emptied and begun again")
  func unique() async throws {
    try await withPool { pool in
      try await Self.begin(pool)
      var marks = Set([pool.changeMark])
      for number in 0..<300 {
        _ = try await pool.write { try $0.run("INSERT INTO t VALUES (?)", number) }
        if number.isMultiple(of: 10) { try pool.checkpoint(waiting: true) }
        marks.insert(pool.changeMark)
      }
      #expect(marks.count == 301)
    }
  }

  @Test("another connection's commit changes the mark before that connection continues")
  func others() async throws {
    try await withPool { pool in
      try await Self.begin(pool)
      let other = try Database(path: pool.path)
      defer { other.close() }
      for number in 0..<50 {
        let mark = pool.changeMark
        try other.run("INSERT INTO t VALUES (?)", number)
        #expect(pool.changeMark != mark)
        #expect(try await pool.read { try $0.int("SELECT count(*) FROM t") } == number + 1)
      }
    }
  }

  @Test("a writer finds another mark while others write and read")
  func together() async throws {
    try await withPool { pool in
      try await Self.begin(pool)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<4 {
          group.addTask {
            var missed = 0
            for number in 0..<50 {
              let mark = pool.changeMark
              _ = try await pool.write { try $0.run("INSERT INTO t VALUES (?)", task * 50 + number) }
              if pool.changeMark == mark { missed += 1 }
            }
            return missed
          }
        }
        for try await missed in group { #expect(missed == 0) }
      }
    }
  }

  @Test("a closed pool has none")
  func closed() async throws {
    try await withPool { pool in
      #expect(pool.changeMark != nil)
      pool.close()
      #expect(pool.changeMark == nil)
    }
  }
}
