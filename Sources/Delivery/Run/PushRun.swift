import Foundation
import Logging
import Providers
import Push
import SQLite
import Store

/// One push under way: its audience in pages, results in batches, and what is to be sent again when its time has come.
///
/// Everything that must outlive the process is in the store before it counts: a device has its outcome, or a row that
/// waits, or it stands behind the push's cursor. What is kept in memory is bounded by the window.
actor PushRun {
  /// What a run needs from the engine.
  struct Tools: Sendable {
    let store: PatientStore
    let routes: any RouteFinder
    let clock: @Sendable () -> Date
    /// Waits until a time, or less long.
    let sleep: @Sendable (Date) async throws -> Void
    let policy: RetryPolicy
    let shares: FairShare
    let leaps: LeapWatch
    /// Where it is noted who has left; nil: there is none.
    let trail: Trail?
    let log: Logger
    let report: @Sendable (SendReport) -> Void
    let publish: @Sendable (PushProgress) -> Void
  }

  /// A device under way.
  struct Flight {
    var askedAt: Date
    /// In the trail.
    var place: Int32?
    var attempts = 0
    var firstAt: Date
    /// Whether it has a row that waits, from an attempt before.
    var hasWaited = false
    var last: Outcome?
  }

  /// Why the rest is not sent.
  enum Ending {
    case cancelled, expired
    case refused
  }

  /// Devices of a page; also the least share of a push.
  static let pageSize = 1000

  let tools: Tools
  let control: RunControl
  let id: Int64
  let waker: Waker
  var policy: RetryPolicy
  var push: PushRecord
  var walk = Walk(cursor: 0)
  var flights: [Int64: Flight] = [:]
  var isAtEnd = false
  var ending: Ending?
  /// The word for those that a refusal kept from being sent.
  var refusal = OwnReason.credentialRefused
  /// Whether nothing could be sent from the beginning.
  var hasNoRoute = false
  var hasGivenUp = false
  var nextDue: Date?
  var routed: RoutedPush?
  var route: (any Route)?
  var query: AudienceQuery?
  var isResumed = false
  var isDryRun = false
  var pace: Pace?
  var expiration: Date?
  var error: String?
  var troubleSince: Date?
  var wasWell = true
  var meter: RateMeter
  var done = 0
  /// Nil: there is no room in it, or no such file.
  var trail: Trail?
  /// By how much the clock was set as far as the waits know of it.
  var leapt: TimeInterval

  init(_ push: PushRecord, tools: Tools, control: RunControl) {
    self.push = push
    id = push.id
    self.tools = tools
    self.control = control
    policy = tools.policy
    meter = RateMeter(now: tools.clock())
    trail = tools.trail
    leapt = tools.leaps.total()
    waker = Waker(sleep: tools.sleep, wake: { control.inbox.nudge() })
  }

  /// Sends what has no outcome yet, and brings the push to its end; or to where it waits, if it is paused.
  ///
  /// - Throws: what the store throws; the push then stays where it is, and is taken up at the next start.
  func carryOut() async throws {
    defer { waker.cancel() }
    let (tools, id) = (tools, id)
    let now = tools.clock()
    let found = try await tools.store.write { database -> (push: PushRecord, started: Bool) in
      // One for later stays where it is; it is found when its time has come.
      let push = try PushRecord.get(database, id: id)
      if push.waits(now: now) != nil { return (push, false) }
      let started = try PushRecord.move(database, id: id, from: [.queued, .sending], to: .sending, now: now)
      return (try PushRecord.get(database, id: id), started)
    }
    push = found.push
    guard found.started || (push.state.isOver && !PushProgress(push).isFinal) else { return }
    guard let draft = try await read() else { return }
    if !found.started {
      // It ended in the midst of it: those that waited, and those behind, have their outcome now.
      ending = push.state == .cancelled ? .cancelled : .refused
      try await take(draft)
      try await takeStock()
      while !control.isInterrupted {
        if try await !settleRest() { return try await settled() }
      }
      return
    }
    try await take(draft)
    try await takeStock()
    try await beginTrail()
    publish()
    expireIfLate(draft)
    if ending == nil { try await findFirstRoute() }
    // What is held back is told before the first wait for it.
    publish()
    if let route { tools.shares.join(credential: route.credentialID, push: id) }
    defer { if let route { tools.shares.leave(credential: route.credentialID, push: id) } }
    do {
      try await loop()
    } catch {
      // Nobody takes in any more what comes of those that have not left.
      route?.cancel(push: id)
      throw error
    }
  }

  /// - Returns: nil if it cannot be read; then the push has ended.
  private func read() async throws -> PushDraft? {
    do {
      return try PushDraft(json: try JSONValue(parsing: Data(push.draftJSON.utf8)))
    } catch {
      ending = .cancelled
      while try await settleWaiting() {}
      try await end(.failed, error: "The push cannot be read any more: \(error)")
      return nil
    }
  }

  /// Takes over what is asked for, and counts the audience.
  private func take(_ draft: PushDraft) async throws {
    let sentAt = push.sendAt ?? push.createdAt
    let payload = APNsPayload(draft, uid: push.uid)
    routed = RoutedPush(id: id, seed: push.seed, request: APNsRequest(payload, sentAt: sentAt))
    isDryRun = draft.options.dryRun
    if let text = payload.expiration(sentAt: sentAt), let seconds = Double(text) {
      expiration = Date(timeIntervalSince1970: seconds)
    }
    policy.repeatsUnanswered = !draft.options.atMostOnce
    // What sends nothing needs no moderation.
    if !isDryRun { pace = draft.options.rate.map { Pace(rate: Double($0), now: tools.clock()) } }
    try await count(
      AudienceQuery(
        app: push.appID, environment: push.environment, platforms: draft.platforms, audience: draft.audience))
    walk = Walk(cursor: push.cursor)
    // Nobody: that needs no provider, and waits for none that is held back.
    isAtEnd = push.target == 0
    // A push that is spread over a time has its speed only now that its devices are counted.
    if pace == nil, !isDryRun {
      pace = draft.rate(target: push.target ?? 0).map { Pace(rate: $0, now: tools.clock()) }
    }
  }

  /// No credential, or one that cannot be opened or used: everybody has that as the outcome, because the next start
  /// would find it the same.
  private func findFirstRoute() async throws {
    do {
      route = try await findRoute()
    } catch let problem where !(problem is SQLiteError) {
      hasNoRoute = true
      endWithoutRoute(problem)
    }
  }

  func endWithoutRoute(_ problem: any Error) {
    ending = .refused
    refusal = (problem as? NoRoute)?.reason ?? .credentialUnusable
    error = "\(problem)"
  }

  /// Nothing of a push is sent that was taken up too late, as after days without a server. Its first start stands in its
  /// row: after a crash in the midst of this, it is too late still.
  private func expireIfLate(_ draft: PushDraft) {
    guard let planned = push.plannedAt, let started = push.startedAt else { return }
    let latest = draft.latestStart(due: planned)
    guard started >= latest else { return }
    ending = .expired
    error = """
      It was due at \(Timestamp.text(planned)), and could begin until \(Timestamp.text(latest)). The server took it up \
      at \(Timestamp.text(started)), which was too late: nothing was sent.
      """
  }

  private func count(_ query: AudienceQuery) async throws {
    isResumed = push.lastDeviceID != nil
    let (id, parent, isNew, reach) = (id, push.parentID, !isResumed, foresight)
    // On a reader: a large audience takes seconds to count, and everybody else's writes would wait for that.
    let (full, count, last, due) = try await tools.store.read { database in
      var query = query
      if let parent { query.retry = try PushRepeat.choice(database, push: parent) }
      return (
        query, isNew ? try query.count(database) : nil, try Device.lastID(database),
        try WaitingDelivery.nextDue(database, push: id)
      )
    }
    (self.query, nextDue) = (full, due)
    guard let count else { return }
    let targets = Dictionary(uniqueKeysWithValues: Platform.allCases.map { ($0, count.reachable($0)) })
    // The first of them, in the same transaction: a push to few devices needs no other.
    let first = reach == 0 ? 0 : Double(last) * min(1, Double(reach) / Double(max(1, count.reachable)))
    let trail = trail?.number ?? 0
    push = try await tools.store.write { database in
      try PushRecord.setTarget(
        database, id: id, targets, lastDeviceID: last, handedOut: Int64(first.rounded(.up)), trail: trail)
      return try PushRecord.get(database, id: id)
    }
  }

  func findRoute() async throws -> any Route {
    if isDryRun { return DryRoute(report: tools.report) }
    let (tools, push) = (tools, push)
    return try await tools.store.insist {
      try await tools.routes.route(app: push.appID, environment: push.environment, report: tools.report)
    }
  }

  /// When nothing is to be sent any more; nil: never, or it is tried once whatever the time.
  var deadline: Date? { expiration.flatMap { $0.timeIntervalSince1970 == 0 ? nil : $0 } }

  func publish() {
    var progress = PushProgress(push, nextDue: push.waiting > 0 ? nextDue : nil)
    if case .failing(let failure) = route?.state, troubleSince != nil { progress.trouble = failure.reason }
    progress.health = route?.health(at: tools.clock()) ?? ProviderHealth()
    progress.rate = meter.rate
    // Results are still coming, or are still written down: the last word is not said yet.
    if progress.state.isOver { progress.isSettling = true }
    tools.publish(progress)
  }

  func end(_ state: PushState, error: String?) async throws {
    let (id, now) = (id, tools.clock())
    push = try await tools.store.write { database in
      _ = try PushRecord.move(database, id: id, from: [.sending, .paused], to: state, error: error, now: now)
      try PushRecord.settle(database, id: id)
      return try PushRecord.get(database, id: id)
    }
    tools.publish(PushProgress(push))
  }

  /// Of a push that was over before: everybody has an outcome now.
  private func settled() async throws {
    let id = id
    push = try await tools.store.write { database in
      try PushRecord.settle(database, id: id)
      return try PushRecord.get(database, id: id)
    }
    tools.publish(PushProgress(push))
  }
}
