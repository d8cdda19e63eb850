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
    let log: Logger
    let report: @Sendable (SendReport) -> Void
    let publish: @Sendable (PushProgress) -> Void
  }

  /// A device under way.
  struct Flight {
    let askedAt: Date
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
  var meter: RateMeter
  var done = 0

  init(_ push: PushRecord, tools: Tools, control: RunControl) {
    self.push = push
    id = push.id
    self.tools = tools
    self.control = control
    policy = tools.policy
    meter = RateMeter(now: tools.clock())
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
    guard found.started else {
      // A push that ended in the midst of it: what waited has its outcome now.
      if push.state.isOver, push.waiting > 0 {
        ending = .cancelled
        while try await settleWaiting() {}
      }
      return
    }
    guard try await prepare() else { return }
    try await settleInterrupted()
    if let route { tools.shares.join(credential: route.credentialID, push: id) }
    defer { if let route { tools.shares.leave(credential: route.credentialID, push: id) } }
    try await loop()
  }

  /// Reads the draft, counts the audience, finds the way.
  ///
  /// - Returns: false if the push has ended.
  private func prepare() async throws -> Bool {
    let draft: PushDraft
    do {
      draft = try PushDraft(json: try JSONValue(parsing: Data(push.draftJSON.utf8)))
    } catch {
      try await end(.failed, error: "The push cannot be read any more: \(error)")
      return false
    }
    let sentAt = push.sendAt ?? push.createdAt
    let payload = APNsPayload(draft, uid: push.uid)
    routed = RoutedPush(id: id, seed: push.seed, request: APNsRequest(payload, sentAt: sentAt))
    isDryRun = draft.options.dryRun
    if let text = payload.expiration(sentAt: sentAt), let seconds = Double(text) {
      expiration = Date(timeIntervalSince1970: seconds)
    }
    policy.repeatsUnanswered = !draft.options.atMostOnce
    try await count(
      AudienceQuery(
        app: push.appID, environment: push.environment, platforms: draft.platforms, audience: draft.audience))
    walk = Walk(cursor: push.cursor)
    pace = draft.rate(target: push.target ?? 0).map { Pace(rate: $0, now: tools.clock()) }
    publish()
    expireIfLate(draft)
    if ending == .expired { return true }
    do {
      route = try await findRoute()
    } catch let error where !(error is SQLiteError) {
      // No credential, or one that cannot be opened or used: the next start would find it the same.
      ending = .refused
      while try await settleWaiting() {}
      try await end(.failed, error: "\(error)")
      return false
    }
    return true
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
    let (id, parent, isNew) = (id, push.parentID, !isResumed)
    (self.query, push, nextDue) = try await tools.store.write { database in
      var query = query
      if let parent { query.retry = try PushRepeat.choice(database, push: parent) }
      if isNew {
        let count = try query.count(database)
        let targets = Dictionary(uniqueKeysWithValues: Platform.allCases.map { ($0, count.reachable($0)) })
        try PushRecord.setTarget(database, id: id, targets, lastDeviceID: try Device.lastID(database))
      }
      return (query, try PushRecord.get(database, id: id), try WaitingDelivery.nextDue(database, push: id))
    }
  }

  func findRoute() async throws -> any Route {
    if isDryRun { return DryRoute(report: tools.report) }
    return try await tools.routes.route(app: push.appID, environment: push.environment, report: tools.report)
  }

  /// When nothing is to be sent any more; nil: never, or it is tried once whatever the time.
  var deadline: Date? { expiration.flatMap { $0.timeIntervalSince1970 == 0 ? nil : $0 } }

  func publish() {
    var progress = PushProgress(push, nextDue: push.waiting > 0 ? nextDue : nil)
    if case .failing(let failure) = route?.state, troubleSince != nil { progress.trouble = failure.reason }
    progress.rate = meter.rate
    // Stopped for everybody else, but results are still coming: the last word is not said yet.
    if progress.state.isOver { progress.state = .sending }
    tools.publish(progress)
  }

  func end(_ state: PushState, error: String?) async throws {
    let (id, now) = (id, tools.clock())
    push = try await tools.store.write { database in
      _ = try PushRecord.move(database, id: id, from: [.sending, .paused], to: state, error: error, now: now)
      return try PushRecord.get(database, id: id)
    }
    tools.publish(PushProgress(push))
  }
}
