import Foundation
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite("Results that are kept until the next commit", .timeLimit(.minutes(2)))
struct ResultCacheTests {
  private static func withStore(_ body: (Store, String) async throws -> Void) async throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
    let path = folder + "/test.sqlite"
    let store = try Store.openNew(path: path, sealer: TestSealer(), readers: 1, now: noon)
    defer { store.close() }
    try await body(store, path)
  }

  private static func addApp(_ store: Store, _ number: Int) async throws {
    try await store.write { _ = try App.add($0, bundleID: "com.example.app\(number)", name: "\(number)", now: noon) }
  }

  @Test("the same question costs one query until somebody commits: this process or another")
  func untilCommit() async throws {
    try await Self.withStore { store, path in
      let queries = Mutex(0)
      func count() async throws -> Int {
        try await store.read(keptAs: "apps", bytes: { _ in 8 }) { database in
          let count = try App.all(database).count
          // A query that takes too long is run again; only the one that ended counts.
          queries.withLock { $0 += 1 }
          return count
        }
      }
      for _ in 0..<3 { #expect(try await count() == 0) }
      #expect(queries.withLock { $0 } == 1)

      try await Self.addApp(store, 1)
      for _ in 0..<3 { #expect(try await count() == 1) }
      #expect(queries.withLock { $0 } == 2)

      let other = try Store.open(path: path, sealer: TestSealer(), readers: 1, now: noon)
      defer { other.close() }
      try await Self.addApp(other, 2)
      for _ in 0..<3 { #expect(try await count() == 2) }
      #expect(queries.withLock { $0 } == 3)
    }
  }

  @Test("a commit during the query is seen by the next question")
  func commitMeanwhile() async throws {
    try await Self.withStore { store, path in
      let other = try Store.open(path: path, sealer: TestSealer(), readers: 1, now: noon)
      defer { other.close() }
      func count(_ during: @escaping @Sendable () throws -> Void) async throws -> Int {
        try await store.read(keptAs: "apps", bytes: { _ in 8 }) { database in
          let count = try App.all(database).count
          try during()
          return count
        }
      }
      let added = Mutex(false)
      let first = try await count {
        // A query that takes long is run twice.
        let isFirst = added.withLock { added in
          defer { added = true }
          return !added
        }
        guard isFirst else { return }
        try other.writeSync { _ = try App.add($0, bundleID: "com.example.shop", name: "Shop", now: noon) }
      }
      #expect(first <= 1)
      #expect(try await count {} == 1)
    }
  }

  @Test("other questions, other types under the same name and errors are asked again")
  func apart() async throws {
    try await Self.withStore { store, _ in
      let numbers = [
        try await Self.ask(store, "a", 1), try await Self.ask(store, "a", 2), try await Self.ask(store, "b", 2),
      ]
      #expect(numbers == [1, 1, 2])
      let text = try await Self.ask(store, "a", "text")
      #expect(text == "text")
      await #expect(throws: Stop.self) { try await Self.fail(store, "c") }
      let afterwards = try await Self.ask(store, "c", 3)
      #expect(afterwards == 3)
    }
  }

  private struct Stop: Error {}

  private static func ask<Result: Sendable>(_ store: Store, _ key: String, _ result: Result) async throws -> Result {
    try await store.read(keptAs: key, bytes: { _ in 8 }) { _ in result }
  }

  private static func fail(_ store: Store, _ key: String) async throws {
    let _: Int = try await store.read(keptAs: key, bytes: { _ in 8 }) { _ in throw Stop() }
  }

  @Test("memory is bounded: a large result is not kept, and many small ones push each other out")
  func bounded() async throws {
    try await Self.withStore { store, _ in
      let queries = Mutex(0)
      func ask(_ key: String, bytes: Int) async throws {
        _ = try await store.read(keptAs: key, bytes: { _ in bytes }) { _ in queries.withLock { $0 += 1 } }
      }
      for _ in 0..<2 { try await ask("large", bytes: 2 << 20) }
      #expect(queries.withLock { $0 } == 2)
      for number in 0..<100 { try await ask("small \(number)", bytes: 1 << 19) }
      #expect(queries.withLock { $0 } == 102)
      try await ask("small 99", bytes: 1 << 19)
      #expect(queries.withLock { $0 } == 102)
      try await ask("small 0", bytes: 1 << 19)
      #expect(queries.withLock { $0 } == 103)
    }
  }
}
