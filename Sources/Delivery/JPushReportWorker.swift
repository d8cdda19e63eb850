package import Foundation
import JSON
package import Logging
import Model
import Providers
import SQLite
package import Store

/// Asks JPush, some time after a push, what it says became of its messages, and keeps the answers beside our own counts.
package struct JPushReportWorker: Sendable {
  private let store: Store
  private let routes: any RouteFinder
  private let clock: @Sendable () -> Date
  private let log: Logger

  package init(store: Store, routes: any RouteFinder, clock: @escaping @Sendable () -> Date, log: Logger) {
    (self.store, self.routes, self.clock, self.log) = (store, routes, clock, log.labelled("Delivery"))
  }

  /// Runs until the task is cancelled. The store is asked when anything was committed or is due.
  ///
  /// - Parameter pause: waits between two looks for messages that are due; throws when the task is cancelled.
  package func run(
    pause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(30)) }
  ) async throws {
    while true {
      do {
        let isQuiet = try await store.isQuiet("jpush reports", now: clock()) { try SentJPushMessage.quietTime($0) }
        if !isQuiet {
          while try await askOnce() {}
        }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        log.error("could not read or store JPush's reports", ["error": "\(error)"])
      }
      try await pause()
    }
  }

  /// Asks for the due messages of one push.
  ///
  /// - Returns: whether any were due. One without an answer is asked for again at its next time.
  /// - Throws: `CancellationError`; `SQLiteError` that may pass. The messages stay due.
  package func askOnce() async throws -> Bool {
    let now = clock()
    let due = try await store.read { try SentJPushMessage.due($0, now: now) }
    guard let push = due.first?.pushID else { return false }
    var results: [String: JSONValue] = [:]
    do {
      results = try await self.results(of: due.map(\.id), push: push)
    } catch let error where error is CancellationError || (error as? SQLiteError)?.mayPass == true {
      throw error
    } catch {
      log.notice("no report from JPush", ["push": push, "reason": "\(error)"])
    }
    let found = results
    try await store.write { try SentJPushMessage.asked($0, due, found, now: now) }
    return true
  }

  /// JPush's figures by message ID, as received (docs/protocols.md §4.5).
  private func results(of messages: [String], push id: Int64) async throws -> [String: JSONValue] {
    let push = try await store.read { try Push.get($0, id: id) }
    let answer: JSONValue
    do {
      answer = try await routes.ask(.results(messages), app: push.appID, environment: push.environment)
    } catch let problem as NoRoute where problem.reason == .noCredential {
      // The credential of the other environment sent it (`PushRunner`).
      answer = try await routes.ask(.results(messages), app: push.appID, environment: push.environment.other)
    }
    let pairs = (answer.array ?? []).compactMap { entry in
      (entry["msg_id"]?.string ?? entry["msg_id"]?.integer.map(String.init)).map { ($0, entry) }
    }
    return Dictionary(pairs) { first, _ in first }
  }
}
