import Foundation
import Providers
import Model
import TestSupport

@testable import Delivery
@testable import Store

/// A run with a store, a provider, a trail and people around it, all of them plain values that a seed moves.
///
/// It answers what the run asks as the store would, and throws as soon as the run breaks a promise.
struct RunModel {
  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  private struct Row {
    var waiting: WaitingDelivery
    var isUnderWay = false
  }

  private struct Sent {
    let device: Int64
    let place: Int32?
  }

  // The store.
  private(set) var push: RunRow
  private var outcomes: [Int64: Outcome] = [:]
  private var rows: [Int64: Row] = [:]
  private let devices: [AudienceMember]
  private var gone: Set<Int64> = []
  private var cursors: [ProviderKind: Int64] = [:]
  private let cut: PageCut

  // The process.
  private var run: PushRun?
  private var question: RunAction?
  private var world: RunWorld
  private let policy: RetryPolicy
  private let rate: Double?
  private let expiration: Date?
  private let timeToLive: TimeInterval?
  private var hasStarted = false
  private var wantsPause = false

  // The trail.
  private let hasTrail: Bool
  private let pageSize: Int
  private var trailNumber: Int64 = 0
  private var freePlaces: [Int32] = []
  private var trail: [Int32: Int64] = [:]

  // The provider.
  private var queue: [Sent] = []
  private var inFlight: [Sent] = []
  private var inbox: [Inbox.Item] = []
  private var isKind = false
  /// The services of the audience, each with its route.
  private let providers: [ProviderKind]

  // What was seen.
  /// Devices that may have the push.
  private var mayHave: Set<Int64> = []
  /// By service, the last device that the run may have sent to; of a push that is sent at most once.
  private var announced: [ProviderKind: Int64] = [:]
  /// The same, never set back.
  private var mayHaveLeft: [ProviderKind: Int64] = [:]
  private var doubles = 0
  private var lastCounts = OutcomeCounts()
  /// Since the run last heard of the world with nothing asked.
  private var heard: [RunWorld] = []
  /// When the pace let through what is handed out next.
  private var allowedAt: TimeInterval = 0
  private var isReserved = false
  private var departures: [(at: TimeInterval, count: Int)] = []
  /// When the run last handed devices over, by service, in steady seconds.
  private var leftAt: [ProviderKind: TimeInterval] = [:]
  private(set) var steps: [String] = []
  private var random: SeededNumbers

  private static let window = 40

  init(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    let count = Int.random(in: 0...60, using: &random)
    var id: Int64 = 0
    // At times one service, at times all, and at times one of which no device is left.
    let choices: [[ProviderKind]] = [[.apns], [.fcm], [.jpush], ProviderKind.allCases]
    let providers = choices.randomElement(using: &random) ?? [.apns]
    self.providers = providers
    devices = (0..<count).map { _ in
      id += Int64.random(in: 1...4, using: &random)
      let provider = providers.randomElement(using: &random) ?? .apns
      return AudienceMember(
        id: id, platform: provider.platforms[0], token: DeviceToken(bytes: [1]), provider: provider)
    }
    var policy = RetryPolicy()
    policy.repeatsUnanswered = Bool.random(using: &random)
    self.policy = policy
    rate = Int.random(in: 0...2, using: &random) == 0 ? Double.random(in: 0.5...40, using: &random) : nil
    expiration = Int.random(in: 0...4, using: &random) == 0 ? noon + Double.random(in: 10...4000, using: &random) : nil
    timeToLive =
      expiration == nil && Int.random(in: 0...3, using: &random) == 0
      ? Double.random(in: 10...4000, using: &random) : nil
    hasTrail = Bool.random(using: &random)
    pageSize = Int.random(in: 1...12, using: &random)
    push = RunRow(state: .queued, target: nil)
    world = RunWorld(now: Moment(wall: noon, steady: 0))
    for provider in providers {
      world.routes[provider] = RouteWorld(share: 20)
      announced[provider] = 0
    }
    cut = PageCut(rawValue: Int.random(in: 0...3, using: &random))
    self.random = random
  }

  // MARK: Steps

  /// Whether nothing more can happen.
  var isOver: Bool { run == nil && push.state.isOver && !push.isSettling && rows.isEmpty }

