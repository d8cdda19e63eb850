import Foundation
import JSON
import Logging
import Reactor
import SQLite
import Store
import Synchronization

/// Checks the whole database on a connection and a thread of its own, so that no request waits for it. The result is an
/// entry of the activity log, where the page finds it again.
final class IntegrityCheck: Sendable {
  static let action = "database.check"
  static let subject = "database"
  /// Of SQLite's sentences, that are kept.
  private static let mostFaults = 5

  private let begun = Mutex<Date?>(nil)

  /// Since when a check runs; nil: none does.
  var since: Date? { begun.withLock { $0 } }

  /// Begins a check unless one runs.
  ///
  /// - Returns: ends with the check.
  func begin(_ console: Console, by entry: NewAuditEntry, now: Date) -> AsyncStream<Void> {
    let (ended, end) = AsyncStream<Void>.makeStream()
    let isFirst = begun.withLock { begun in
      defer { begun = begun ?? now }
      return begun == nil
    }
    guard isFirst else {
      end.finish()
      return ended
    }
    Task {
      await run(console, entry)
      begun.withLock { $0 = nil }
      end.finish()
    }
    return ended
  }

  private func run(_ console: Console, _ entry: NewAuditEntry) async {
    let (store, start) = (console.store, ContinuousClock.now)
    do {
      let path = store.pool.path
      let faults = try await console.pools.checks.run {
        let database = try Database(path: path, mode: .reader)
        defer { database.close() }
        return try database.integrityCheck()
      }
      let log = try await store.read(lane: .exports) { try AuditChain.check($0) }
      let seconds = start.duration(to: .now) / .seconds(1)
      var entry = entry
      entry.detail = [
        "milliseconds": .integer(Int64(seconds * 1000)), "faults": .integer(Int64(faults.count)),
        "sentences": .array(faults.prefix(Self.mostFaults).map { .string($0) }),
        "log_entries": .integer(Int64(log.entries)), "log_faults": .integer(Int64(log.faults.count)),
      ]
      let (done, now) = (entry, console.clock())
      try await store.write { _ = try AuditEntry.add($0, done, now: now) }
    } catch {
      console.log.error("the check of the database failed", ["error": "\(error)"])
    }
  }
}

/// What the last check found.
struct IntegrityReport: Sendable {
  let at: Date
  let by: String
  let milliseconds: Int64
  let faults: Int64
  /// Of SQLite, in English.
  let sentences: [String]
  let logEntries: Int64
  let logFaults: Int64

  /// Nil: there was no check yet.
  static func last(_ database: Database) throws -> IntegrityReport? {
    let filter = AuditEntry.Filter(action: IntegrityCheck.action, subject: IntegrityCheck.subject)
    guard let found = try AuditEntry.list(database, filter, limit: 1).items.first else { return nil }
    let detail = found.entry.detail
    func number(_ name: String) -> Int64 { detail?[name]?.integer ?? 0 }
    return IntegrityReport(
      at: found.at, by: found.entry.actor, milliseconds: number("milliseconds"), faults: number("faults"),
      sentences: detail?["sentences"]?.array?.compactMap(\.string) ?? [], logEntries: number("log_entries"),
      logFaults: number("log_faults"))
  }
}
