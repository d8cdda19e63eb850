import Calendar
import Foundation
import JSON
import Model
import Providers
import Store

/// One running push as a state machine: events in, actions out. ``PushRunner`` does its I/O and reads the clock.
///
/// Everything that must survive the process is stored before it counts: a device has its outcome, or a waiting row, or
/// is behind the push's cursor. The window bounds what is in memory.
struct PushRun {
  /// Where to continue after the answer to the current question.
  enum Phase: Sendable {
    case beforeStart
    // The previous process.
    case followingTrail
    case countingRepeats
    case readingInterrupted
    case recordingInterrupted
    case readingUnanswered(Int, left: Int)
    case recordingUnanswered(Int, after: Int64, left: Int)
    case beginningTrail
    // Sending; the number is that of the leg.
    case findingRoute(Int)
    case reserving(Errand, Int, room: Int)
    case leavingTrail(Errand, Int, room: Int)
    case readingDue(Int, Allowance, at: Date)
    case recordingGone(Int, [WaitingDelivery.Due], [Int32]?)
    case taking(Int, [WaitingDelivery.Due], [Int32]?)
    case readingNextDue(Int)
    case readingPage(Int, Allowance)
    case settingHandedOut(Int, [AudienceMember], [Int32]?)
    // Results.
    case waiting
    case shifting([Inbox.Item])
    case recordingResults([Int32])
    case reloading
    // The rest.
    case readingWaiting(Int)
    case readingRest(Int)
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

  /// How many answers are kept each time that a push is begun or continued.
  static let keptAnswers = 400
  /// Devices per page; also the least share of a push.
  static let pageSize = 1000
  /// Seconds; longer than the longest pause between two connection attempts (``ClientGroupConfiguration``).
  static let credentialPatience: TimeInterval = 40

  let plan: RunPlan
  var row: RunRow
  var phase = Phase.beforeStart
  var world: RunWorld
  /// One for each service of the audience.
  var legs: [RunLeg]
  /// The leg that hands out next.
  var turn = 0
  var flights: [Int64: Flight] = [:]
  var ending: RunEnding?
  var pace: Pace?
  /// The number of the trail in use; 0: none.
  var trail: Int64
  var report: RunReport
  /// How many more answers are kept.
  var answersLeft = Self.keptAnswers
  /// The total clock change that waiting devices have followed.
  private var leapt: TimeInterval
  private var actions: [RunAction] = []

  init(_ plan: RunPlan, _ row: RunRow, nextDue: Date?, world: RunWorld) {
    (self.plan, self.row, self.world) = (plan, row, world)
    // Without devices, do not wait for a provider.
    legs = row.target == 0 ? [] : plan.providers.map { RunLeg($0, plan, row, nextDue: nextDue, now: world.now.steady) }
    trail = plan.trail
    leapt = world.leapt
    report = RunReport(now: world.now, pace: plan.rate)
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
      for leg in legs.indices { legs[leg].nextDue = due }
      switch phase {
      case .shifting(let items): record(items)
      case .followingTrail: followed()
      default: beginTrail()
      }
    case (.reserved(let places), .reserving(let errand, let leg, let room)):
      useReserved(places, errand, leg, room: room)
    case (.routeFound, .findingRoute(let leg)):
      let isFirst = !legs[leg].hadRoute
      (legs[leg].hasRoute, legs[leg].hadRoute) = (true, true)
      if isFirst { publish() }
      look()
    case (.routeMissing(let words, let reason), .findingRoute(let leg)):
      // After a restart, the push would still be in this state: every device has that outcome.
      let isFirst = !legs[leg].hadRoute
      legs[leg].ending = RunEnding(reason: reason, state: isFirst ? .failed : .finished, error: words)
      if isFirst { publish() }
      look()
    case (.nextDue(let date), .readingNextDue(let leg)):
      legs[leg].nextDue = date
      look()
    case (.members(let members), .readingUnanswered(let leg, let left)): recordUnanswered(members, leg, left: left)
    case (.members(let members), .readingRest(let leg)): recordRest(members, leg)
    case (.members(let members), .readingPage(let leg, let allowance)): handOut(members, leg, allowance)
    case (.due(let due), .readingInterrupted): recordInterrupted(due)
    case (.due(let due), .readingDue(let leg, let allowance, let date)): handOut(due, leg, allowance, at: date)
    case (.due(let due), .readingWaiting(let leg)): recordWaiting(due, leg)
    case (.results(let items), _): take(items)
    case (.reserved, _), (.members, _), (.due, _), (.routeFound, _), (.routeMissing, _), (.nextDue, _):
      preconditionFailure("no answer to the question that was asked")
    }
    return takeActions()
  }

  /// The row was written or read again.
  private mutating func goOn(_ before: RunRow) {
    switch phase {
    case .recordingInterrupted:
      recorded()
      readInterrupted()
    case .recordingUnanswered(let leg, let after, let left):
      recorded()
      readUnanswered(leg, after: after, left: left)
    case .beginningTrail: start()
    case .leavingTrail(let errand, let leg, let room): useReserved(nil, errand, leg, room: room)
    case .recordingGone(let leg, let due, let places):
      recorded()
      takeDue(due, leg, places)
    case .taking(let leg, let due, let places): send(due, leg, places)
    case .settingHandedOut(let leg, let members, let places): send(members, leg, places)
    case .recordingResults(let places):
      recorded()
      if !places.isEmpty { act(.returnPlaces(places)) }
      look()
    case .recordingRest:
      recorded()
      // Take results between two pages, not after millions of devices.
      ask(.wait(until: nil), .waiting)
    case .reloading:
      let isWell = legs.indices.allSatisfy { !legs[$0].hasRoute || route($0).health.isWell }
      let isTroubled = legs.contains { $0.troubleSince != nil }
      if report.isNews(hasChanged: before != row || isTroubled, isWell: isWell) { publish() }
      look()
    case .leaving:
      act(.publish(PushProgress(row, nextDue: row.state == .paused ? nextDue : nil)))
      phase = .over
    case .beforeStart, .followingTrail, .countingRepeats, .readingInterrupted, .readingUnanswered, .findingRoute,
      .reserving, .readingDue, .readingNextDue, .readingPage, .waiting, .shifting, .readingWaiting, .readingRest, .over:
      preconditionFailure("nothing was asked of the push's row")
    }
  }

