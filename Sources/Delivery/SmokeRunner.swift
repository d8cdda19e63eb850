package import Foundation
package import Logging
package import Model
import SQLite
package import Store

/// Runs smoke tests: each sends its push through ``PushIntake`` and compares the outcomes with what is expected.
package struct SmokeRunner: Sendable {
  /// Between two looks at runs that have not ended.
  private static let interval = Duration.milliseconds(250)

  private let store: Store
  private let intake: PushIntake

  package init(store: Store, intake: PushIntake) { (self.store, self.intake) = (store, intake) }

  /// Who runs a test, and from where.
  package struct Starter: Sendable {
    let source: PushSource
    let entry: NewAuditEntry
    let person: Int64?

    /// - Parameters:
    ///   - source: where the run was asked for.
    ///   - person: the person, or the token's owner; nil: none.
    ///   - address: the client's address; nil for this machine.
    package init(_ source: PushSource, by actor: String, person: Int64? = nil, from address: String? = nil) {
      self.person = person
      (self.source, entry) = (source, NewAuditEntry(actor: actor, action: "", subject: "", address: address))
    }
  }

  /// Sends a test's push and stores the run with it. A push that is refused is a run that failed.
  ///
  /// - Parameter idempotency: of the request; repeated, it gets the first run again.
  package func start(
    _ test: SmokeTest, _ starter: Starter, once idempotency: Idempotency? = nil, now: Date
  ) async throws -> SmokeRun {
    let source = starter.source
    func refuse(_ detail: String) async throws -> SmokeRun {
      try await store.write { database in
        try SmokeRun.start(
          database, try SmokeTest.get(database, id: test.id), push: nil, detail: detail, source: source,
          by: starter.entry, now: now)
      }
    }
    guard var draft = test.draft else { return try await refuse("The push can no longer be read.") }
    // A device that is expected to be refused is parked by its first refusal, and reached no more.
    if !test.expected.devices.isEmpty { draft.options.allowEmptyAudience = true }
    let order = PushIntake.Order(
      draft, source: .smoke, by: starter.entry.actor, person: starter.person, from: starter.entry.address,
      now: now)
    let once = idempotency ?? Idempotency(actor: starter.entry.actor, key: nil, route: "smoke", content: [], now: now)
    do {
      let answer = try await intake.take(order, once: once) { check in
        guard let count = check.reachable, count > SmokeExpectation.reachLimit else { return }
        let arguments = ["limit": String(SmokeExpectation.reachLimit), "count": String(count)]
        throw Problems([Problem("audience", SmokeMessage.tooMany, arguments)])
      } answer: { database, kept, _ in
        guard case .push(let push) = kept else { throw Problems([Problem("repeat", SmokeMessage.time)]) }
        let test = try SmokeTest.get(database, id: test.id)
        let run = try SmokeRun.start(database, test, push: push, source: source, by: starter.entry, now: now)
        return Idempotency.Answer(status: 202, body: Array(String(run.id).utf8))
      }
      let id = Int64(String(decoding: answer.body, as: UTF8.self)) ?? 0
      return try await store.read { try SmokeRun.get($0, id: id) }
    } catch let problems as Problems {
      return try await refuse(problems.all.map(\.text).joined(separator: " "))
    } catch let error as PushIntake.NoApp {
      return try await refuse(error.problem.text)
    }
  }

  /// Returns when the run has ended, or after `limit`; then it goes on.
  package func wait(for id: Int64, atMost limit: Duration, clock: @Sendable () -> Date) async throws -> SmokeRun {
    let start = ContinuousClock.now
    while true {
      let now = clock()
      let run = try await store.write { try SmokeRun.endIfDone($0, id: id, now: now) }
      guard run.state == .running, ContinuousClock.now - start < limit else { return run }
      try await Task.sleep(for: Self.interval)
    }
  }

  /// Ends runs whose pushes have ended, until the task is cancelled. The store is asked when anything was committed or a
  /// run is due.
  ///
  /// - Parameter pause: waits between two looks; throws when the task is cancelled.
  package func run(
    clock: @Sendable () -> Date, log: Logger,
    pause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }
  ) async throws {
    while true {
      do {
        let now = clock()
        let isQuiet = try await store.isQuiet("smoke tests", now: now) { try SmokeRun.quietTime($0) }
        if !isQuiet {
          for id in try await store.read({ try SmokeRun.running($0) }) {
            _ = try await store.write { try SmokeRun.endIfDone($0, id: id, now: now) }
          }
        }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        log.error("could not end runs of smoke tests", ["error": "\(error)"])
      }
      try await pause()
    }
  }
}
