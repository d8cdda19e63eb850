import Calendar
import JSON
import Foundation
import Providers
import Model
import SQLite
import Store

extension PushRunner {
  /// A started or resumed push.
  struct Opened: Sendable {
    let plan: RunPlan
    let row: RunRow
    let nextDue: Date?
    let uid: String
    let app: Int64
    let environment: Environment
    /// Nil: the push cannot be read.
    var push: ProviderPush?
    var query: AudienceQuery?
    /// What it does to the numbers on the devices' icons, where they are kept.
    var badges: [Platform: Badge] = [:]
    /// Chooses among the texts; nil: there is one only.
    var languages: LanguageMatcher?
    var isDryRun = false
  }

  /// Moves the push to *sending*, reads its draft, and counts the audience.
  ///
  /// - Returns: nil if there is nothing to do.
  func open() async throws -> Opened? {
    let (id, now) = (id, tools.clock())
    let (push, isStarted) = try await tools.store.write { database -> (Push, Bool) in
      // A push that is scheduled for later is found when it is due.
      let push = try Push.get(database, id: id)
      if push.waits(now: now) != nil { return (push, false) }
      let isStarted = try Push.move(database, id: id, from: [.queued, .sending], to: .sending, now: now)
      if isStarted, push.startedAt == nil { try UsedSegment.begin(database, push, now: now) }
      return (try Push.get(database, id: id), isStarted)
    }
    guard isStarted || (push.state.isOver && !PushProgress(push).isFinal) else { return nil }
    let draft: PushDraft
    do {
      draft = try PushDraft(json: try JSONValue(parsing: Data(push.draftJSON.utf8)))
    } catch {
      let ending = RunEnding(reason: .cancelled, state: .failed, error: "The push can no longer be read: \(error)")
      let plan = plan(push, isStarted ? .closing(ending) : .finishing(ending))
      return Opened(
        plan: plan, row: RunRow(push), nextDue: nil, uid: push.uid, app: push.appID,
        environment: push.environment)
    }
    return try await open(push, draft, isStarted: isStarted)
  }

  private func open(_ push: Push, _ draft: PushDraft, isStarted: Bool) async throws -> Opened {
    let sentAt = push.sentAt
    var start = RunPlan.Start.sending
    if !isStarted {
      // It ended before every device had an outcome: those that waited, and those after the cursor, get one now.
      start = .finishing(
        push.state == .cancelled ? .cancelled : RunEnding(reason: .credentialRefused, state: push.state))
    } else if let error = Self.lateness(push, draft) {
      start = .closing(RunEnding(reason: .expired, state: .finished, error: error))
    }
    var plan = plan(push, start, repeatsUnanswered: !draft.options.atMostOnce)
    if let seconds = draft.secondsToLive {
      plan.timeToLive = TimeInterval(seconds)
    } else {
      plan.expiration = draft.expiration(sentAt: sentAt)
    }
    // A dry run sends nothing and needs no speed limit.
    if !draft.options.dryRun { plan.rate = draft.options.rate.map(Double.init) }
    let counted = try await count(
      push,
      AudienceQuery(app: push.appID, draft, now: tools.clock()), plan, isDryRun: draft.options.dryRun)
    if plan.start == .sending, let missing = counted.query.segments?.first(where: { $0.rule == nil }) {
      // Deleted since the push was stored.
      let problem = Problem("", SegmentMessage.missing, ["segment": missing.name])
      plan.start = .closing(RunEnding(reason: .cancelled, state: .failed, error: problem.text))
    } else if plan.start == .sending, counted.push.target == 0 {
      plan.start = .closing(.nobody)
    }
    // The speed of a push that is spread over time depends on the number of devices, which is known only now.
    if plan.rate == nil, !draft.options.dryRun { plan.rate = draft.rate(target: counted.push.target ?? 0) }
    plan.lastDeviceID = counted.push.lastDeviceID ?? .max
    plan.providers = counted.providers
    plan.cut = Self.cut(draft)
    if plan.isResumed, !plan.cut.isEmpty {
      plan.cursors = try await tools.store.read { try Push.cursors($0, id: push.id) }
    }
    if plan.timeToLive != nil {
      let last = plan.isResumed ? try await tools.store.read { try Delivery.lastAt($0, push: push.id) } : nil
      plan.stoodStill = max(0, tools.clock().timeIntervalSince(last ?? sentAt))
    }
    if plan.isResumed, draft.options.atMostOnce {
      plan.announced = try await tools.store.read { try Push.handedOut($0, id: push.id) }
    }
    var sent = ProviderPush(id: id, uid: push.uid, seed: push.seed, draft: draft, sentAt: sentAt)
    sent.signature = push.signature
    let kept = try await badges(draft, app: push.appID)
    return Opened(
      plan: plan, row: RunRow(counted.push), nextDue: counted.nextDue, uid: push.uid, app: push.appID,
      environment: push.environment, push: sent, query: counted.query, badges: kept,
      languages: draft.languages, isDryRun: draft.options.dryRun)
  }