  private mutating func take(_ items: [Inbox.Item]) {
    if followClock(then: items) { return }
    if !items.isEmpty { return record(items) }
    if isAllEnded { look() } else { ask(.store(.reload), .reloading) }
  }

  // MARK: Deciding

  /// Decides what to do next. Called whenever no question is open.
  mutating func look() {
    if followClock(then: []) { return }
    endIfDue()
    if let holdUp = untoldTrouble() {
      var results = RunResults()
      results.holdUps = [holdUp]
      return record(results, .recordingResults([]))
    }
    if ending == nil, order == .go {
      let waiting = legs.indices.first { legs[$0].ending == nil && !legs[$0].hasRoute && hasWork($0) }
      if let leg = waiting { return ask(.findRoute(legs[leg].provider), .findingRoute(leg)) }
    }
    guard order == .go || isAllEnded else {
      for leg in legs.indices { giveUpQueued(leg) }
      return flights.isEmpty ? ask(.store(.setAllReturned(upTo: returnedUpTo)), .leaving) : wait()
    }
    for leg in legs.indices where ending(of: leg) != nil {
      giveUpQueued(leg)
      if !world.isInterrupted, readRest(leg) { return }
    }
    if isAllEnded { return leaveOrWait() }
    for step in legs.indices {
      let leg = (turn + step) % legs.count
      guard legs[leg].ending == nil else { continue }
      legs[leg].hasGivenUp = false
      if legs[leg].hasRoute, handOut(leg) { return }
    }
    rest()
  }

  /// Nothing can be sent at present.
  mutating func rest() {
    if flights.isEmpty, legs.allSatisfy(\.walk.isAtEnd) {
      if row.waiting == 0 { return ask(.store(lastWords), .leaving) }
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

  /// After a clock change, has waiting devices follow it (``LeapWatch``).
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

  mutating func giveUpQueued(_ leg: Int) {
    guard !legs[leg].hasGivenUp, legs[leg].flying > 0 else { return }
    legs[leg].hasGivenUp = true
    act(.cancelQueued(legs[leg].provider))
  }

  /// Every device that is not in flight has its outcome.
  mutating func leaveOrWait() {
    guard flights.isEmpty else { return wait() }
    if world.isInterrupted { return phase = .over }
    if case .finishing = plan.start { return ask(.store(.finish), .leaving) }
    ask(.store(lastWords), .leaving)
  }

  /// Waits for something to do, but a second at most: another process may have changed the push.
  private mutating func wait() {
    let now = world.now
    var next = now.wall.addingTimeInterval(1)
    if ending == nil, let deadline = plan.deadline { next = min(next, deadline) }
    for leg in legs.indices where ending(of: leg) == nil {
      if let deadline = deadline(of: leg) { next = min(next, now.date(atSteady: deadline)) }
      let due = row.waiting > 0 ? legs[leg].nextDue : nil
      if let due, due > now.wall { next = min(next, due) }
      if legs[leg].hasRoute, case .open(_, _, let until) = route(leg).health.circuit { next = min(next, until) }
      let wants = !legs[leg].walk.isAtEnd || (due ?? .distantFuture) <= now.wall
      guard wants, legs[leg].flying < route(leg).share else { continue }
      if let pace {
        next = min(next, max(now.date(atSteady: pace.next), now.wall))
      } else if legs[leg].leftAt + Self.lotPatience > now.steady {
        next = min(next, now.date(atSteady: legs[leg].leftAt + Self.lotPatience))
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
    let found = legs.indices.filter { legs[$0].hasRoute }
    var trouble: String?
    for leg in found.reversed() where legs[leg].troubleSince != nil {
      if case .failing(let failure) = route(leg).provider { trouble = failure.reason }
    }
    // Show the first route that is held back; otherwise any route.
    let health = found.map { route($0).health }.first { !$0.isWell } ?? found.first.map { route($0).health }
    act(.publish(report.progress(row, nextDue: nextDue, trouble: trouble, health: health ?? ProviderHealth())))
  }

  /// Stores results and progress.
  mutating func record(_ results: RunResults, _ phase: Phase) {
    var results = results
    results.cursor = cursor
    results.foreseen = foreseen
    if !plan.cut.isEmpty {
      for leg in legs where leg.provider.groupsDevices { results.cursors[leg.provider] = leg.walk.cursor }
    }
    for result in results.results where result.outcome == .accepted {
      legs[leg(of: result.provider)].troubleSince = nil
    }
    report.note(results.results.count, world.now)
    ask(.store(.record(results)), phase)
  }

  /// The results are stored: tell the listeners.
  private mutating func recorded() {
    if row.waiting == 0 {
      for leg in legs.indices { legs[leg].nextDue = nil }
    }
    publish()
  }
}
