package import Foundation
import JSON
package import Logging
internal import Model
internal import SQLite
internal import Synchronization

/// Removes what is older than the retention policy says: at start, once an hour, and when it is nudged.
///
/// It removes a little at a time and rests in between (see ``TrimPace``), so that a broadcast's batches and a person's
/// clicks find the writer free. Nothing has to be remembered: whatever a former process left is found by the next look.
package final class Trimmer: Sendable {
  /// From one look to the next.
  package static let interval = Duration.seconds(3600)

  private let store: Store
  private let clock: @Sendable () -> Date
  private let wait: @Sendable (Duration) async throws -> Void
  private let log: Logger
  private let looks: AsyncStream<Void>
  private let look: AsyncStream<Void>.Continuation

  /// Creates a trimmer; ``run()`` starts it.
  ///
  /// - Parameter wait: waits so long; throws when the task is cancelled.
  package init(
    store: Store, clock: @escaping @Sendable () -> Date = { Date() },
    wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }, log: Logger
  ) {
    self.store = store
    self.clock = clock
    self.wait = wait
    self.log = log.labelled("Retention")
    (looks, look) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Looks at once: the policy has changed.
  package func nudge() { look.yield() }

  /// Looks and removes until the task is cancelled. What goes wrong is logged, and tried again at the next look.
  package func run() async {
    nudge()
    await withDiscardingTaskGroup { group in
      group.addTask {
        while true {
          // It throws when the task is cancelled.
          do { try await self.wait(Self.interval) } catch { return }
          self.nudge()
        }
      }
      for await _ in looks {
        do {
          _ = try await trim()
          // Secrets that were replaced or removed stand in the log until it is emptied: within the hour.
          try await store.pool.emptyLogIfIdle()
        } catch  where Task.isCancelled {
          break
        } catch {
          log.error("no more old data is deleted until the next run", ["error": "\(error)"])
        }
      }
    }
  }

  /// Removes what is too old by now, all of it.
  ///
  /// - Returns: how many rows of each kind.
  /// - Throws: what the store throws; `CancellationError`. What was removed until then stays removed.
  @discardableResult
  package func trim() async throws -> [Trim.Kind: Int] {
    let now = clock()
    var removed: [Trim.Kind: Int] = [:]
    do {
      for kind in Trim.Kind.allCases { try await trim(kind, now, &removed) }
    } catch {
      try await note(removed, now)
      throw error
    }
    try await note(removed, now)
    return removed
  }

  private func trim(_ kind: Trim.Kind, _ now: Date, _ removed: inout [Trim.Kind: Int]) async throws {
    var pace = TrimPace()
    while true {
      try Task.checkCancellation()
      let (rows, asked) = (pace.rows, ContinuousClock.now)
      let (step, began) = try await store.write { database in
        let began = ContinuousClock.now
        // Read each time: a person who sets a longer time in the midst of it means it.
        let policy = try RetentionPolicy.find(database)
        return (try Trim.step(database, kind, policy, limit: rows, now: now), began)
      }
      if step.removed > 0 { removed[kind, default: 0] += step.removed }
      if step.isDone { return }
      try await wait(pace.after(took: ContinuousClock.now - began, waited: began - asked))
    }
  }

  /// One line of the audit for all that was removed; none for nothing. Sessions and their like end by themselves.
  private func note(_ removed: [Trim.Kind: Int], _ now: Date) async throws {
    guard !removed.isEmpty else { return }
    let rows = Dictionary(uniqueKeysWithValues: removed.map { ($0.key.rawValue, $0.value) })
    log.info(
      "deleted old data",
      ["rows": rows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")])
    let told: [Trim.Kind] = [.deliveries, .pushes, .phoneNotifications]
    guard told.contains(where: { removed[$0] != nil }) else { return }
    let audit = NewAuditEntry(
      actor: "retention", action: "retention.trim", subject: "retention",
      detail: .object(rows.mapValues { .integer(Int64($0)) }))
    _ = try await store.write { try AuditEntry.add($0, audit, now: now) }
  }
}
