package import Foundation
import JSON
package import Logging
package import Model
package import Providers
package import SQLite
package import Store

/// Subscribes devices to topics of FCM, and unsubscribes them: at once for a person or a program, and as a worker what
/// the rules of the apps ask for (docs/protocols.md §3.9).
package struct TopicKeeper: Sendable {
  /// Carries out batches at FCM with the app's credential; a result for each token.
  package typealias Ask = @Sendable ([TopicBatch], _ app: Int64, Environment) async throws -> [[TopicResult]]

  /// Before the next attempt, if FCM names no time.
  private static let backoff = Backoff(first: 60, longest: 3600)

  private let store: Store
  private let ask: Ask
  private let clock: @Sendable () -> Date

  package init(store: Store, clock: @escaping @Sendable () -> Date, ask: @escaping Ask) {
    (self.store, self.clock, self.ask) = (store, clock, ask)
  }

  package init(store: Store, routes: any RouteFinder, clock: @escaping @Sendable () -> Date) {
    self.init(store: store, clock: clock) { try await routes.change($0, app: $1, environment: $2) }
  }

  // MARK: At once

  /// Changes the subscriptions of tokens. What FCM cannot do now is done later, if the token is a device's.
  ///
  /// - Parameter tokens: at most ``TopicBatch/limit``.
  /// - Returns: a result for each token.
  /// - Throws: ``NoRoute``, `ProviderProblem`.
  package func change(
    _ batch: TopicBatch, app: App, _ environment: Environment, by author: KeeperAuthor
  ) async throws -> [TopicResult] {
    let asked = clock()
    let results = try await ask([batch], app.id, environment).first ?? []
    let now = clock()
    try await store.write { database in
      var endings: [(device: Int64, token: DeviceToken, ending: TopicSubscription.Ending)] = []
      for (token, result) in zip(batch.tokens, results) {
        guard let device = try Device.find(database, app: app.id, token: token), device.environment == environment
        else { continue }
        endings.append((device.id, token, Self.ending(result, attempt: 1, now: now)))
      }
      try TopicSubscription.keep(
        database, app: app.id, environment: environment, topic: batch.topic, joins: batch.joins, endings,
        askedAt: asked, now: now)
      try author.note(
        database, batch.joins ? "topic.subscribe" : "topic.unsubscribe", app, environment,
        ["topic": .string(batch.topic), "devices": .number(batch.tokens.count)])
    }
    return results
  }

  // MARK: Audiences

  /// Stores that an audience joins or leaves a topic; the worker queues its devices, and carries them out.
  ///
  /// - Throws: `Problems` at `audience`.
  package static func queue(
    _ database: Database, topic: String, joins: Bool, _ audience: Audience, app: App, _ environment: Environment,
    by author: KeeperAuthor
  ) throws -> TopicChange {
    let change = try TopicChange.create(
      database, app: app.id, environment: environment, topic: topic, joins: joins, audience: audience,
      by: author.actor, now: author.now)
    try author.note(
      database, joins ? "topic.subscribe" : "topic.unsubscribe", app, environment,
      ["topic": .string(topic), "audience": audience.json, "change": .integer(change.id)])
    return change
  }

  // MARK: The worker

  /// Runs until the task is cancelled. The store is asked when anything was committed or is due.
  ///
  /// - Parameter pause: waits between two looks for work; throws when the task is cancelled.
  package func run(
    log: Logger, pause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(2)) }
  ) async throws {
    let log = log.labelled("Topics")
    while true {
      do {
        let isQuiet = try await store.isQuiet("topics", now: clock()) { try TopicSubscription.quietTime($0) }
        if !isQuiet {
          while try await work(log) {}
        }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        log.error("could not read or store the subscriptions of topics", ["error": "\(error)"])
      }
      try await pause()
    }
  }

  /// Compares devices with the rules, queues those of an audience, or carries out the due changes of one app.
  ///
  /// - Returns: whether there was anything to do.
  package func work(_ log: Logger? = nil) async throws -> Bool {
    let now = clock()
    let (hasChecks, hasChange, due) = try await store.read { database in
      (
        try TopicSubscription.hasChecks(database), try TopicChange.isDue(database, now: now),
        try TopicSubscription.due(database, now: now, size: TopicBatch.limit)
      )
    }
    if hasChecks {
      try await store.write { try TopicSubscription.check($0, now: now) }
      return true
    }
    if hasChange {
      try await store.write { try TopicChange.work($0, now: now) }
      return true
    }
    guard let due else { return false }
    let batches = due.batches.map { topic, lines in
      TopicBatch(topic: topic, joins: lines.first?.joins ?? true, tokens: lines.map(\.token))
    }
    let results: [[TopicResult]]
    do {
      results = try await ask(batches, due.app, due.environment)
    } catch let error where error is CancellationError || (error as? SQLiteError)?.mayPass == true {
      // Neither says anything about the app: what is due stays due.
      throw error
    } catch {
      let problem = error as? NoRoute
      let reason = Reason.combined(problem?.reason ?? .credentialUnusable, after: "")
      log?.notice("topics wait", ["app": due.app, "environment": due.environment.rawValue, "reason": "\(error)"])
      let attempt = 1 + (due.batches.first?.lines.first?.attempts ?? 0)
      let later = clock().addingTimeInterval(Self.pause(attempt: attempt))
      try await store.write {
        try TopicSubscription.postpone(
          $0, app: due.app, environment: due.environment, reason: reason, to: later, now: now)
      }
      return true
    }
    let ended = clock()
    let endings = zip(due.batches, results).flatMap { batch, results in
      zip(batch.lines, results).map { line, result in
        (line: line, ending: Self.ending(result, attempt: line.attempts + 1, now: ended))
      }
    }
    try await store.write { try TopicSubscription.record($0, endings, askedAt: now, now: ended) }
    return true
  }

  private static func ending(_ result: TopicResult, attempt: Int, now: Date) -> TopicSubscription.Ending {
    switch result {
    case .done: .done
    case .refused(let reason): .refused(reason: reason)
    case .later(let reason, let after):
      .later(
        reason: reason,
        at: now.addingTimeInterval(max(pause(attempt: attempt), after.map { TimeInterval($0.components.seconds) } ?? 0))
      )
    }
  }

  private static func pause(attempt: Int) -> TimeInterval {
    backoff.wait(afterAttempt: attempt, jitter: Double.random(in: 0...1))
  }
}
