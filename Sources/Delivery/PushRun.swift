import Foundation
import Providers
import Push
import SQLite
import Store

/// One push under way: its audience in pages, results in batches.
struct PushRun {
  let store: PatientStore
  let routes: any RouteFinder
  let clock: @Sendable () -> Date
  let publish: @Sendable (PushProgress) -> Void
  let isCancelled: @Sendable () -> Bool
  /// The process ends: what has not left stays without an outcome, for the next start.
  let isInterrupted: @Sendable () -> Bool
  let inbox: Inbox
  let report: @Sendable (SendReport) -> Void
  let setRoute: @Sendable (any Route) -> Void

  /// Devices of a page, and at most so many under way at once: bounded memory whatever the audience.
  private static let pageSize = 1000
  private static let window = 8000

  /// Sends what has no outcome yet, and brings the push to its end.
  ///
  /// - Throws: what the store throws; the push then stays where it is, and is taken up at the next start.
  func carryOut(_ id: Int64) async throws {
    let now = clock()
    let started = try await store.write { database in
      // One for later stays where it is; it is found when its time has come.
      if let sendAt = try PushRecord.get(database, id: id).sendAt, sendAt > now { return false }
      return try PushRecord.move(database, id: id, from: [.queued, .sending], to: .sending, now: now)
    }
    guard started else { return }
    var push = try await store.read { try PushRecord.get($0, id: id) }
    let draft: PushDraft
    do {
      draft = try PushDraft(json: try JSONValue(parsing: Data(push.draftJSON.utf8)))
    } catch {
      return try await end(push, .failed, error: "The push cannot be read any more: \(error)")
    }
    let query = AudienceQuery(
      app: push.appID, environment: push.environment, platforms: draft.platforms, audience: draft.audience)
    let isResumed = push.lastDeviceID != nil
    if !isResumed {
      try await store.write { database in
        let count = try query.count(database)
        let targets = Dictionary(uniqueKeysWithValues: Platform.allCases.map { ($0, count.reachable($0)) })
        try PushRecord.setTarget(database, id: id, targets, lastDeviceID: try Device.lastID(database))
      }
      push = try await store.read { try PushRecord.get($0, id: id) }
    }
    publish(PushProgress(push))

    let route: any Route
    do {
      route =
        draft.options.dryRun
        ? DryRoute(report: report)
        : try await routes.route(app: push.appID, environment: push.environment, report: report)
    } catch let error where !(error is SQLiteError) {
      // No credential, or one that cannot be opened or used: the next start would find it the same.
      return try await end(push, .failed, error: "\(error)")
    }
    setRoute(route)
    let routed = RoutedPush(
      id: id, seed: push.seed,
      request: APNsRequest(APNsPayload(draft, uid: push.uid), sentAt: push.createdAt))
    guard try await send(push, query, routed, route, isResumed: isResumed) else { return }
    try await end(push, isCancelled() ? .cancelled : .finished, error: nil)
  }

  /// - Returns: whether every device that was to be reached has its outcome; false: it was interrupted.
  private func send(
    _ push: PushRecord, _ query: AudienceQuery, _ routed: RoutedPush, _ route: any Route, isResumed: Bool
  ) async throws -> Bool {
    var walk = Walk(cursor: push.cursor)
    var sentAt: [Int64: Date] = [:]
    let last = push.lastDeviceID ?? .max
    var isAtEnd = false
    // Whether a device was left for the next start.
    var isLeft = false
    var isOrdered = false
    let began = clock()
    var done = 0
    while !isAtEnd || walk.underWay > 0 {
      if !isAtEnd, isCancelled() { isAtEnd = true }
      if !isOrdered, isInterrupted() {
        isOrdered = true
        if !isAtEnd { isLeft = true }
        isAtEnd = true
        // Once more: what was being handed over was in no queue yet when the engine asked.
        route.cancel(push: push.id)
      }
      if !isAtEnd, walk.underWay <= Self.window - Self.pageSize {
        let after = walk.handedOut
        let members = try await store.read { database in
          try query.page(
            database, after: after, upTo: last, limit: Self.pageSize, withoutDeliveriesOf: isResumed ? push.id : nil)
        }
        if members.count < Self.pageSize { isAtEnd = true }
        walk.handOut(members)
        let now = clock()
        for member in members { sentAt[member.id] = now }
        let reached = members.filter { $0.platform == .ios }
        if !reached.isEmpty { route.send(routed, to: reached) }
        // Android has no provider yet: said for each device, not passed over.
        inbox.add(
          members.filter { $0.platform != .ios }.map {
            Inbox.Item(device: $0.id, result: .notSent(reason: OwnReason.noProvider.rawValue))
          })
        continue
      }
      guard walk.underWay > 0 else { continue }
      var items = await inbox.take()
      if isInterrupted(), !isCancelled() {
        for item in items where item.wasGivenUp {
          walk.leave(item.device)
          isLeft = true
        }
        items.removeAll(where: \.wasGivenUp)
      }
      let now = clock()
      var verdicts: [Credential.Verdict] = []
      let results = items.map { item in
        walk.finish(item.device)
        let asked = sentAt.removeValue(forKey: item.device) ?? now
        return result(item, asked: asked, now: now, &verdicts)
      }
      done += results.count
      let cursor = walk.cursor
      let noted = (id: route.credentialID, verdicts: verdicts)
      try await store.write { database in
        _ = try Delivery.record(database, push: push.id, results, cursor: cursor, credential: noted, now: now)
      }
      var progress = PushProgress(try await store.read { try PushRecord.get($0, id: push.id) })
      let seconds = now.timeIntervalSince(began)
      progress.rate = seconds > 0 ? Double(done) / seconds : 0
      publish(progress)
    }
    return !isLeft || isCancelled()
  }

  private func result(
    _ item: Inbox.Item, asked: Date, now: Date, _ verdicts: inout [Credential.Verdict]
  ) -> DeliveryResult {
    var duration = Int((now.timeIntervalSince(asked) * 1000).rounded())
    var platform = Platform.ios
    var attempts = 1
    let outcome: Outcome
    switch item.result {
    case .outcome(let final):
      outcome = final
      if case .accepted = final, verdicts.isEmpty { verdicts.append(.accepted(at: now)) }
      if case .rejected(_, let reason, _) = final, Reason.of(reason).retry == .afterCredential {
        verdicts.append(.refused(at: now, reason: reason))
      }
    case .retry(let cause) where cause.status != 0:
      outcome = .rejected(status: cause.status, reason: cause.reason, tokenInvalidSince: nil)
    case .retry(let cause):
      outcome = .skipped(reason: cause.reason)
      duration = 0
      attempts = 0
    case .notSent(let reason):
      outcome = .skipped(reason: reason)
      if reason == OwnReason.noProvider.rawValue { platform = .android }
      duration = 0
      attempts = 0
    }
    return DeliveryResult(
      deviceID: item.device, platform: platform, outcome: outcome, at: now,
      durationMilliseconds: max(0, duration), attempts: attempts)
  }

  private func end(_ push: PushRecord, _ state: PushState, error: String?) async throws {
    let now = clock()
    let ended = try await store.write { database in
      _ = try PushRecord.move(database, id: push.id, from: [.sending], to: state, error: error, now: now)
      return try PushRecord.get(database, id: push.id)
    }
    publish(PushProgress(ended))
  }
}
