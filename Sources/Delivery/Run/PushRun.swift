import Calendar
import Foundation
import JSON
import Model
import Providers
import Store
import Text

/// One running push as a state machine: events in, actions out. ``PushRunner`` does its I/O and reads the clock.
///
/// Everything that must survive the process is stored before it counts: a device has its outcome, or a waiting row, or
/// is behind the push's cursor. The window bounds what is in memory.
struct PushRun {
  /// A device in flight.
  struct Flight: Sendable {
    var platform: Platform
    /// In steady seconds.
    var askedAt: TimeInterval
    /// Its place in the trail.
    var place: Int32?
    var attempts = 0
    var firstAt: Date
    var last: Outcome?
  }

  /// Where to continue after the answer to the current question.
  enum Phase: Sendable {
    case beforeStart
    // The previous process.
    case followingTrail
    case countingRepeats
    case readingInterrupted
    case recordingInterrupted
    case readingUnanswered(after: Int64, left: Int)
    case recordingUnanswered(after: Int64, left: Int)
    case beginningTrail
    case findingFirstRoute
    // Sending.
    case findingRoute
    case reserving(Errand, room: Int)
    case leavingTrail(Errand, room: Int)
    case readingDue(Allowance, at: Date)
    case recordingGone([WaitingDelivery.Due], [Int32]?)
    case taking([WaitingDelivery.Due], [Int32]?)
    case readingNextDue
    case readingPage(Allowance)
    case settingHandedOut([AudienceMember], [Int32]?)
    // Results.
    case waiting
    case shifting([Inbox.Item])
    case recordingResults([Int32])
    case reloading
    // The rest.
    case readingWaiting
    case readingRest
    case recordingRest
    case leaving
    case over
  }

  /// Which devices are handed out.
  enum Errand: Sendable { case waiting, page }

  /// How many devices may be handed out, with their places in the trail; nil: without a trail.
  struct Allowance: Sendable {
    var room: Int
    var places: [Int32]?
  }

  /// Devices per page; also the least share of a push.
  static let pageSize = 1000
  /// Seconds; longer than the longest pause between two connection attempts (``ClientGroupConfiguration``).
  static let credentialPatience: TimeInterval = 40

  let plan: RunPlan
  var row: RunRow
  var phase = Phase.beforeStart
  var world: RunWorld
  var walk: Walk
  var flights: [Int64: Flight] = [:]
  var ending: RunEnding?
  /// The due time of the first waiting device.
  var nextDue: Date?
  var pace: Pace?
  /// The number of the trail in use; 0: none.
  var trail: Int64
  var hasRoute = false
  /// Whether the provider was told to drop what is not sent yet.
  var hasGivenUp = false
  var report: RunReport
  /// The total clock change that waiting devices have been shifted by.
  private var leapt: TimeInterval
  private var actions: [RunAction] = []

  init(_ plan: RunPlan, _ row: RunRow, nextDue: Date?, world: RunWorld) {
    self.plan = plan
    self.row = row
    self.nextDue = nextDue
    self.world = world
    walk = Walk(cursor: row.cursor)
    // Without devices, do not wait for a provider.
    if row.target == 0 { walk.isAtEnd = true }
    trail = plan.trail
    leapt = world.leapt
    report = RunReport(now: world.now)
    pace = plan.rate.map { Pace(rate: $0, now: world.now.steady) }
    switch plan.start {
    case .sending: break
    case .closing(let ending), .finishing(let ending): self.ending = ending
    }
  }

  // MARK: Events

  mutating func begin() -> [RunAction] {
    if plan.isResumed { takeStock() } else { beginTrail() }
    return takeActions()
  }

