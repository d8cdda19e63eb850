import Foundation
import SQLite
import Testing

/// What is written to files that were removed or replaced is gone when the process ends.
@Suite("Files of an open database")
struct OpenFilesTests {
  @Test(
    "removed or replaced, they are noticed by the next write, which fails, and in the test of the disk; put back, all is well",
    arguments: ["", "-wal", "-shm"], [false, true])
  func lost(end: String, isReplaced: Bool) async throws {
    try await withPool { pool in
      func write() -> SQLiteError? { failure { _ = try pool.writeSync { try $0.run("INSERT INTO t VALUES (1)") } } }
      _ = try pool.writeSync { try $0.execute("CREATE TABLE t(x INTEGER) STRICT") }
      #expect(write() == nil && pool.lostFiles == nil)
      #expect(await pool.checkDisk() == nil)
      let (file, aside) = (pool.path + end, pool.path + ".aside")
      if isReplaced { try FileManager.default.copyItem(atPath: file, toPath: pool.path + ".copy") }
      try FileManager.default.moveItem(atPath: file, toPath: aside)
      if isReplaced { try FileManager.default.moveItem(atPath: pool.path + ".copy", toPath: file) }

      let error = write()
      #expect(error?.extendedCode == .moved && error?.mayPass == true)
      #expect(error?.message == "\(file) was \(isReplaced ? "replaced" : "removed") while it was open")
      await #expect(throws: SQLiteError.self) { try await pool.write { try $0.run("INSERT INTO t VALUES (2)") } }
      #expect(await pool.checkDisk()?.extendedCode == .moved)

      try? FileManager.default.removeItem(atPath: file)  // there is none if it was only removed
      try FileManager.default.moveItem(atPath: aside, toPath: file)
      #expect(write() == nil && pool.lostFiles == nil)
      #expect(try pool.readSync { try $0.int("SELECT count(*) FROM t") } == 2)
    }
  }

  @Test("files that were lost during a write are noticed by it")
  func during() async throws {
    try await withPool { pool in
      let error = failure {
        try pool.writeSync { database in
          try database.execute("CREATE TABLE t(x INTEGER) STRICT")
          try FileManager.default.moveItem(atPath: pool.path + "-wal", toPath: pool.path + ".aside")
        }
      }
      #expect(error?.extendedCode == .moved)
      try FileManager.default.moveItem(atPath: pool.path + ".aside", toPath: pool.path + "-wal")
    }
  }
}
