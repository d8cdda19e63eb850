import Foundation
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Store

@Suite("Writes of many callers")
struct WriteGroupTests {
  private struct Refused: Error {}

  private func withStore(_ body: (Store) async throws -> Void) async throws {
    let folder = try temporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder + "/signalbox.sqlite", sealer: TestSealer(), now: noon)
    defer { store.close() }
    try await body(store)
  }

  @Test("each caller gets its own output, and far fewer transactions than callers are made")
  func together() async throws {
    try await withStore { store in
      let transactions = Mutex(0)
      let group = WriteGroup<Int, Int>(store, most: 50, pause: .milliseconds(1)) { database, inputs in
        transactions.withLock { $0 += 1 }
        for input in inputs {
          try database.run("INSERT INTO settings(key, value) VALUES (?, ?)", "n\(input)", "\(input)")
        }
        return inputs.map { $0 * 2 }
      }
      let outputs = try await withThrowingTaskGroup(of: (Int, Int).self) { tasks in
        for number in 0..<200 { tasks.addTask { (number, try await group.write(number)) } }
        var outputs: [Int: Int] = [:]
        for try await (number, output) in tasks { outputs[number] = output }
        return outputs
      }
      #expect(outputs == Dictionary(uniqueKeysWithValues: (0..<200).map { ($0, $0 * 2) }))
      let written = try await store.read { try $0.int("SELECT count(*) FROM settings WHERE key LIKE 'n%'") }
      #expect(written == 200)
      #expect(transactions.withLock { $0 } < 100)
    }
  }

  @Test("an error reaches all callers of its transaction, writes nothing, and the next one works")
  func failure() async throws {
    try await withStore { store in
      let group = WriteGroup<Int, Int>(store, most: 10) { database, inputs in
        try database.run("INSERT INTO settings(key, value) VALUES ('x', 'y')")
        if inputs.contains(1) { throw Refused() }
        return inputs
      }
      let failed: Result<Int, any Error>
      do { failed = .success(try await group.write(1)) } catch { failed = .failure(error) }
      #expect(throws: Refused.self) { try failed.get() }
      let written = try await store.read { try $0.int("SELECT count(*) FROM settings WHERE key = 'x'") }
      #expect(written == 0)
      let output = try await group.write(2)
      #expect(output == 2)
    }
  }
}
