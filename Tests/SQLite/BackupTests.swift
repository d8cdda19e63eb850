import Foundation
import SQLite
import Testing

@Suite struct BackupTests {
  private struct Stop: Error {}

  /// A table of some 500 pages.
  private func fill(_ pool: DatabasePool) async throws {
    try await pool.write { database in
      try database.script("CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB) STRICT")
      for number in 0..<500 { try database.run("INSERT INTO t VALUES (?, zeroblob(4000))", number) }
    }
  }

  @Test("a backup is the state at its start, while writes go on")
  func whileWriting() async throws {
    try await withPool { pool in
      try await fill(pool)
      let copy = pool.path + ".copy"
      var steps = 0
      try pool.backup(to: copy, step: 64) { progress in
        steps += 1
        #expect(progress.done <= progress.total)
        try pool.writeSync { _ = try $0.run("INSERT INTO t VALUES (?, zeroblob(4000))", 1000 + steps) }
      }
      #expect((8...12).contains(steps))
      let database = try Database(path: copy, mode: .readOnly)
      defer { database.close() }
      #expect(try database.int("SELECT count(*) FROM t") == 500)
      #expect(try database.integrityCheck() == [])
      #expect(try await pool.read { try $0.int("SELECT count(*) FROM t") } == 500 + steps)
      let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("a backup can be opened and written as a database")
  func restored() async throws {
    try await withPool { pool in
      try await fill(pool)
      try pool.backup(to: pool.path + ".copy")
      let copy = try DatabasePool(path: pool.path + ".copy", readers: 1)
      defer { copy.close() }
      try copy.writeSync { _ = try $0.run("DELETE FROM t WHERE a > 9") }
      #expect(try copy.readSync { try $0.int("SELECT count(*) FROM t") } == 10)
    }
  }

  @Test("a backup that is stopped leaves no file")
  func stopped() async throws {
    try await withPool { pool in
      try await fill(pool)
      let before = try FileManager.default.contentsOfDirectory(atPath: folder(of: pool)).sorted()
      #expect(throws: Stop.self) { try pool.backup(to: pool.path + ".copy", step: 10) { _ in throw Stop() } }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder(of: pool)).sorted() == before)
    }
  }

  @Test("a backup overwrites nothing")
  func existing() async throws {
    try await withPool { pool in
      let copy = pool.path + ".copy"
      try "mine".write(toFile: copy, atomically: true, encoding: .utf8)
      #expect(failure { try pool.backup(to: copy) }?.code == .cannotOpen)
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == "mine")
      #expect(failure { try pool.backup(to: "/no/such/folder/copy") }?.code == .cannotOpen)
    }
  }

  private func folder(of pool: DatabasePool) -> String { URL(filePath: pool.path).deletingLastPathComponent().path }
}
