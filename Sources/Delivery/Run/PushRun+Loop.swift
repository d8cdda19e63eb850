import Foundation
import Logging
import Providers
import Push
import SQLite
import Store

extension PushRun {
  /// Hands out and takes in, until nothing is left, or nothing may be done.
  func loop() async throws {
    while true {
      let now = tools.clock()
      look(now)
      if route == nil, ending == nil, order == .go { try await findRouteAgain() }
      if ending == nil, order == .pause {
        giveUpQueued()
        if flights.isEmpty { return try await endPaused() }
      } else if ending != nil {
        giveUpQueued()
        if try await settleRest() { continue }
        if flights.isEmpty { return try await endClosed() }
      } else {
        hasGivenUp = false
        if try await handOutWaiting(now) { continue }
        if try await handOutPage(now) { continue }
        if flights.isEmpty, isAtEnd {
          if push.waiting == 0 { return try await end(.finished, error: nil) }
          // The next start goes on when their time has come.
          if control.isStopping { return }
        }
      }
      arm(now)
      let items = await control.inbox.take()
      if items.isEmpty { try await lookAgain() } else { try await settle(items) }
    }
  }

  /// The order of this process, or of another that left it in the store.
  private var order: RunControl.Order {
    switch (control.order, push.state) {
    case (.cancel, _), (_, .cancelled): .cancel
    case (.pause, _), (_, .paused): .pause
    // It goes on at the next start; its state is not changed.
    case _ where control.isInterrupted: .pause
    default: .go
    }
  }

  /// Whether it is over before its end.
  private func look(_ now: Date) {
    guard ending == nil else { return }
    if order == .cancel {
      ending = .cancelled
    } else if let deadline, deadline <= now {
      ending = .expired
    } else if case .failing(let failure) = route?.state, !flights.isEmpty {
      // Nothing has come since. What was refused before this push may heal with its first request.
      let since = troubleSince ?? now
      troubleSince = since
      if failure.kind == .credential, now.timeIntervalSince(since) >= Self.credentialPatience {
        refuse(failure.reason, at: now)
      }
    } else {
      troubleSince = nil
    }
  }

  /// Longer than the longest wait between two tries to connect (``ClientGroupConfiguration``).
  private static let credentialPatience: TimeInterval = 40

  /// Stops for want of a credential that is taken, and raises the alarm.
  func refuse(_ reason: String, at now: Date) {
    guard ending == nil else { return }
    ending = .refused
    error = "The provider refused the credential: \(reason). \(Reason.of(reason).remedy)"
    tools.log.error(
      "credential refused; what needs it is not sent",
      ["push": push.uid, "credential": route?.credentialID ?? 0, "reason": reason])
  }

  private func giveUpQueued() {
    guard !hasGivenUp, !flights.isEmpty else { return }
    hasGivenUp = true
    route?.cancel(push: id)
  }

  /// Sends to devices whose time has come.
  ///
  /// - Returns: whether there were any.
  private func handOutWaiting(_ now: Date) async throws -> Bool {
    guard push.waiting > 0, let nextDue, nextDue <= now else { return false }
    let room = allowance(now)
    guard room > 0 else { return false }
    let (id, underWay) = (id, flights.values.count(where: { $0.hasWaited }))
    let due = try await tools.store.read {
      try WaitingDelivery.due($0, push: id, now: now, limit: room + underWay)
    }.filter { flights[$0.waiting.deviceID] == nil }.prefix(room)
    let gone = due.filter { $0.member == nil }.map(\.waiting)
    if !gone.isEmpty { try await record(gone.map { outcome($0, $0.last, now) }) }
    let members = due.compactMap(\.member)
    giveBack(room - members.count)
    if members.isEmpty, gone.isEmpty {
      self.nextDue = try await tools.store.read { try WaitingDelivery.nextDue($0, push: id, after: now) }
      return false
    }
    if !policy.repeatsUnanswered, !members.isEmpty {
      try await tools.store.write { try WaitingDelivery.take($0, push: id, devices: members.map(\.id)) }
    }
    for item in due where item.member != nil {
      let waiting = item.waiting
      flights[waiting.deviceID] = Flight(
        askedAt: now, attempts: waiting.attempts, firstAt: waiting.firstAt, hasWaited: true, last: waiting.last)
    }
    send(members)
    return true
  }

