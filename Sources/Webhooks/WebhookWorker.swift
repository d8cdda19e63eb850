package import Foundation
package import Logging
internal import Model
internal import Reminders
internal import SQLite
package import Store
internal import Synchronization

/// Sends the events of webhooks: in order for each webhook, side by side for several, and again after failures.
///
/// An event that was sent and not recorded, because the process ended, is sent again under the same ID.
package final class WebhookWorker: Sendable {
  private let store: Store
  private let sender: WebhookSender
  private let clock: @Sendable () -> Date
  private let log: Logger
  /// Webhooks that are being sent to.
  private let busy = Mutex<Set<Int64>>([])

  /// Seconds between two looks for dropped and old events.
  private static let sweepInterval: TimeInterval = 60

  package init(store: Store, sender: WebhookSender, clock: @escaping @Sendable () -> Date, log: Logger) {
    (self.store, self.sender, self.clock, self.log) = (store, sender, clock, log.labelled("Webhooks"))
  }

  /// Looks for events every second until the task is cancelled. The store is asked when anything was committed or is due.
  ///
  /// - Parameter pause: waits between two looks; throws when the task is cancelled.
  package func run(pause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }) async {
    var swept = Date.distantPast
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        do {
          let isQuiet = try await store.isQuiet("webhooks", now: clock()) { try WebhookDelivery.quietTime($0) }
          if !isQuiet {
            for id in try await due() {
              group.addTask { await self.drain(id) }
            }
          }
          if abs(clock().timeIntervalSince(swept)) >= Self.sweepInterval {
            swept = clock()
            try await sweep()
          }
        } catch {
          log.error("could not read or store the events of webhooks", ["error": "\(error)"])
        }
        do { try await pause() } catch { return }
      }
    }
  }

  /// Sends what is due now, and returns when nothing more is.
  package func look() async throws {
    let ids = try await due()
    await withDiscardingTaskGroup { group in
      for id in ids { group.addTask { await self.drain(id) } }
    }
    try await sweep()
  }

  /// Webhooks with events to send that nobody is sending to; they count as busy from now on.
  private func due() async throws -> [Int64] {
    let now = clock()
    let ids = try await store.read { try WebhookDelivery.due($0, now: now) }
    return busy.withLock { busy in ids.filter { busy.insert($0).inserted } }
  }

  /// Sends a webhook's events until none is left or one fails.
  private func drain(_ id: Int64) async {
    defer { busy.withLock { _ = $0.remove(id) } }
    do {
      while !Task.isCancelled, try await sendNext(id) {}
    } catch  where Task.isCancelled {
      // The store is closed: the event is sent again by the next process.
    } catch {
      log.error("could not send the events of a webhook", ["webhook": id, "error": "\(error)"])
    }
  }

  /// - Returns: whether to go on.
  private func sendNext(_ id: Int64) async throws -> Bool {
    let (now, sealer) = (clock(), store.sealer)
    let found = try await store.read { database in
      try WebhookDelivery.next(database, webhook: id, now: now).map { event in
        (event: event, webhook: try Webhook.get(database, id: id))
      }
    }
    guard let (event, webhook) = found else { return false }
    let secrets = try await store.read { database in
      try Sealing.opened { try Webhook.secrets(database, id: id, sealer: sealer) }
    }
    let answer =
      if let secrets {
        await sender.send(
          WebhookContent(event), to: secrets.address, secrets: webhook.signing(secrets, now: now), now: now)
      } else {
        WebhookDelivery.Answer(status: nil, milliseconds: 0, words: "its URL and secret cannot be decrypted")
      }
    let pause = RetryPause.seconds(afterAttempt: webhook.failures + 1, asked: answer.retryAfter)
    let ended = clock()
    let state = try await store.write { try event.record($0, answer, pause: pause, now: ended) }
    note(event, webhook, answer, state)
    return answer.isGood
  }

  private func note(
    _ event: WebhookDelivery, _ webhook: Webhook, _ answer: WebhookDelivery.Answer, _ state: WebhookDelivery.State
  ) {
    let (id, name) = (webhook.id, webhook.details.name)
    guard !answer.isGood else {
      if webhook.failures > 0 { log.notice("webhook answers again", ["webhook": id, "name": name]) }
      return
    }
    log.warning(
      answer.isGone ? "webhook turned off: its receiver is gone" : "webhook not delivered",
      [
        "webhook": id, "name": name, "host": webhook.details.target, "event": event.uid, "state": state.rawValue,
        "attempts": event.attempts + 1, "answer": Redaction.masking(answer.words),
      ])
  }

  private func sweep() async throws {
    let now = clock()
    for (id, count) in try await store.write({ try WebhookDelivery.sweep($0, now: now) }) {
      log.warning("events of a webhook waited for a week and were dropped", ["webhook": id, "events": count])
    }
  }
}
