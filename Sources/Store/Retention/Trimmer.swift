package import Foundation
import JSON
package import Logging
internal import Model
internal import SQLite
internal import Synchronization

/// Applies the retention policy at startup, once an hour, and on request.
///
/// Works in small steps with pauses (see ``TrimPace``), so that broadcasts and people find the writer free. Stateless:
/// the next round finds whatever a former process left.
package final class Trimmer: Sendable {
  /// Between two rounds.
  package static let interval = Duration.seconds(3600)

  private let store: Store
  private let clock: @Sendable () -> Date
  private let wait: @Sendable (Duration) async throws -> Void
  private let log: Logger
  private let looks: AsyncStream<Void>
  private let look: AsyncStream<Void>.Continuation

  /// Call ``run()`` to start it.
  ///
  /// - Parameter wait: sleeps; throws when the task is cancelled.
  package init(
    store: Store, clock: @escaping @Sendable () -> Date = { Date() },
    wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }, log: Logger
  ) {
    (self.store, self.clock, self.wait) = (store, clock, wait)
    self.log = log.labelled("Retention")
    (looks, look) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Starts a round at once, after the policy has changed.
  package func nudge() { look.yield() }

  /// Runs rounds until the task is cancelled. Errors are logged, and retried in the next round.
  package func run() async {
    nudge()
    await withDiscardingTaskGroup { group in
      group.addTask {
        while true {
          // Throws when the task is cancelled.
          do { try await self.wait(Self.interval) } catch { return }
          self.nudge()
        }
      }
      for await _ in looks {
        do {
          _ = try await trim()
          // The write-ahead log still contains deleted secrets until it is emptied: at the latest within the hour.
          try await store.pool.emptyLogIfIdle()
        } catch  where Task.isCancelled {
          break
        } catch {
          log.error("no more old data is deleted until the next run", ["error": "\(error)"])
        }
      }
    }
  }

  /// Removes everything that is too old now.
  ///
  /// - Returns: removed rows by kind.
  /// - Throws: the store's errors; `CancellationError`. Earlier removals stay.
  @discardableResult
  package func trim() async throws -> [Trim.Kind: Int] {
    let now = clock()
    var removed: [Trim.Kind: Int] = [:]
    do {
      for kind in Trim.Kind.allCases {
        try await inSteps { database, rows in
          // Read for each step, so that a longer time set meanwhile takes effect.
          try Trim.step(database, kind, try RetentionPolicy.find(database), limit: rows, now: now)
        } counted: {
          removed[kind, default: 0] += $0
        }
      }
      // The failed sign-ins of the activity log, which records their removal itself.
      try await inSteps { database, rows in
        let removed = try AuditChain.trim(database, limit: rows, now: now)
        return Trim.Step(removed: removed, isDone: removed < rows)
      }
    } catch {
      try await note(removed, now)
      throw error
    }
    try await note(removed, now)
    return removed
  }

  /// Repeats a step, which is told how many rows it may remove, until it is done.
  private func inSteps(
    _ body: @escaping @Sendable (Database, Int) throws -> Trim.Step, counted: (Int) -> Void = { _ in }
  ) async throws {
    var pace = TrimPace()
    while true {
      try Task.checkCancellation()
      let (rows, asked) = (pace.rows, ContinuousClock.now)
      let (step, began) = try await store.write { database in
        let began = ContinuousClock.now
        return (try body(database, rows), began)
      }
      if step.removed > 0 { counted(step.removed) }
      if step.isDone { return }
      try await wait(pace.after(took: ContinuousClock.now - began, waited: began - asked))
    }
  }

  /// One activity log entry for all removals, if any; sessions and similar are not listed.
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

/// Chooses the rows of the next step and the pause before it: steps are short on any disk, and leave most of the time
/// to others.
package struct TrimPace: Sendable, Hashable {
  /// After a longer step the next is smaller. Other writers wait at most this much longer.
  package static let longest = Duration.milliseconds(20)
  /// Bounds for the rows of a step.
  package static let limits = 50...2000
  /// The pause as a multiple of the step's time, so that a tenth of the writer's time is used at most.
  package static let rest = 9
  /// The shortest pause.
  package static let shortestRest = Duration.milliseconds(10)
  /// The pause after a step that had to wait, because others are writing.
  package static let politeRest = Duration.milliseconds(200)
  /// A longer wait for the writer means that others are writing.
  static let busy = Duration.milliseconds(5)

  package private(set) var rows = 200

  package init() {}

  /// Adapts to a step.
  ///
  /// - Parameters:
  ///   - took: from the step's start to its commit.
  ///   - waited: until the writer was free.
  /// - Returns: the pause.
  package mutating func after(took: Duration, waited: Duration) -> Duration {
    if took > Self.longest {
      rows = max(Self.limits.lowerBound, rows / 2)
    } else if took < Self.longest / 3 {
      rows = min(Self.limits.upperBound, rows * 2)
    }
    let rest = max(Self.shortestRest, took * Self.rest)
    return waited > Self.busy ? max(Self.politeRest, rest * 2) : rest
  }
}