  /// Takes the answer to the last question.
  mutating func handle(_ event: RunEvent, _ world: RunWorld) -> [RunAction] {
    self.world = world
    switch (event, phase) {
    case (.row(let row), _):
      let before = self.row
      self.row = row
      goOn(before)
    case (.waits(let row, let due), _):
      self.row = row
      nextDue = due
      switch phase {
      case .shifting(let items): record(items)
      case .followingTrail: countRepeats()
      default: beginTrail()
      }
    case (.reserved(let places), .reserving(let errand, let room)): useReserved(places, errand, room: room)
    case (.routeFound, _):
      hasRoute = true
      if case .findingFirstRoute = phase { publish() }
      look()
    case (.routeMissing(let words, let reason), _):
      // After a restart, the push would still be in this state: every device has that outcome.
      let isFirst = if case .findingFirstRoute = phase { true } else { false }
      ending = RunEnding(reason: reason, state: isFirst ? .failed : .finished, error: words)
      if isFirst { publish() }
      look()
    case (.nextDue(let date), _):
      nextDue = date
      handOutPage()
    case (.members(let members), .readingUnanswered(_, let left)): recordUnanswered(members, left: left)
    case (.members(let members), .readingRest): recordRest(members)
    case (.members(let members), .readingPage(let allowance)): handOut(members, allowance)
    case (.due(let due), .readingInterrupted): recordInterrupted(due)
    case (.due(let due), .readingDue(let allowance, let date)): handOut(due, allowance, at: date)
    case (.due(let due), .readingWaiting): recordWaiting(due)
    case (.results(let items), _): take(items)
    case (.reserved, _), (.members, _), (.due, _): preconditionFailure("no answer to the question that was asked")
    }
    return takeActions()
  }

  /// The row was written or read again.
  private mutating func goOn(_ before: RunRow) {
    switch phase {
    case .recordingInterrupted:
      recorded()
      readInterrupted()
    case .recordingUnanswered(let after, let left):
      recorded()
      readUnanswered(after: after, left: left)
    case .beginningTrail: findFirstRoute()
    case .leavingTrail(let errand, let room): useReserved(nil, errand, room: room)
    case .recordingGone(let due, let places):
      recorded()
      takeDue(due, places)
    case .taking(let due, let places): send(due, places)
    case .settingHandedOut(let members, let places): send(members, places)
    case .recordingResults(let places):
      recorded()
      if !places.isEmpty { act(.returnPlaces(places)) }
      look()
    case .recordingRest:
      recorded()
      // Take results between two pages, not after millions of devices.
      ask(.wait(until: nil), .waiting)
    case .reloading:
      if report.isNews(hasChanged: before != row, isWell: !hasRoute || world.health.isWell) { publish() }
      look()
    case .leaving:
      act(.publish(PushProgress(row, nextDue: row.state == .paused ? nextDue : nil)))
      phase = .over
    case .beforeStart, .followingTrail, .countingRepeats, .readingInterrupted, .readingUnanswered, .findingFirstRoute,
      .findingRoute,
      .reserving, .readingDue, .readingNextDue, .readingPage, .waiting, .shifting, .readingWaiting, .readingRest, .over:
      preconditionFailure("nothing was asked of the push's row")
    }
  }

  private mutating func take(_ items: [Inbox.Item]) {
    if followClock(then: items) { return }
    if !items.isEmpty { return record(items) }
    if ending != nil { look() } else { ask(.store(.reload), .reloading) }
  }

  // MARK: Deciding

  /// Decides what to do next. Called whenever no question is open.
  mutating func look() {
    if followClock(then: []) { return }
    endIfDue()
    if ending == nil, order == .go, !hasRoute { return ask(.findRoute, .findingRoute) }
    if ending != nil {
      giveUpQueued()
      if !world.isInterrupted, readRest() { return }
      return leaveOrWait()
    } else if order != .go {
      giveUpQueued()
      if flights.isEmpty { return ask(.store(.setAllReturned(upTo: walk.handedOut)), .leaving) }
    } else {
      hasGivenUp = false
      return handOutWaiting()
    }
    wait()
  }

  /// Nothing can be sent at present.
  mutating func rest() {
    if flights.isEmpty, walk.isAtEnd {
      if row.waiting == 0 { return ask(.store(.end(.finished, error: nil)), .leaving) }
      // The next start continues when they are due.
      if world.isStopping { return phase = .over }
    }
    wait()
  }