  /// Sends to the next page of the audience.
  private func handOutPage(_ now: Date) async throws -> Bool {
    guard !isAtEnd else { return false }
    let room = allowance(now)
    guard room > 0 else { return false }
    let members = try await nextPage(limit: room)
    giveBack(room - members.count)
    guard !members.isEmpty else { return true }
    if !policy.repeatsUnanswered, let last = members.last?.id {
      let id = id
      try await tools.store.write { try PushRecord.setHandedOut($0, id: id, upTo: last) }
    }
    for member in members { flights[member.id] = Flight(askedAt: now, firstAt: now) }
    send(members)
    return true
  }

  func nextPage(limit: Int) async throws -> [AudienceMember] {
    guard let query else { return [] }
    let (after, last, without) = (walk.handedOut, push.lastDeviceID ?? .max, isResumed ? id : nil)
    let members = try await tools.store.read { database in
      try query.page(database, after: after, upTo: last, limit: limit, withoutDeliveriesOf: without)
    }
    if members.count < limit { isAtEnd = true }
    walk.handOut(members)
    return members
  }

  /// How many devices may be handed out now: the share of the window, and the fixed speed.
  private func allowance(_ now: Date) -> Int {
    let room = min(Self.pageSize, share - flights.count)
    // Whole pages while it goes fast: a page costs a query.
    guard pace != nil else { return room < Self.pageSize && !flights.isEmpty ? 0 : room }
    return room > 0 ? pace?.take(atMost: room, now: now) ?? 0 : 0
  }

  private var share: Int { tools.shares.share(credential: route?.credentialID ?? 0, least: Self.pageSize) }
  private var hasRoom: Bool { flights.count < share }

  private func giveBack(_ count: Int) { if count > 0 { pace?.giveBack(count) } }

  private func send(_ members: [AudienceMember]) {
    guard let routed, let route else { return }
    let reached = members.filter { $0.platform == .ios }
    if !reached.isEmpty { route.send(routed, to: reached) }
    // Android has no provider yet: said for each device, not passed over.
    control.inbox.add(
      members.filter { $0.platform != .ios }.map {
        Inbox.Item(device: $0.id, result: .notSent(reason: OwnReason.noProvider.rawValue))
      })
  }

  /// Wakes up when there is something to do, and once a second to look whether anybody wants something else.
  private func arm(_ now: Date) {
    var next = now.addingTimeInterval(1)
    if ending == nil {
      if let deadline { next = min(next, deadline) }
      if let nextDue, push.waiting > 0, nextDue > now { next = min(next, nextDue) }
      let wants = !isAtEnd || (push.waiting > 0 && (nextDue ?? .distantFuture) <= now)
      if wants, hasRoom, let pace { next = min(next, max(pace.next, now)) }
    }
    waker.arm(next)
  }

  private func lookAgain() async throws {
    let id = id
    let before = push
    push = try await tools.store.read { try PushRecord.get($0, id: id) }
    if push != before || troubleSince != nil { publish() }
  }

  /// Paused: what came back unsent waits, and the rest stands behind the cursor.
  private func endPaused() async throws {
    let id = id
    push = try await tools.store.read { try PushRecord.get($0, id: id) }
    tools.publish(PushProgress(push, nextDue: nextDue))
  }

  /// The credential was changed, and its former connections are closed.
  private func findRouteAgain() async throws {
    do {
      route = try await findRoute()
    } catch let problem where !(problem is SQLiteError) {
      ending = .refused
      error = "\(problem)"
    }
  }

  private func endClosed() async throws {
    try await end(ending == .cancelled ? .cancelled : .finished, error: error)
  }
}
