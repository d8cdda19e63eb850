import Foundation
import Providers
import Model
import Store

/// Results of devices in flight.
extension PushRun {
  mutating func record(_ items: [Inbox.Item]) {
    let now = world.now.wall
    var batch = RunResults()
    var reconnects: Set<ProviderKind> = []
    var places: [Int32] = []
    for item in items {
      if let message = item.message { batch.messages.append(message) }
      if !item.names.isEmpty { batch.names.merge(item.names) { $1 } }
      for (device, answer) in item.answers where answersLeft > 0 {
        answersLeft -= 1
        batch.answers[device] = KeptAnswer(answer)
      }
      guard let flight = flights.removeValue(forKey: item.device) else { continue }
      let leg = leg(of: flight.reach.provider)
      legs[leg].walk.finish(item.device)
      legs[leg].flying -= 1
      if let place = flight.place { places.append(place) }
      guard let failure = RetryPolicy.Failure(item.result) else {
        batch.repeats.count(after: flight.last)
        if !batch.verdicts.contains(where: { $0.provider == flight.reach.provider }) {
          batch.verdicts.append((flight.reach.provider, .accepted(at: now)))
        }
        batch.results.append(result(item.device, .accepted, flight, attempts: flight.attempts + 1))
        legs[leg].wentOnAt = world.now.steady
        continue
      }
      if failure.hasLeft { batch.repeats.count(after: flight.last) }
      if case .rejected = failure {
        legs[leg].troubleSince = nil
      } else if case .failing = route(leg).provider {
        legs[leg].troubleSince = legs[leg].troubleSince ?? world.now.steady
      }
      let attempts = flight.attempts + (failure.hasLeft ? 1 : 0)
      switch decide(failure, item.device, flight, attempts, leg) {
      case .final(let outcome):
        batch.results.append(result(item.device, outcome, flight, attempts: attempts))
        legs[leg].wentOnAt = world.now.steady
      case .stopCredential(let outcome):
        if case .rejected(_, let word, _) = outcome {
          batch.verdicts.append((flight.reach.provider, .refused(at: now, reason: word)))
        }
        refuse(failure.reason, leg)
        batch.results.append(result(item.device, outcome, flight, attempts: attempts))
      case .retry(let date):
        legs[leg].nextDue = min(legs[leg].nextDue ?? .distantFuture, date)
        let (provider, reason) = (flight.reach.provider, failure.reason)
        // One device without an answer is no trouble of the service; see ``RunLeg/troubleSince``.
        let isOfService = if case .unanswered = failure { false } else { true }
        if isOfService, !batch.holdUps.contains(where: { $0.provider == provider && $0.reason == reason }) {
          batch.holdUps.append((provider, reason))
        }
        batch.waiting.append(
          WaitingDelivery(
            deviceID: item.device, dueAt: date, attempts: attempts, firstAt: flight.firstAt,
            last: failure.hasLeft ? failure.outcome : flight.last ?? failure.outcome))
      case .newConnection, .resign:
        reconnects.insert(flight.reach.provider)
        legs[leg].nextDue = min(legs[leg].nextDue ?? .distantFuture, now)
        batch.waiting.append(
          WaitingDelivery(
            deviceID: item.device, dueAt: now, attempts: max(1, attempts), firstAt: flight.firstAt,
            last: failure.outcome))
      }
    }
    for provider in reconnects { act(.reconnect(provider)) }
    if batch.isEmpty { look() } else { record(batch, .recordingResults(places)) }
  }

  /// Cases that this process ended itself come before the policy.
  private mutating func decide(
    _ failure: RetryPolicy.Failure, _ device: Int64, _ flight: Flight, _ attempts: Int, _ leg: Int
  ) -> RetryPolicy.Decision {
    let now = world.now.wall
    if case .notProcessed(let word) = failure {
      switch OwnReason(rawValue: word) {
      case .dryRun: return .final(failure.outcome)
      case .cancelled:
        if let ending = ending(of: leg) { return .final(ending.outcome(after: flight.last)) }
        if legs[leg].hasGivenUp { return .retry(at: now) }
      case .interrupted:
        // The credential was changed: reconnect with the new one at once.
        if legs[leg].hasRoute { act(.forgetRoute(flight.reach.provider)) }
        legs[leg].hasRoute = false
        return ending(of: leg).map { .final($0.outcome(after: flight.last)) } ?? .retry(at: now)
      default: break
      }
    }
    let history = RetryPolicy.History(
      attempts: attempts, firstAt: flight.firstAt, deadline: deadline(since: flight.firstAt),
      // The provider has already retried with a new token: a reported failure is the second one.
      isResigned: true)
    let decision = plan.policy.decide(
      failure, history, now: now,
      jitter: RetryPolicy.jitter(
        // The devices of one request stay together: they are one request again.
        seed: plan.seed, device: flight.reach.provider.groupsDevices ? flight.group : device, attempt: attempts))
    guard let ending = ending(of: leg) else { return decision }
    switch decision {
    case .final, .stopCredential: return decision
    case .retry, .resign, .newConnection: return .final(ending.outcome(after: failure.outcome))
    }
  }

  private func result(_ device: Int64, _ outcome: Outcome, _ flight: Flight, attempts: Int) -> DeliveryResult {
    let wasAnswered = if case .skipped = outcome { false } else { true }
    let duration = Int(((world.now.steady - flight.askedAt) * 1000).rounded())
    return DeliveryResult(
      deviceID: device, platform: flight.reach.platform, provider: flight.reach.provider, outcome: outcome,
      at: world.now.wall, durationMilliseconds: wasAnswered ? max(0, duration) : 0, attempts: attempts,
      variant: flight.variant)
  }

  /// The result of a waiting device that is not sent to any more.
  ///
  /// - Parameter provider: of a device that was removed since.
  func result(_ due: WaitingDelivery.Due, _ outcome: Outcome, _ provider: ProviderKind) -> DeliveryResult {
    DeliveryResult(
      deviceID: due.waiting.deviceID, platform: due.member?.platform ?? provider.usualPlatforms[0],
      provider: due.member?.provider ?? provider, outcome: outcome, at: world.now.wall, attempts: due.waiting.attempts)
  }
}

extension KeptAnswer {
  fileprivate init(_ answer: ReceivedAnswer) {
    self.init(
      status: answer.status, fields: answer.fields.map { Field(name: $0.name, value: $0.value) },
      body: String(decoding: answer.body.prefix(Self.limit), as: UTF8.self))
  }
}

extension RetryPolicy.Failure {
  /// Whether it was sent, as far as is known.
  fileprivate var hasLeft: Bool { if case .notProcessed = self { false } else { true } }
}