  /// The order of this process, or of another process through the store.
  var order: RunControl.Order {
    switch (world.order, row.state) {
    case (.cancel, _), (_, .cancelled): .cancel
    case (.pause, _), (_, .paused): .pause
    // Continues at the next start; the state stays the same.
    case _ where world.isInterrupted: .pause
    default: .go
    }
  }

  /// After a clock change, shifts waiting devices so that their remaining time stays the same.
  ///
  /// - Returns: whether the store was asked.
  private mutating func followClock(then items: [Inbox.Item]) -> Bool {
    let leap = world.leapt - leapt
    guard leap != 0 else { return false }
    leapt = world.leapt
    for device in flights.keys { flights[device]?.firstAt += leap }
    ask(.store(.shift(leap)), .shifting(items))
    return true
  }

  /// Ends a push early if necessary.
  private mutating func endIfDue() {
    guard ending == nil else { return }
    if order == .cancel {
      ending = .cancelled
    } else if let deadline = plan.deadline, deadline <= world.now.wall {
      ending = .expired
    } else if hasRoute, case .failing(let failure) = world.provider, !flights.isEmpty {
      // No answer since then. A refusal from before this push may be over at its first request.
      let since = report.beginTrouble(world.now)
      if failure.kind == .credential, world.now.steady - since >= Self.credentialPatience { refuse(failure.reason) }
    } else {
      report.troubleSince = nil
    }
  }

  /// Stops because no credential is accepted, and raises the alarm.
  mutating func refuse(_ reason: String) {
    guard ending == nil else { return }
    ending = RunEnding(
      reason: .credentialRefused, state: .finished,
      error: "The provider refused the credential: \(reason.withoutFullStop). \(Reason.of(reason).remedy)")
    act(.alarm(reason))
  }

  mutating func giveUpQueued() {
    guard !hasGivenUp, !flights.isEmpty else { return }
    hasGivenUp = true
    act(.cancelQueued)
  }

  /// Every device that is not in flight has its outcome.
  mutating func leaveOrWait() {
    guard flights.isEmpty else { return wait() }
    if world.isInterrupted { return phase = .over }
    if case .finishing = plan.start { return ask(.store(.finish), .leaving) }
    ask(.store(.end(ending?.state ?? .finished, error: ending?.error)), .leaving)
  }

  /// Waits for something to do, but a second at most: another process may have changed the push.
  private mutating func wait() {
    let now = world.now
    var next = now.wall.addingTimeInterval(1)
    if ending == nil {
      if let deadline = plan.deadline { next = min(next, deadline) }
      if let nextDue, row.waiting > 0, nextDue > now.wall { next = min(next, nextDue) }
      if hasRoute, case .open(_, _, let until) = world.health.circuit { next = min(next, until) }
      let wants = !walk.isAtEnd || (row.waiting > 0 && (nextDue ?? .distantFuture) <= now.wall)
      if wants, flights.count < world.share, let pace {
        next = min(next, max(now.date(atSteady: pace.next), now.wall))
      }
    }
    ask(.wait(until: next), .waiting)
  }

  // MARK: Actions

  mutating func act(_ action: RunAction) { actions.append(action) }

  mutating func ask(_ question: RunAction, _ phase: Phase) {
    actions.append(question)
    self.phase = phase
  }

  private mutating func takeActions() -> [RunAction] {
    defer { actions = [] }
    return actions
  }

  mutating func publish() {
    act(.publish(report.progress(row, nextDue: row.waiting > 0 ? nextDue : nil, hasRoute: hasRoute, world)))
  }

  /// Stores results and progress.
  mutating func record(_ results: RunResults, _ phase: Phase) {
    var results = results
    results.cursor = walk.cursor
    results.foreseen = foreseen
    if let first = results.waiting.map(\.dueAt).min() { nextDue = min(nextDue ?? .distantFuture, first) }
    report.note(results.results, world.now)
    ask(.store(.record(results)), phase)
  }

  /// The results are stored: tell the listeners.
  private mutating func recorded() {
    if row.waiting == 0 { nextDue = nil }
    publish()
  }
}
