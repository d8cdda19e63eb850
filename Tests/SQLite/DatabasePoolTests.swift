import Foundation
import Reactor
import SQLite
import Synchronization
import Testing

@Suite struct DatabasePoolTests {
  private struct Stop: Error {}

  @Test("a write is a transaction, and readers see it")
  func writeThenRead() async throws {
    try await withPool { pool in
      try await pool.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT") }
      let id = try await pool.write { database in
        try database.run("INSERT INTO t VALUES (?)", 5)
        return database.lastInsertedID
      }
      #expect(id == 1)
      await #expect(throws: Stop.self) {
        try await pool.write { database in
          try database.run("INSERT INTO t VALUES (?)", 6)
          throw Stop()
        }
      }
      #expect(try await pool.read { try $0.fetchAll("SELECT a FROM t") { $0.int(0) } } == [5])
      #expect(try pool.readSync { try $0.int("SELECT a FROM t") } == 5)
      #expect(try pool.writeSync { try $0.run("DELETE FROM t") } == 1)
    }
  }

  @Test("exports wait only for each other: they neither delay page reads nor wait for them")
  func lanes() async throws {
    try await withPool(readers: 2) { pool in
      let (exports, pages) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      // As many exports as there are readers, none of which ends.
      async let first = pool.read(lane: .exports) { _ in exports.wait(timeout: .now() + 20) }
      async let second = pool.read(lane: .exports) { _ in exports.wait(timeout: .now() + 20) }
      for _ in 0..<10 { #expect(try await pool.read { try $0.int("SELECT 1") } == 1) }
      for _ in 0..<2 { exports.signal() }
      let held = try await [first, second]
      #expect(held == [.success, .success], "released, not given up")
      // And the other way round. Queries with a limit never wait on the caller's thread.
      async let third = pool.read(limit: .seconds(60)) { _ in pages.wait(timeout: .now() + 20) }
      async let fourth = pool.read(limit: .seconds(60)) { _ in pages.wait(timeout: .now() + 20) }
      #expect(try await pool.read(lane: .exports) { try $0.int("SELECT 2") } == 2)
      for _ in 0..<2 { pages.signal() }
      let read = try await [third, fourth]
      #expect(read == [.success, .success])
    }
  }

  @Test("the writer syncs every commit, logs ahead, and the file is its owner's")
  func settings() async throws {
    try await withPool { pool in
      let settings = try pool.writeSync { database in
        [
          try database.fetchOne("PRAGMA journal_mode") { $0.text(0) },
          try database.fetchOne("PRAGMA synchronous") { $0.text(0) },
          try database.fetchOne("PRAGMA foreign_keys") { $0.text(0) },
        ]
      }
      #expect(settings == ["wal", "2", "1"])
      let mode = try FileManager.default.attributesOfItem(atPath: pool.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("the file is not mapped: a cold page would bring all that the disk reads ahead")
  func mapping() async throws {
    try await withPool { pool in
      let written = try pool.writeSync { try $0.int("PRAGMA mmap_size") }
      let read = try pool.readSync { try $0.int("PRAGMA mmap_size") }
      #expect(written == 0 && read == 0)
    }
  }

  @Test("a disk failure is reported until a write succeeds; a full file system is reported separately")
  func disk() async throws {
    try await withPool { pool in
      #expect(await pool.checkDisk() == nil)
      for refusal in [SQLiteError(.full, "full"), SQLiteError(.inputOutput, "failing"), SQLiteError(.corrupt, "bad")] {
        await #expect(throws: refusal) { try await pool.write { _ in throw refusal } }
        #expect(pool.diskTrouble == refusal)
        try await pool.write { _ in }
        #expect(pool.diskTrouble == nil)
        await #expect(throws: refusal) { try await pool.read { _ in throw refusal } }
        #expect(pool.diskTrouble == refusal)
        try await pool.read { _ in }
        #expect(pool.diskTrouble == refusal, "what was read may have been in memory")
        try await pool.write { _ in }
      }
      await #expect(throws: SQLiteError.self) { try await pool.write { _ in throw SQLiteError(.busy, "busy") } }
      #expect(pool.diskTrouble == nil)
      // It has no blocks at all.
      #expect(DatabasePool.spaceTrouble("/proc")?.code == .full)
      #expect(DatabasePool.spaceTrouble(pool.path) == nil)
    }
  }

  @Test("a reader cannot write")
  func readersOnlyRead() async throws {
    try await withPool { pool in
      try await pool.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT") }
      let error = failure { try pool.readSync { _ = try $0.run("INSERT INTO t VALUES (1)") } }
      #expect(error?.code == .readOnly)
    }
  }

  @Test("a read sees one state during concurrent writes")
  func snapshot() async throws {
    try await withPool { pool in
      try await pool.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1)") }
      let counts = try pool.readSync { database in
        let before = try database.int("SELECT count(*) FROM t")
        try pool.writeSync { _ = try $0.run("INSERT INTO t VALUES (2)") }
        return [before, try database.int("SELECT count(*) FROM t")]
      }
      #expect(counts == [1, 1])
      #expect(try await pool.read { try $0.int("SELECT count(*) FROM t") } == 2)
    }
  }

  @Test("more reads than readers all get their turn")
  func manyReads() async throws {
    try await withPool(readers: 2) { pool in
      try await pool.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1)") }
      let sum = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<60 {
          group.addTask {
            if number.isMultiple(of: 3) {
              return try await pool.write { try $0.run("INSERT INTO t VALUES (?)", number) }
            }
            return try await pool.read { try $0.int("SELECT a FROM t WHERE rowid = 1") }
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(sum == 60)
      #expect(try await pool.read { try $0.int("SELECT count(*) FROM t") } == 21)
    }
  }

  @Test("a short query runs on its caller's thread; a long one is run again on another, and gives the same")
  func atOnce() async throws {
    try await withPool(readers: 1) { pool in
      let threads = Mutex<[UInt]>([])
      let note: @Sendable () -> Void = { threads.withLock { $0.append(UInt(pthread_self())) } }
      let loop = try EventLoop(name: "test")
      defer { loop.stop() }
      let own = try await Task(executorPreference: loop) {
        let one = try await pool.read { database in
          note()
          return try database.int("SELECT 1")
        }
        #expect(one == 1)
        let many = try await pool.read { database in
          note()
          return try database.int(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000) SELECT sum(x) FROM n")
        }
        #expect(many == 5_000_050_000)
        return UInt(pthread_self())
      }.value
      let seen = threads.withLock { $0 }
      #expect(seen.count == 3)
      #expect(seen.prefix(2) == [own, own] && seen.last != own)
    }
  }

  @Test("hundreds of queries that are interrupted and run again leave no transaction open")
  func interrupted() async throws {
    try await withPool(readers: 1) { pool in
      for _ in 0..<300 {
        let sum = try await pool.read { database in
          try database.int(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000) SELECT sum(x) FROM n")
        }
        #expect(sum == 200_010_000)
      }
    }
  }

  @Test("a query with a limit, and one for an export, never run on their caller's thread")
  func elsewhere() async throws {
    try await withPool { pool in
      let loop = try EventLoop(name: "test")
      defer { loop.stop() }
      let threads = try await Task(executorPreference: loop) {
        let limited = try await pool.read(limit: .seconds(5)) { _ in UInt(pthread_self()) }
        let exporting = try await pool.read(lane: .exports) { _ in UInt(pthread_self()) }
        return (own: UInt(pthread_self()), others: [limited, exporting])
      }.value
      #expect(!threads.others.contains(threads.own))
    }
  }

  /// Runs until it is stopped.
  private static let endless = """
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n WHERE x < 0
    """

  @Test("a read that takes too long ends, and its reader stays usable")
  func timeLimit() async throws {
    try await withPool(readers: 1) { pool in
      do {
        _ = try await pool.read(limit: .milliseconds(20)) { try $0.int(Self.endless) }
        Issue.record("it ended by itself")
      } catch let error as SQLiteError {
        #expect(error.code == .interrupt)
        #expect(error.message == "the query exceeded its time limit")
      }
      #expect(try await pool.read { try $0.int("SELECT 1") } == 1)
    }
  }

  @Test("a read whose task is cancelled ends")
  func cancellation() async throws {
    try await withPool(readers: 1) { pool in
      let (started, continuation) = AsyncStream.makeStream(of: Void.self)
      let result = await withTaskGroup(of: Result<Int, any Error>.self) { group in
        group.addTask {
          do {
            return .success(
              try await pool.read { database in
                continuation.yield()
                return try database.int(Self.endless)
              })
          } catch { return .failure(error) }
        }
        for await _ in started { break }
        group.cancelAll()
        return await group.next()
      }
      #expect(throws: CancellationError.self) { try result?.get() }
      let one = try await pool.read { try $0.int("SELECT 1") }
      #expect(one == 1)
    }
  }

  @Test("a checkpoint empties the log")
  func checkpoint() async throws {
    try await withPool { pool in
      try await pool.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT") }
      #expect(try pool.checkpoint().logged > 0)
      #expect(try !pool.checkpoint(waiting: true).isPartial)
      let size = try FileManager.default.attributesOfItem(atPath: pool.path + "-wal")[.size] as? Int
      #expect(size == 0)
      #expect(try await pool.read { try $0.integrityCheck() } == [])
    }
  }

  @Test("a closed pool answers with an error and leaves no log")
  func close() async throws {
    try await withFolder { folder in
      let pool = try DatabasePool(path: folder + "/test.sqlite", readers: 2)
      try await pool.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT") }
      pool.close()
      pool.close()
      for _ in 0..<3 { #expect(failure { _ = try pool.readSync { try $0.int("SELECT 1") } }?.code == .misuse) }
      #expect(failure { try pool.writeSync { try $0.script("SELECT 1") } }?.code == .misuse)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["test.sqlite"])
    }
  }

  @Test("two pools on one file wait for each other's transactions")
  func twoProcesses() async throws {
    try await withPool { first in
      let second = try DatabasePool(path: first.path, readers: 1)
      defer { second.close() }
      try await first.write { try $0.script("CREATE TABLE t(a INTEGER) STRICT") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          let pool = number.isMultiple(of: 2) ? first : second
          group.addTask { _ = try await pool.write { try $0.run("INSERT INTO t VALUES (?)", number) } }
        }
        try await group.waitForAll()
      }
      #expect(try await second.read { try $0.int("SELECT count(*) FROM t") } == 20)
    }
  }
}
