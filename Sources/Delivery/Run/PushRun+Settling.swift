import Foundation
import Providers
import Push
import SQLite
import Store

extension PushRun {
  /// Keeps what has come.
  func settle(_ items: [Inbox.Item]) async throws {
    try await followClock()
    let now = tools.clock()
    var results: [DeliveryResult] = []
    var waiting: [WaitingDelivery] = []
    var verdicts: [Credential.Verdict] = []
    var reconnects = false
    var repeats = PushRecord.Repeats()
    var places: [Int32] = []
    for item in items {
      guard let flight = flights.removeValue(forKey: item.device) else { continue }
      walk.finish(item.device)
      if let place = flight.place { places.append(place) }
      guard let failure = RetryPolicy.Failure(item.result) else {
        repeats.count(after: flight.last)
        if verdicts.isEmpty { verdicts.append(.accepted(at: now)) }
        results.append(result(item.device, .accepted, flight, attempts: flight.attempts + 1, now))
        continue
      }
      if failure.hasLeft {
        troubleSince = nil
        repeats.count(after: flight.last)
      }
      let attempts = flight.attempts + (failure.hasLeft ? 1 : 0)
      switch decide(failure, item.device, flight, attempts, now) {
      case .final(let outcome): results.append(result(item.device, outcome, flight, attempts: attempts, now))
      case .stopCredential(let outcome):
        if case .rejected(_, let word, _) = outcome { verdicts.append(.refused(at: now, reason: word)) }
        refuse(failure.reason, at: now)
        results.append(result(item.device, outcome, flight, attempts: attempts, now))
      case .retry(let date):
        waiting.append(
          WaitingDelivery(
            deviceID: item.device, dueAt: date, attempts: attempts, firstAt: flight.firstAt,
            last: failure.hasLeft ? failure.outcome : flight.last ?? failure.outcome))
      case .newConnection, .resign:
        reconnects = true
        waiting.append(
          WaitingDelivery(
            deviceID: item.device, dueAt: now, attempts: max(1, attempts), firstAt: flight.firstAt,
            last: failure.outcome))
      }
    }
    if reconnects { route?.reconnect() }
    try await record(results, waiting: waiting, repeats: repeats, verdicts: verdicts)
    trail?.giveBack(places)
  }

  /// What the policy says, and before it what we ended ourselves.
  private func decide(
    _ failure: RetryPolicy.Failure, _ device: Int64, _ flight: Flight, _ attempts: Int, _ now: Date
  ) -> RetryPolicy.Decision {
    if case .notProcessed(let word) = failure {
      switch OwnReason(rawValue: word) {
      case .dryRun, .noProvider: return .final(failure.outcome)
      // Given up because we asked for it.
      case .cancelled where ending != nil: return .final(closing(flight.last))
      case .cancelled where hasGivenUp: return .retry(at: now)
      // The credential was changed: its successor's connections take it at once.
      case .interrupted:
        route = nil
        return ending == nil ? .retry(at: now) : .final(closing(flight.last))
      default: break
      }
    }
    let history = RetryPolicy.History(
      attempts: attempts, firstAt: flight.firstAt, deadline: expiration,
      // The provider signs anew and sends once more by itself; what it reports has failed twice.
      isResigned: true)
    let decision = policy.decide(
      failure, history, now: now, jitter: RetryPolicy.jitter(seed: push.seed, device: device, attempt: attempts))
    guard ending != nil else { return decision }
    switch decision {
    case .final, .stopCredential: return decision
    case .retry, .resign, .newConnection: return .final(closing(failure.outcome))
    }
  }

  /// The outcome of a device that is not sent to any more, after the last that is known of it.
  func closing(_ last: Outcome?) -> Outcome {
    let own: OwnReason =
      switch ending {
      case .expired: .expired
      case .refused: refusal
      case .cancelled, nil: .cancelled
      }
    guard let last, let failure = RetryPolicy.Failure(.outcome(last)) else { return .skipped(reason: own.rawValue) }
    if case .notProcessed = failure { return .skipped(reason: own.rawValue) }
    return failure.outcome(own)
  }

  private func result(
    _ device: Int64, _ outcome: Outcome, _ flight: Flight, attempts: Int, _ now: Date
  ) -> DeliveryResult {
    var wasAnswered = false
    var platform = Platform.ios
    switch outcome {
    case .skipped(let word): if word == OwnReason.noProvider.rawValue { platform = .android }
    case .accepted, .rejected, .unknown: wasAnswered = true
    }
    let duration = Int((now.timeIntervalSince(flight.askedAt) * 1000).rounded())
    return DeliveryResult(
      deviceID: device, platform: platform, outcome: outcome, at: now,
      durationMilliseconds: wasAnswered ? max(0, duration) : 0, attempts: attempts)
  }

  /// The result of a device that waited and is not sent to any more.
  func outcome(_ waiting: WaitingDelivery, _ outcome: Outcome, _ now: Date) -> DeliveryResult {
    DeliveryResult(deviceID: waiting.deviceID, platform: .ios, outcome: outcome, at: now, attempts: waiting.attempts)
  }

  /// Keeps results, what waits, and how far the push is; tells those who listen.
  func record(
    _ results: [DeliveryResult], waiting: [WaitingDelivery] = [], repeats: PushRecord.Repeats = .init(),
    verdicts: [Credential.Verdict] = []
  ) async throws {
    let (id, now, cursor, foreseen) = (id, tools.clock(), walk.cursor, foreseen)
    let noted = (id: route?.credentialID ?? 0, verdicts: verdicts)
    push = try await tools.store.write { database in
      _ = try Delivery.record(
        database, push: id, results, waiting: waiting, cursor: cursor, handedOut: foreseen, credential: noted,
        now: now)
      if repeats.total > 0 { try PushRecord.note(database, id: id, repeats: repeats) }
      return try PushRecord.get(database, id: id)
    }
    if let first = waiting.map(\.dueAt).min() { nextDue = min(nextDue ?? .distantFuture, first) }
    if push.waiting == 0 { nextDue = nil }
    done += results.count
    if results.contains(where: { $0.outcome == .accepted }) { troubleSince = nil }
    meter.note(done, now: now)
    publish()
  }

  // MARK: The rest of a push that is not sent

  /// Gives the next devices that are not sent to their outcome.
  ///
  /// - Returns: whether there were any.
  func settleRest() async throws -> Bool {
    if try await settleWaiting() { return true }
    guard !isAtEnd else { return false }
    let now = tools.clock()
    // Nothing is sent, so the commits are what it costs: fewer and larger, and still short enough for others.
    let members = try await nextPage(limit: 5 * Self.pageSize)
    for member in members { walk.finish(member.id) }
    let outcome = closing(nil)
    try await record(
      members.map { DeliveryResult(deviceID: $0.id, platform: $0.platform, outcome: outcome, at: now, attempts: 0) })
    return true
  }

  /// Ends the wait of those that wait and are not under way.
  func settleWaiting() async throws -> Bool {
    guard push.waiting > 0 else { return false }
    let (id, limit) = (id, Self.pageSize + flights.count)
    let waiting = try await tools.store.read { try WaitingDelivery.all($0, push: id, limit: limit) }
      .map(\.waiting).filter { flights[$0.deviceID] == nil }
    guard !waiting.isEmpty else { return false }
    let now = tools.clock()
    try await record(waiting.map { outcome($0, closing($0.last), now) })
    return true
  }
}

extension RetryPolicy.Failure {
  /// Whether it was sent, as far as we know.
  fileprivate var hasLeft: Bool { if case .notProcessed = self { false } else { true } }
}
