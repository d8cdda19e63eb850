import Foundation
import Model
import Store

/// Devices that are not sent to: those that the previous process left in flight, and the rest of a push that ends
/// early.
extension PushRun {
  // MARK: The previous process

  /// Counts the devices that may have been sent to without a stored answer. If they can be sent to again, they count as
  /// repeats; if not (at most once, or the push is over), their outcome is unknown.
  mutating func takeStock() {
    // An error interrupted this push in the same process: its trail lists the devices that were sent to.
    if trail != 0, row.trail == trail { ask(.store(.followTrail), .followingTrail) } else { countRepeats() }
  }

  /// The trail names what left: beyond the cursor nothing else did.
  mutating func followed() {
    for leg in legs.indices { legs[leg].announced = min(legs[leg].announced, row.handedOut) }
    countRepeats()
  }

  private mutating func countRepeats() {
    guard plan.policy.repeatsUnanswered, ending == nil else { return readInterrupted() }
    ask(.store(.countRepeats), .countingRepeats)
  }

  mutating func readInterrupted() { ask(.store(.interrupted(limit: plan.pageSize)), .readingInterrupted) }

  mutating func recordInterrupted(_ due: [WaitingDelivery.Due]) {
    if due.isEmpty { return readUnanswered(leg: 0) }
    var batch = RunResults()
    for item in due {
      // It may have been sent again before the process ended.
      batch.repeats.count(after: item.waiting.last)
      var result = result(item, Self.interrupted, legs.first?.provider ?? .apns)
      result.attempts += 1
      batch.results.append(result)
    }
    record(batch, .recordingInterrupted)
  }

  /// Reads what a leg may have sent, and then the next one's.
  private mutating func readUnanswered(leg: Int) {
    guard leg < legs.count else { return beginTrail() }
    // At most a window of a leg's devices was in flight; those beyond it were announced but not sent to.
    readUnanswered(leg, after: row.cursor, left: plan.policy.repeatsUnanswered ? plan.window : .max)
  }

  mutating func readUnanswered(_ leg: Int, after: Int64, left: Int) {
    guard after < legs[leg].announced, left > 0 else { return readUnanswered(leg: leg + 1) }
    ask(
      .store(
        .page(
          after: after, upTo: legs[leg].announced, limit: min(plan.pageSize, left), legs[leg].provider,
          withoutDeliveries: true)),
      .readingUnanswered(leg, left: left))
  }

  mutating func recordUnanswered(_ members: [AudienceMember], _ leg: Int, left: Int) {
    guard let last = members.last?.id else { return readUnanswered(leg: leg + 1) }
    let results = members.map {
      DeliveryResult(
        deviceID: $0.id, platform: $0.platform, provider: $0.provider, outcome: Self.interrupted, at: world.now.wall)
    }
    record(RunResults(results: results), .recordingUnanswered(leg, after: last, left: left - members.count))
  }

  private static let interrupted = Outcome.unknown(reason: OwnReason.interrupted.rawValue)

  /// From here on the trail records which devices are sent to. Called before the first device, and after everything is
  /// counted that does not need the trail.
  mutating func beginTrail() {
    guard row.trail != trail, ending == nil else { return start() }
    ask(.store(.setTrail(trail)), .beginningTrail)
  }

  mutating func start() {
    publish()
    look()
  }

  // MARK: The rest of a push

  /// Reads the next devices that get the outcome of a leg's early end.
  ///
  /// - Returns: whether the store was asked.
  mutating func readRest(_ leg: Int) -> Bool {
    guard row.waiting > 0, !legs[leg].hasNoWaiting else { return readRestPage(leg) }
    ask(.store(.allWaiting(limit: plan.pageSize + flights.count, legs[leg].provider)), .readingWaiting(leg))
    return true
  }

  private mutating func readRestPage(_ leg: Int) -> Bool {
    guard !legs[leg].walk.isAtEnd else { return false }
    // Nothing is sent, so commits dominate the cost: use larger ones, still short enough for other writers.
    ask(.store(page(leg, limit: restSize)), .readingRest(leg))
    return true
  }

  private var restSize: Int { 5 * plan.pageSize }

  mutating func recordWaiting(_ due: [WaitingDelivery.Due], _ leg: Int) {
    let waiting = due.filter { flights[$0.waiting.deviceID] == nil }
    guard let ending = ending(of: leg), !waiting.isEmpty else {
      legs[leg].hasNoWaiting = true
      return look()
    }
    record(
      RunResults(results: waiting.map { result($0, ending.outcome(after: $0.waiting.last), legs[leg].provider) }),
      .recordingRest)
  }

  mutating func recordRest(_ members: [AudienceMember], _ leg: Int) {
    legs[leg].walk.handOut(members, atMost: restSize)
    for member in members { legs[leg].walk.finish(member.id) }
    let outcome = (ending(of: leg) ?? .cancelled).outcome(after: nil)
    let now = world.now.wall
    record(
      RunResults(
        results: members.map {
          DeliveryResult(
            deviceID: $0.id, platform: $0.platform, provider: $0.provider, outcome: outcome, at: now, attempts: 0)
        }), .recordingRest)
  }
}
