import Foundation
import Glibc
import JSON
import Logging
import Model
import Store
import Synchronization
import TestSupport
import Testing

@testable import signalbox

/// The activity log in the server's log.
@Suite("The copy of the activity log")
struct ActivityCopyTests {
  private static func values(_ sink: MemorySink, _ key: String) -> [String] {
    sink.entries.filter { $0.message == "activity" }
      .map { entry in entry.metadata.first { $0.key == key }?.value ?? "" }
  }

  @Test("each entry is copied once with its hash, also those of commands while no server ran; no aliases, no tokens")
  func copies() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let store = try DataDirectory(box.data).open(readers: 1, now: Date())
      defer { store.close() }
      let sink = MemorySink()
      let log = Logger(label: "signalbox", sink: sink)
      let copy = ActivityCopy(store, log: log)
      let start = try await copy.begin()
      #expect(try await copy.copy(after: start) == start)
      #expect(sink.entries.isEmpty, "it begins with the next entry")
      await box.run("apps", "add", "com.example.two", "--name", "Two")
      let token = String(repeating: "ab", count: 32)
      try await store.write { database in
        for subject in ["device \(token)", "alias usr_4711"] {
          try AuditEntry.add(
            database,
            NewAuditEntry(
              actor: "lin@example.com", action: "alias.update", subject: subject, detail: ["to": "usr_4711"],
              address: "192.0.2.1"), now: Date(timeIntervalSince1970: 1_800_000_000))
        }
      }
      // As after a start.
      for _ in 1...2 {
        let copy = ActivityCopy(store, log: log)
        _ = try await copy.copy(after: try await copy.begin())
      }
      let kept = try await store.read { try AuditEntry.after($0, id: start, limit: 100) }
      #expect(kept.count >= 3)
      #expect(Self.values(sink, "action") == kept.map(\.entry.action))
      #expect(Self.values(sink, "actor") == kept.map(\.entry.actor))
      #expect(Self.values(sink, "hash") == kept.map(\.hashText))
      #expect(Self.values(sink, "hash").allSatisfy { $0.count == 64 })
      #expect(Self.values(sink, "from").suffix(3) == ["-", "192.0.2.1", "192.0.2.1"])
      #expect(Self.values(sink, "at").last == "2027-01-15T08:00:00.000Z")
      #expect(Self.values(sink, "subject").last == "alias")
      let text = sink.entries.map { LogFormat.json.line($0) }.joined()
      #expect(!text.contains("usr_4711") && !text.contains(token), "\(text)")
    }
  }

  @Test("more entries than one batch are copied in their order")
  func many() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let store = try DataDirectory(box.data).open(readers: 1, now: Date())
      defer { store.close() }
      let sink = MemorySink()
      let copy = ActivityCopy(store, log: Logger(label: "signalbox", sink: sink))
      let start = try await copy.begin()
      try await store.write { database in
        for number in 1...450 {
          try AuditEntry.add(
            database, NewAuditEntry(actor: "a", action: "app.update", subject: "app \(number)"), now: Date())
        }
      }
      #expect(try await copy.copy(after: start) == start + 450)
      #expect(Self.values(sink, "subject") == (1...450).map { "app \($0)" })
    }
  }

  @Test("the database is asked after a commit only, and what others do is copied at the next look")
  func quiet() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let store = try DataDirectory(box.data).open(readers: 1, now: Date())
      defer { store.close() }
      let sink = MemorySink()
      // As of the end of each look.
      let reads = Mutex<[Int]>([])
      do {
        try await ActivityCopy(store, log: Logger(label: "signalbox", sink: sink)).run {
          let count = store.times.all[.database(isWrite: false)]?.counts.reduce(0, +) ?? 0
          let look = reads.withLock { all in
            all.append(count)
            return all.count
          }
          if look == 10 { await box.run("apps", "add", "com.example.two", "--name", "Two") }
          if look == 20 { throw CancellationError() }
        }
      } catch is CancellationError {
        // The last look.
      }
      let all = reads.withLock { $0 }
      // The last one because the place was stored.
      #expect(all.indices.dropFirst().filter { all[$0] != all[$0 - 1] } == [10, 11], "\(all)")
      #expect(Self.values(sink, "subject").contains("app com.example.two"))
    }
  }

  @Test("a running server copies what others do")
  func server() async throws {
    try await CommandRunner.with { box in
      let child = try Child(
        [try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0"], in: box.folder)
      try await eventually("serve listens") {
        guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
        return child.outputText.contains(" at http")
      }
      await box.run("apps", "add", "com.example.one", "--name", "One")
      try await eventually("the entry is in the log") { child.errorText.contains("action=app.create") }
      #expect(child.errorText.contains("subject=\"app com.example.one\""), "\(child.errorText)")
      child.send(SIGTERM)
      #expect(await child.status() == 0)
    }
  }
}
