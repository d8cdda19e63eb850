import Foundation
import Providers
import Model
import Store

/// The devices of one push service in a run. Each service has a route of its own, with its limits and pauses; a leg that
/// cannot send does not hold up the others.
struct RunLeg: Sendable {
  let provider: ProviderKind
  var walk: Walk
  /// Devices of this service up to this ID may have been sent to. Kept only for pushes that are sent at most once: those
  /// of one service must not end as unknown because another service was faster.
  var announced: Int64
  var hasRoute = false
  /// Whether it has had a route since the run began.
  var hadRoute = false
  /// Devices in flight.
  var flying = 0
  /// When devices were last handed over to be sent, in steady seconds.
  var leftAt = -TimeInterval.infinity
  /// When a device of the leg last got its outcome, or all had been handed over, in steady seconds. A leg that stands
  /// still for longer than the time to live has expired: nobody waits for the rest any more.
  var wentOnAt: TimeInterval
  /// When the first waiting device is due, or earlier; nil: none waits.
  var nextDue: Date?
  /// Whether the provider was told to drop what is not sent yet.
  var hasGivenUp = false
  /// Why its remaining devices are not sent to.
  var ending: RunEnding?
  /// After its end: all its waiting devices have their outcome.
  var hasNoWaiting = false
  /// Steady seconds since which the provider has failed to answer; nil: it works.
  var troubleSince: TimeInterval?
  /// Whether that is recorded as an incident's cause.
  var isTroubleTold = false

  init(_ provider: ProviderKind, _ plan: RunPlan, _ row: RunRow, nextDue: Date?, now: TimeInterval) {
    self.provider = provider
    wentOnAt = now - plan.stoodStill
    announced = plan.announced[provider] ?? row.handedOut
    walk = Walk(cursor: max(plan.cursors[provider] ?? 0, row.cursor))
    self.nextDue = nextDue
  }
}

/// The legs of a run, together.
extension PushRun {
  /// A device in flight.
  struct Flight: Sendable {
    var reach: Reach
    /// In steady seconds.
    var askedAt: TimeInterval
    /// Its place in the trail.
    var place: Int32?
    var attempts = 0
    var firstAt: Date
    var last: Outcome?
    /// Which of the push's texts it gets; nil: there is one only.
    var variant: Int?
    /// The first device of the same request, if the run knows: they wait together. 0: it does not.
    var group: Int64 = 0
  }

  /// Every device up to this ID has its outcome or waits.
  var cursor: Int64 {
    let open = legs.lazy.filter { !$0.walk.isDone }.map(\.walk.cursor).min()
    return open ?? legs.lazy.map(\.walk.cursor).max() ?? row.cursor
  }

  /// No device above this ID was handed out without having returned, given that nothing is in flight.
  var returnedUpTo: Int64 {
    let open = legs.lazy.filter { !$0.walk.isAtEnd }.map(\.walk.handedOut).min()
    return open ?? legs.lazy.map(\.walk.handedOut).max() ?? row.handedOut
  }

  /// When the first waiting device is due.
  var nextDue: Date? { row.waiting == 0 ? nil : legs.compactMap(\.nextDue).min() }

  /// The leg of a device in flight.
  func leg(of provider: ProviderKind) -> Int {
    guard let leg = legs.firstIndex(where: { $0.provider == provider }) else {
      preconditionFailure("a device of a service that is not sent through")
    }
    return leg
  }

  /// Why a leg's remaining devices are not sent to; nil: they are.
  func ending(of leg: Int) -> RunEnding? { ending ?? legs[leg].ending }

  /// When a leg that does not go on expires, in steady seconds; nil: never.
  func deadline(of leg: Int) -> TimeInterval? {
    // At a slow pace, which all legs share, the next turn comes later.
    plan.timeToLive.map { legs[leg].wentOnAt + $0 + (plan.rate.map { Double(legs.count) / $0 } ?? 0) }
  }

  /// When a device expires that was first handed over at `date`; nil: never.
  func deadline(since date: Date) -> Date? { plan.timeToLive.map { date.addingTimeInterval($0) } ?? plan.expiration }

  var isAllEnded: Bool { ending != nil || legs.allSatisfy { $0.ending != nil } }

  /// The question that ends the push.
  var lastWords: RunTask {
    if let ending { return .end(ending.state, error: ending.error) }
    let endings = legs.compactMap(\.ending)
    let isFailed = !endings.isEmpty && endings.count == legs.count && endings.allSatisfy { $0.state == .failed }
    var errors: [String] = []
    for case let error? in endings.map(\.error) where !errors.contains(error) { errors.append(error) }
    return .end(isFailed ? .failed : .finished, error: errors.isEmpty ? nil : errors.joined(separator: " "))
  }

  /// A route's limits and state; without a route, no limit is known.
  func route(_ leg: Int) -> RouteWorld { world.routes[legs[leg].provider] ?? RouteWorld(share: plan.window) }

  /// Whether a leg may still have something to send.
  func hasWork(_ leg: Int) -> Bool { !legs[leg].walk.isAtEnd || (row.waiting > 0 && legs[leg].nextDue != nil) }
}
