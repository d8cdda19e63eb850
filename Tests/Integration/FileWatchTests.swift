import Foundation
import Logging
import SQLite
import Store
import TestSupport
import Testing

@testable import signalbox

@Suite("Watch over the database's files")
struct FileWatchTests {
  @Test("files that are removed under the server are said once, and once that they are back")
  func said() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let store = try DataDirectory(box.data).open(readers: 1, now: Date())
      defer { store.close() }
      let sink = MemorySink()
      var watch = FileWatch(store.pool, log: Logger(label: "test", sink: sink))
      watch.look()
      #expect(sink.entries.isEmpty)
      let (file, aside) = (store.pool.path, store.pool.path + ".aside")
      try FileManager.default.moveItem(atPath: file, toPath: aside)
      for _ in 0..<3 { watch.look() }
      #expect(sink.entries.map(\.level) == [.error])
      try FileManager.default.moveItem(atPath: aside, toPath: file)
      for _ in 0..<3 { watch.look() }
      #expect(sink.entries.map(\.message).last == "the database's files are back" && sink.entries.count == 2)
    }
  }
}