  private static func cut(_ draft: PushDraft) -> PageCut {
    var cut: PageCut = []
    if draft.languages != nil { cut.insert(.byLanguage) }
    if draft.platforms.count > 1, !JPushMessage(draft, uid: nil).fitsBothPlatforms { cut.insert(.byPlatform) }
    return cut
  }

  /// The badges of a draft by platform; none if nothing counts on them.
  private func badges(_ draft: PushDraft, app: Int64) async throws -> [Platform: Badge] {
    guard !draft.options.dryRun, draft.notification.badge != nil || draft.apns.payload != nil else { return [:] }
    var badges: [Platform: Badge] = [:]
    badges[.ios] = APNsPayload(draft).badge
    // Android shows no number without a notification.
    badges[.android] = FCMMessage(draft).json["notification"] == nil ? nil : draft.notification.badge
    badges = badges.filter { draft.platforms.contains($0.key) }
    if badges.values.contains(where: \.isRelative) {
      try await tools.store.write { try DeviceBadge.begin($0, app: app) }
      return badges
    }
    guard !badges.isEmpty else { return [:] }
    let isKept = try await tools.store.read { try DeviceBadge.isKept($0, app: app) }
    return isKept ? badges : [:]
  }

  private func plan(_ push: Push, _ start: RunPlan.Start, repeatsUnanswered: Bool = true) -> RunPlan {
    var policy = tools.policy
    policy.repeatsUnanswered = repeatsUnanswered
    return RunPlan(
      push: id, seed: push.seed, start: start, lastDeviceID: push.lastDeviceID ?? .max,
      isResumed: push.lastDeviceID != nil, policy: policy, trail: tools.trail?.number ?? 0,
      window: tools.shares.window)
  }

  /// The error of a push that was started too late, e.g. after days without a server. The first start is in its row, so
  /// the answer is the same after a crash.
  ///
  /// - Returns: nil if the push is on time.
  private static func lateness(_ push: Push, _ draft: PushDraft) -> String? {
    guard let planned = push.plannedAt, let started = push.startedAt else { return nil }
    let latest = draft.latestStart(due: planned)
    guard started >= latest else { return nil }
    return """
      It was due at \(Timestamp.text(planned)) and had to start by \(Timestamp.text(latest)). The server started it at \
      \(Timestamp.text(started)), which was too late, so nothing was sent.
      """
  }

  private func count(
    _ push: Push, _ query: AudienceQuery, _ plan: RunPlan, isDryRun: Bool
  ) async throws -> (push: Push, query: AudienceQuery, nextDue: Date?, providers: [ProviderKind]) {
    let (id, parent) = (id, push.parentID)
    // On a reader: counting a large audience takes seconds, which would block all writers.
    let (full, count, last, due, providers) = try await tools.store.read { database in
      var query = query
      if let parent { query.retry = try PushRepeat.choice(database, push: parent) }
      query.segments =
        try UsedSegment.kept(database, push: id, parent: parent)
        ?? UsedSegment.current(database, query.audience, app: query.app, now: query.now)
      try query.prepare(database)
      return (
        query, plan.isResumed ? nil : try query.count(database), try query.lastID(database),
        try WaitingDelivery.nextDue(database, push: id), try Push.providers(database, id: id)
      )
    }
    guard let count else { return (push, full, due, providers) }
    let targets = Dictionary(uniqueKeysWithValues: Reach.all.map { ($0, count.reachable($0)) })
    // Reads the first waiting devices in the same transaction: a push to few devices needs no other query.
    let room = tools.shares.share(credential: 0, least: PushRun.pageSize)
    let reach = plan.policy.repeatsUnanswered ? PushRun.foresight(room: room, rate: plan.rate) : 0
    let first = reach == 0 ? 0 : Double(last) * min(1, Double(reach) / Double(max(1, count.reachable)))
    let counted = try await tools.store.write { database in
      try UsedSegment.keep(database, full.segments ?? [], push: id)
      if !isDryRun, plan.start == .sending, targets.values.contains(where: { $0 > 0 }) {
        try AudienceUse.note(database, app: full.app, full.audience, now: full.now)
      }
      try Push.setTarget(
        database, id: id, targets, lastDeviceID: last, handedOut: Int64(first.rounded(.up)), trail: plan.trail)
      return try Push.get(database, id: id)
    }
    return (counted, full, due, ProviderKind.allCases.filter { count.reachable($0) > 0 })
  }
}
