import Calendar
import Foundation
import JSON
import Model
import Providers
import Store
import Text

/// One push under way, as a state machine: an event comes in, actions go out. It does no I/O and reads no clock;
/// ``PushRunner`` does both for it.
///
/// Everything that must outlive the process is in the store before it counts: a device has its outcome, or a row that
/// waits, or it stands behind the push's cursor. What is kept in memory is bounded by the window.
struct PushRun {
  /// A device under way.
  struct Flight: Sendable {
    var platform: Platform
    /// In steady seconds.
    var askedAt: TimeInterval
    /// In the trail.
    var place: Int32?
    var attempts = 0
    var firstAt: Date
    var last: Outcome?
  }

  /// What is taken up again when the question that was asked is answered.
  enum Phase: Sendable {
    case beforeStart
    // What the process before left.
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
    case readingDue(Allowance)
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

  /// What devices are handed out for.
  enum Errand: Sendable { case waiting, page }

  /// How many devices may be handed out, with their places in the trail; nil: there is none.
  struct Allowance: Sendable {
    var room: Int
    var places: [Int32]?
  }

  /// Devices of a page; also the least share of a push.
  static let pageSize = 1000
  /// Longer than the longest wait between two tries to connect (``ClientGroupConfiguration``).
  static let credentialPatience: TimeInterval = 40

  let plan: RunPlan
  var row: RunRow
  var phase = Phase.beforeStart
  var world: RunWorld
  var walk: Walk
  var flights: [Int64: Flight] = [:]
  var ending: RunEnding?
  /// When the first waiting device is due.
  var nextDue: Date?
  var pace: Pace?
  /// The trail that its devices are noted in; 0: none.
  var trail: Int64
  var hasRoute = false
  /// Whether the provider was told to give up what has not left.
  var hasGivenUp = false
  var report: RunReport
  /// By how much the clock was set as far as the waits know of it.
  private var leapt: TimeInterval
  private var actions: [RunAction] = []

  init(_ plan: RunPlan, _ row: RunRow, nextDue: Date?, world: RunWorld) {
    self.plan = plan
    self.row = row
    self.nextDue = nextDue
    self.world = world
    walk = Walk(cursor: row.cursor)
    // No devices: nothing is read.
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

  /// Begins.
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
      // The next start would find it the same: every device has that as its outcome.
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
    case (.due(let due), .readingDue(let allowance)): handOut(due, allowance)
    case (.due(let due), .readingWaiting): recordWaiting(due)
    case (.results(let items), _): take(items)
    case (.reserved, _), (.members, _), (.due, _): preconditionFailure("no answer to the question that was asked")
    }
    return takeActions()
  }

  /// The row was written, or read anew.
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
      // Results that come meanwhile are kept between two pages, not after millions of devices.
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

  /// Results, or a nudge.
  private mutating func take(_ items: [Inbox.Item]) {
    if followClock(then: items) { return }
    if !items.isEmpty { return record(items) }
    if ending != nil { look() } else { ask(.store(.reload), .reloading) }
  }

  // MARK: What to do next

  /// Decides what to do next. Called whenever nothing is asked.
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

  /// Nothing can be handed out at present.
  mutating func rest() {
    if flights.isEmpty, walk.isAtEnd {
      if row.waiting == 0 { return ask(.store(.end(.finished, error: nil)), .leaving) }
      // The next start goes on when their time has come.
      if world.isStopping { return phase = .over }
    }
    wait()
  }

  /// The order of this process, or of another that left it in the store.
  var order: RunControl.Order {
    switch (world.order, row.state) {
    case (.cancel, _), (_, .cancelled): .cancel
    case (.pause, _), (_, .paused): .pause
    // It goes on at the next start; its state is not changed.
    case _ where world.isInterrupted: .pause
    default: .go
    }
  }

  /// What waits, waits for so much time, whatever the clock was set to meanwhile.
  ///
  /// - Returns: whether the store is asked.
  private mutating func followClock(then items: [Inbox.Item]) -> Bool {
    let leap = world.leapt - leapt
    guard leap != 0 else { return false }
    leapt = world.leapt
    for device in flights.keys { flights[device]?.firstAt += leap }
    ask(.store(.shift(leap)), .shifting(items))
    return true
  }

  /// Whether it is over before its end.
  private mutating func endIfDue() {
    guard ending == nil else { return }
    if order == .cancel {
      ending = .cancelled
    } else if let deadline = plan.deadline, deadline <= world.now.wall {
      ending = .expired
    } else if hasRoute, case .failing(let failure) = world.provider, !flights.isEmpty {
      // No answer has come since. A refusal from before this push may heal with the push's first request.
      let since = report.beginTrouble(world.now)
      if failure.kind == .credential, world.now.steady - since >= Self.credentialPatience { refuse(failure.reason) }
    } else {
      report.troubleSince = nil
    }
  }

  /// Stops for want of a credential that is taken, and raises the alarm.
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

  /// Every device that is not under way has its outcome.
  mutating func leaveOrWait() {
    guard flights.isEmpty else { return wait() }
    if world.isInterrupted { return phase = .over }
    if case .finishing = plan.start { return ask(.store(.finish), .leaving) }
    ask(.store(.end(ending?.state ?? .finished, error: ending?.error)), .leaving)
  }

  /// Waits until there is something to do, and for a second at most: somebody may want something else.
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

  /// Keeps results and how far the push is.
  mutating func record(_ results: RunResults, _ phase: Phase) {
    var results = results
    results.cursor = walk.cursor
    results.foreseen = foreseen
    if let first = results.waiting.map(\.dueAt).min() { nextDue = min(nextDue ?? .distantFuture, first) }
    report.note(results.results, world.now)
    ask(.store(.record(results)), phase)
  }

  /// Results are in the store: those who listen hear of it.
  private mutating func recorded() {
    if row.waiting == 0 { nextDue = nil }
    publish()
  }
}
