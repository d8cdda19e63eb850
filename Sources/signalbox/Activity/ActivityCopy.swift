import Calendar
import Logging
import Model
import SQLite
import Store

/// Copies new entries of the activity log to the server's log, so that whatever collects that log keeps them on another
/// machine: nobody who can change the database can change them there.
struct ActivityCopy: Sendable {
  /// The setting with the ID of the last entry that was copied.
  private static let key = "activity_copied"
  private static let batch = 200

  let store: Store
  let log: Logger

  init(_ store: Store, log: Logger) { (self.store, self.log) = (store, log.labelled("Activity")) }

  /// Copies until its task is cancelled. The store is asked when anything was committed.
  ///
  /// - Parameter pause: waits between two looks; throws when the task is cancelled.
  func run(pause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }) async throws {
    var last = try await begin()
    var seen: DatabasePool.ChangeMark?
    while true {
      // Read before the query, so that a commit in between changes it.
      let mark = store.changeMark
      if mark == nil || mark != seen { last = try await copy(after: last) }
      seen = mark
      try await pause()
    }
  }

  /// The last entry that was copied. A database from which nothing was copied yet begins with the next entry.
  @discardableResult
  func begin() async throws -> Int64 {
    let (stored, newest) = try await store.read { database in
      (
        try Setting.find(database, Self.key).flatMap { Int64($0) },
        try AuditEntry.list(database, limit: 1).items.first?.id ?? 0
      )
    }
    if let stored { return stored }
    await save(newest)
    return newest
  }

  /// Copies what came since, also while no server ran.
  ///
  /// - Returns: the last entry that was copied.
  func copy(after start: Int64) async throws -> Int64 {
    var last = start
    while true {
      let entries = try await store.read { [last] in try AuditEntry.after($0, id: last, limit: Self.batch) }
      guard let newest = entries.last?.id else { return last }
      for entry in entries { write(entry) }
      last = newest
      await save(last)
      guard entries.count == Self.batch else { return last }
    }
  }

  /// On a full disk the place is known in memory alone.
  private func save(_ last: Int64) async {
    do {
      try await store.write { try Setting.set($0, Self.key, String(last)) }
    } catch {
      log.warning("entries of the activity log will be copied twice after a restart", ["error": "\(error)"])
    }
  }

  /// Without before and after, which can hold aliases. The hash pins those down, too.
  private func write(_ entry: AuditEntry) {
    let new = entry.entry
    // An alias or a tag names a person.
    let noun = new.subject.prefix { $0 != " " }
    let subject = ["alias", "tag"].contains(noun) ? String(noun) : Redaction.masking(new.subject)
    log.notice(
      "activity",
      [
        "id": entry.id, "at": Timestamp.text(entry.at, alwaysMilliseconds: true), "actor": new.actor,
        "action": new.action, "subject": subject, "from": new.address ?? "-", "hash": entry.hashText,
      ])
  }
}