  /// Lets one thing happen.
  mutating func step() throws {
    if run == nil { return try liveOn() }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45: try answer()
    case 45..<60: depart()
    case 60..<78: respond()
    case 78..<88: pass(Double.random(in: 0...3, using: &random))
    case 88: pass(Double.random(in: 0...2000, using: &random))
    case 89: leap(Double.random(in: -5000...5000, using: &random))
    case 90: order()
    case 91..<95: changeWorld()
    case 95: stopProvider()
    case 96: try die()
    case 97: fail()
    case 98: world.isStopping = true
    default:
      world.isStopping = true
      world.isInterrupted = Int.random(in: 0...3, using: &random) == 0
    }
  }

  /// From here on all goes well: the push must come to its end.
  mutating func bringToEnd() throws {
    isKind = true
    for _ in 0..<20_000 {
      if run == nil {
        if isOver { return try checkEnd() }
        try liveOn()
        continue
      }
      for provider in providers { world.routes[provider] = RouteWorld(share: 20) }
      (world.isStopping, world.isInterrupted) = (false, false)
      if wantsPause { resume() }
      while !queue.isEmpty { depart() }
      while !inFlight.isEmpty { respond() }
      if case .wait = question, inbox.isEmpty { pass(600) }
      try answer()
    }
    throw Broken(description: "the push does not end: \(push), \(rows.count) rows")
  }

  /// A run starts, or the push is resumed.
  private mutating func liveOn() throws {
    if push.state == .paused { resume() }
    (world.isStopping, world.isInterrupted) = (false, false)
    world.order = push.state == .cancelled ? .cancel : .go
    let isOver = push.state.isOver
    if !isOver { push.state = .sending }
    var plan = RunPlan(
      push: 1, seed: 7, start: isOver ? .finishing(.cancelled) : .sending, providers: providers,
      announced: policy.repeatsUnanswered ? [:] : announced,
      cut: cut, cursors: hasStarted ? cursors : [:], lastDeviceID: devices.last?.id ?? 0,
      isResumed: hasStarted, policy: policy, expiration: expiration, timeToLive: timeToLive, rate: rate,
      trail: trailNumber, window: Self.window, pageSize: pageSize)
    if !hasStarted {
      if hasTrail { newTrail() }
      plan.trail = trailNumber
      push.target = devices.count
      push.trail = trailNumber
      hasStarted = true
    }
    departures = []
    leftAt = [:]
    isReserved = false
    heard = [world]
    note("life")
    let next = rows.values.filter { !$0.isUnderWay }.map(\.waiting.dueAt).min()
    var run = PushRun(plan, push, nextDue: next, world: world)
    let actions = run.begin()
    self.run = run
    try perform(actions)
  }

  private mutating func newTrail() {
    trailNumber += 1
    trail = [:]
    // Fewer than the window, so that it runs out at times.
    freePlaces = Array(0..<15)
  }

  private mutating func answer() throws {
    guard let question else { return }
    let event: RunEvent
    switch question {
    case .reserve(let count):
      let taken = Array(freePlaces.suffix(count))
      freePlaces.removeLast(taken.count)
      event = .reserved(taken)
    case .findRoute:
      event = isKind || Int.random(in: 0...99, using: &random) > 0 ? .routeFound : .routeMissing("none", .noCredential)
    case .store(let task): event = try answer(task)
    case .wait:
      event = .results(inbox)
      inbox = []
      heard = []
    default: throw Broken(description: "\(question) is no question")
    }
    // An answer takes its time; of a slow disk, longer than the pauses between two attempts.
    if Bool.random(using: &random) { pass(Double.random(in: 0...60, using: &random)) }
    heard.append(world)
    note("answered \(Self.name(question))")
    self.question = nil
    let actions = run?.handle(event, world) ?? []
    try perform(actions)
  }

  private mutating func perform(_ actions: [RunAction]) throws {
    for action in actions {
      guard question == nil else { throw Broken(description: "an action follows a question") }
      switch action {
      case .publish(let progress): try check(progress)
      case .send(let members, let provider, let places): try send(members, provider, places)
      case .cancelQueued(let provider): giveUp(.cancelled, provider)
      case .reconnect, .alarm, .forgetRoute: break
      case .returnPlaces(let places):
        for place in places { trail[place] = nil }
        freePlaces += places
        try check(Set(freePlaces).count == freePlaces.count, "a place was returned twice")
      case .reserve:
        (allowedAt, isReserved) = (world.now.steady, true)
        question = action
      case .store(.due), .store(.page), .store(.markedPage):
        // What was reserved was taken from the pace before.
        if !isReserved { allowedAt = world.now.steady }
        isReserved = false
        question = action
      case .wait(let date):
        if let date { try checkHeldBack(until: date) }
        question = action
      case .findRoute, .store: question = action
      }
    }
    if question == nil {
      try check(inFlight.isEmpty && queue.isEmpty, "the run ended with devices under way")
      note("over, \(push.state)")
      endProcess()
    }
  }

  // MARK: Promises

  private func check(_ holds: Bool, _ promise: @autoclosure () -> String) throws {
    if !holds { throw Broken(description: promise()) }
  }

  private mutating func send(_ members: [AudienceMember], _ provider: ProviderKind, _ places: [Int32]?) throws {
    note("sent \(provider) \(members.map(\.id))")
    try check(members.allSatisfy { $0.provider == provider }, "a device of another service")
    try check(push.state == .sending && world.order == .go && !world.isInterrupted, "sent after pause or cancel")
    try check(places.map { $0.count == members.count } ?? true, "a place for each")
    let underWay = Set((queue + inFlight).map(\.device) + inbox.map(\.device))
    for member in members {
      let id = member.id
      try check(outcomes[id] == nil && !underWay.contains(id), "\(id) was handed out twice")
      try check(policy.repeatsUnanswered || !mayHave.contains(id), "\(id) was sent at most once, and twice")
      try check(rows[id]?.isUnderWay ?? (id <= push.handedOut), "\(id) is above the bound \(push.handedOut)")
      try check(push.trail == 0 || places != nil, "a device leaves beside the trail")
    }
    let count = underWay.count { self.provider(of: $0) == provider } + members.count
    let routes = heard.compactMap { $0.routes[provider] }
    let share = routes.map(\.share).max() ?? 0
    // The devices of a half-open circuit, or of a smaller share, were allowed when the room was asked for.
    try check(count <= share, "\(count) under way, \(share) allowed")
    try check(!routes.allSatisfy { Self.isOpen($0.health.circuit) }, "sent while the circuit is open")
    if let rate {
      departures.append((allowedAt, members.count))
      for (index, first) in departures.enumerated() {
        let sum = departures[index...].reduce(0) { $0 + $1.count }
        try check(
          Double(sum) <= rate * (allowedAt - first.at) + max(1, rate / 20) + 0.1, "\(sum) sent, faster than \(rate)/s")
      }
    }
    leftAt[provider] = world.now.steady
    for (index, member) in members.enumerated() { queue.append(Sent(device: member.id, place: places?[index])) }
  }

  /// With room and devices to send to, something is handed out: at once if there is room for a lot, and soon if not.
  private func checkHeldBack(until date: Date) throws {
    guard push.state == .sending, world.order == .go, !world.isInterrupted, rate == nil else { return }
    // Without a place in the trail, the run waits for one.
    if hasTrail, freePlaces.isEmpty { return }
    let underWay = Set((queue + inFlight).map(\.device) + inbox.map(\.device))
    // JPush gets whole pages.
    for provider in providers where provider != .jpush {
      guard let route = world.routes[provider], route.health.circuit == .closed else { continue }
      let room = route.share - underWay.count { self.provider(of: $0) == provider }
      let isDue = rows.values.contains { row in
        !row.isUnderWay && row.waiting.dueAt <= world.now.wall && self.provider(of: row.waiting.deviceID) == provider
      }
      let isNew = devices.contains { device in
        device.provider == provider && !gone.contains(device.id) && !underWay.contains(device.id)
          && outcomes[device.id] == nil && rows[device.id] == nil
      }
      guard room > 0, isDue || isNew else { continue }
      try check(room < min(pageSize, max(1, route.share / 4)), "\(provider): room for \(room), and nothing handed out")
      let allowedAt = (leftAt[provider] ?? -.infinity) + PushRun.lotPatience
      try check(allowedAt > world.now.steady, "\(provider): room for \(room) since long, and nothing handed out")
      let soon = world.now.date(atSteady: allowedAt) + 0.001
      try check(date <= soon, "\(provider): waits until \(date) instead of \(soon)")
    }
  }

  private func provider(of device: Int64) -> ProviderKind? { devices.first { $0.id == device }?.provider }

  private static func isOpen(_ circuit: CircuitBreaker.State) -> Bool {
    if case .open = circuit { true } else { false }
  }

  private mutating func check(_ progress: PushProgress) throws {
    for kind in OutcomeKind.allCases {
      try check(progress.counts[kind] >= lastCounts[kind], "\(kind.name) went backwards")
    }
    lastCounts = progress.counts
  }

  private func checkEnd() throws {
    let left = devices.filter { !gone.contains($0.id) && outcomes[$0.id] == nil }
    try check(left.isEmpty, "without an outcome: \(left.map(\.id))")
    try check(push.counts.total == outcomes.count, "\(push.counts.total) counted, \(outcomes.count) kept")
    try check(
      doubles <= push.repeats.total, "\(doubles) may have it twice, and \(push.repeats.total) were counted")
  }

  // MARK: The provider

  private mutating func depart() {
    guard !queue.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...queue.count, using: &random) {
      let sent = queue.removeFirst()
      if let place = sent.place { trail[place] = sent.device }
      inFlight.append(sent)
    }
    note("\(inFlight.count) in flight")
  }

  private mutating func respond() {
    guard !inFlight.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...inFlight.count, using: &random) {
      let sent = inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &random))
      inbox.append(Inbox.Item(device: sent.device, result: result(sent)))
    }
    note("answers \(inbox.count)")
  }

  private mutating func result(_ sent: Sent) -> SendResult {
    switch isKind ? 99 : Int.random(in: 0..<100, using: &random) {
    case 0..<10: return .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil))
    case 10..<18: return .retry(RetryCause(status: 503, reason: "ServiceUnavailable", retryAfter: .seconds(20)))
    case 18..<24: return .retry(RetryCause(status: 429, reason: "TooManyRequests"))
    case 24..<34:
      arrive(sent)
      return .outcome(.unknown(reason: OwnReason.timedOut.rawValue))
    case 34..<40:
      if let place = sent.place { trail[place] = nil }
      return .retry(RetryCause(status: 0, reason: OwnReason.unreachable.rawValue))
    case 40: return .outcome(.rejected(status: 403, reason: "InvalidProviderToken", tokenInvalidSince: nil))
    default:
      arrive(sent)
      return .outcome(.accepted)
    }
  }

  /// The device may have the push now.
  private mutating func arrive(_ sent: Sent) {
    if !mayHave.insert(sent.device).inserted { doubles += 1 }
  }

  private mutating func giveUp(_ reason: OwnReason, _ provider: ProviderKind) {
    let left = queue.filter { self.provider(of: $0.device) == provider }
    inbox += left.map { Inbox.Item(device: $0.device, result: .notSent(reason: reason.rawValue)) }
    queue = queue.filter { self.provider(of: $0.device) != provider }
  }

  /// The credential was changed.
  private mutating func stopProvider() {
    note("credential changed")
    if let provider = providers.randomElement(using: &random) { giveUp(.interrupted, provider) }
  }

  // MARK: What happens around it

  private mutating func pass(_ seconds: TimeInterval) {
    world.now.wall += seconds
    world.now.steady += seconds
    note("\(Int(seconds)) s")
  }

  private mutating func leap(_ seconds: TimeInterval) {
    world.now.wall += seconds
    world.leapt += seconds
    note("clock set by \(Int(seconds)) s")
  }

  private mutating func order() {
    if Int.random(in: 0...5, using: &random) == 0 {
      guard !push.state.isOver else { return }
      push.state = .cancelled
      push.isSettling = true
      world.order = .cancel
      note("cancelled")
    } else if push.state == .sending {
      push.state = .paused
      world.order = .pause
      wantsPause = true
      note("paused")
    }
    if Int.random(in: 0...9, using: &random) == 0, let device = devices.randomElement(using: &random) {
      // Removed, or declared dead by another push.
      gone.insert(device.id)
    }
  }

  private mutating func resume() {
    wantsPause = false
    guard push.state == .paused else { return }
    // The run that was paused ends, and another begins.
    push.state = .queued
    note("resumed")
  }

  private mutating func changeWorld() {
    guard let provider = providers.randomElement(using: &random) else { return }
    var route = RouteWorld(share: Int.random(in: 1...Self.window, using: &random))
    let now = world.now.wall
    let circuits: [CircuitBreaker.State] = [
      .closed, .closed, .open(reason: "x", since: now, until: now + 20), .halfOpen(reason: "x", since: now),
    ]
    route.health.circuit = circuits.randomElement(using: &random) ?? .closed
    let failure = ProviderFailure(kind: .credential, reason: "InvalidProviderToken", since: now)
    route.provider = Int.random(in: 0...9, using: &random) == 0 ? .failing(failure) : .ready
    world.routes[provider] = route
    note("\(provider) share \(route.share), \(route.health.circuit)")
  }

  /// The process is killed; the next one finds the trail.
  private mutating func die() throws {
    note("killed")
    for sent in inFlight { arrive(sent) }
    let left = Set(trail.values)
    let before = trailNumber
    endProcess()
    if hasTrail {
      if push.trail == before, before != 0 { follow(left) }
      newTrail()
    }
  }

  /// The store failed, and the run was cut short; the process lives on.
  private mutating func fail() {
    note("cut short")
    for sent in inFlight { arrive(sent) }
    endProcess()
  }

  private mutating func endProcess() {
    run = nil
    question = nil
    (queue, inFlight, inbox) = ([], [], [])
  }

  // MARK: The store

  private mutating func answer(_ task: RunTask) throws -> RunEvent {
    let now = world.now.wall
    switch task {
    case .reload: break
    case .setTrail(let number): push.trail = number
    case .setHandedOut(let last, let provider):
      push.handedOut = max(push.handedOut, last)
      if let provider {
        announced[provider] = max(announced[provider] ?? 0, last)
        mayHaveLeft[provider] = max(mayHaveLeft[provider] ?? 0, last)
      }
    case .setAllReturned(let last):
      try check(!rows.values.contains(where: \.isUnderWay), "paused with devices under way")
      push.handedOut = last
      announced = announced.mapValues { min($0, last) }
    case .take(let devices): for device in devices { rows[device]?.isUnderWay = true }
    case .record(let results): try record(results)
    case .end(let state, _):
      if [.sending, .paused].contains(push.state) { push.state = state }
      finish()
    case .finish: finish()
    case .followTrail:
      follow(Set(trail.values))
      return waits()
    case .shift(let seconds):
      for id in rows.keys where rows[id]?.isUnderWay == false {
        rows[id]?.waiting.dueAt += min(0, seconds)
        rows[id]?.waiting.firstAt += seconds
      }
      return waits()
    case .countRepeats:
      countRepeats(now)
      return waits()
    case .nextDue(let date, let provider):
      return .nextDue(due(provider) { !$0.isUnderWay && $0.waiting.dueAt > date }.first?.waiting.dueAt)
    case .page(let after, let upTo, let limit, let provider, let isUnanswered):
      return .members(page(after, upTo, limit, provider, isUnanswered))
    case .markedPage(let after, let upTo, let limit, let provider):
      return .members(
        page(after, upTo, limit, provider, false).map { member in
          var member = member
          member.isDone = outcomes[member.id] != nil || rows[member.id] != nil
          return member
        })
    case .due(let date, let limit, let provider):
      return .due(Array(due(provider) { !$0.isUnderWay && $0.waiting.dueAt <= date }.prefix(limit)))
    case .allWaiting(let limit, let provider): return .due(Array(due(provider) { !$0.isUnderWay }.prefix(limit)))
    case .interrupted(let limit): return .due(Array(due(nil, \.isUnderWay).prefix(limit)))
    }
    return .row(push)
  }

  private mutating func record(_ results: RunResults) throws {
    for result in results.results {
      try check(outcomes[result.deviceID] == nil, "\(result.deviceID) ended twice")
      if !policy.repeatsUnanswered, case .unknown(OwnReason.interrupted.rawValue) = result.outcome {
        let last = provider(of: result.deviceID).flatMap { mayHaveLeft[$0] } ?? 0
        try check(result.deviceID <= last, "\(result.deviceID) is unknown, and nothing up to it was handed out")
      }
      outcomes[result.deviceID] = result.outcome
      push.counts[result.outcome.kind] += 1
      rows[result.deviceID] = nil
    }
    for waiting in results.waiting {
      try check(outcomes[waiting.deviceID] == nil, "\(waiting.deviceID) has ended, and waits")
      rows[waiting.deviceID] = Row(waiting: waiting)
    }
    try check(results.cursor >= push.cursor, "the cursor went back")
    let skipped = devices.filter {
      $0.id <= results.cursor && outcomes[$0.id] == nil && rows[$0.id] == nil && !gone.contains($0.id)
    }
    try check(skipped.isEmpty, "the cursor passed \(skipped.map(\.id))")
    for (provider, cursor) in results.cursors {
      try check(!cut.isEmpty && cursor >= cursors[provider] ?? 0, "the cursor of \(provider) went back")
      let open = devices.filter {
        $0.provider == provider && $0.id <= cursor && outcomes[$0.id] == nil && rows[$0.id] == nil
          && !gone.contains($0.id)
      }
      try check(open.isEmpty, "the cursor of \(provider) passed \(open.map(\.id))")
      cursors[provider] = cursor
    }
    push.cursor = results.cursor
    push.handedOut = max(push.handedOut, results.foreseen ?? 0)
    push.repeats.unanswered += results.repeats.unanswered
    push.repeats.interrupted += results.repeats.interrupted
    push.waiting = rows.count
  }

  private mutating func finish() {
    push.isSettling = false
    push.trail = 0
    push.target = push.counts.total
  }

  private mutating func follow(_ left: Set<Int64>) {
    for id in rows.keys where rows[id]?.isUnderWay == true && !left.contains(id) {
      rows[id]?.isUnderWay = false
      rows[id]?.waiting.dueAt = world.now.wall
    }
    for id in left where outcomes[id] == nil && rows[id] == nil {
      rows[id] = Row(
        waiting: WaitingDelivery(
          deviceID: id, dueAt: world.now.wall, attempts: 0, firstAt: world.now.wall,
          last: .skipped(reason: OwnReason.interrupted.rawValue)), isUnderWay: true)
    }
    (push.handedOut, push.trail, push.waiting) = (push.cursor, 0, rows.count)
    announced = announced.mapValues { min($0, push.cursor) }
  }

  private mutating func countRepeats(_ now: Date) {
    for id in rows.keys where rows[id]?.isUnderWay == true {
      guard var row = rows[id] else { continue }
      push.repeats.count(after: row.waiting.last)
      row.isUnderWay = false
      row.waiting.dueAt = now
      row.waiting.attempts += 1
      row.waiting.last = .unknown(reason: OwnReason.interrupted.rawValue)
      rows[id] = row
    }
    for provider in providers {
      push.repeats.interrupted += page(push.cursor, push.handedOut, Self.window, provider, true).count
    }
  }

  private func waits() -> RunEvent {
    .waits(push, nextDue: rows.values.filter { !$0.isUnderWay }.map(\.waiting.dueAt).min())
  }

  /// Devices that are gone have no service any more, and are in every list.
  private func due(_ provider: ProviderKind?, _ isWanted: (Row) -> Bool) -> [WaitingDelivery.Due] {
    rows.values.filter(isWanted)
      .filter { row in
        let device = row.waiting.deviceID
        return provider == nil || gone.contains(device) || self.provider(of: device) == provider
      }
      .sorted { ($0.waiting.dueAt, $0.waiting.deviceID) < ($1.waiting.dueAt, $1.waiting.deviceID) }
      .map { row in
        let member = devices.first { $0.id == row.waiting.deviceID && !gone.contains($0.id) }
        return WaitingDelivery.Due(waiting: row.waiting, member: member)
      }
  }

  private func page(
    _ after: Int64, _ upTo: Int64, _ limit: Int, _ provider: ProviderKind?, _ isUnanswered: Bool
  ) -> [AudienceMember] {
    Array(
      devices.lazy.filter { device in
        (provider == nil || device.provider == provider) && device.id > after && device.id <= upTo
          && !gone.contains(device.id)
          && !(isUnanswered && (outcomes[device.id] != nil || rows[device.id] != nil))
      }.prefix(limit))
  }

  private mutating func note(_ step: String) {
    if steps.count == 60 { steps.removeFirst(30) }
    steps.append(step)
  }

  private static func name(_ action: RunAction) -> String {
    let value = if case .store(let task) = action { Mirror(reflecting: task) } else { Mirror(reflecting: action) }
    return value.children.first?.label ?? "\(action)"
  }
}
