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
      try await followClock()
      let now = tools.clock()
      look(now)
      if route == nil, ending == nil, order == .go { try await findRouteAgain() }
      if ending == nil, order == .pause {
        giveUpQueued()
        if flights.isEmpty { return try await endPaused() }
      } else if ending != nil {
        giveUpQueued()
        // No more time: the next start goes on with the rest.
        if !control.isInterrupted, try await settleRest() {
          // What comes back meanwhile is kept between two pages, not after millions of them.
          control.inbox.nudge()
        } else if flights.isEmpty {
          return control.isInterrupted ? () : try await endClosed()
        }
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

  /// What waits, waits for so much time, whatever the clock was set to meanwhile.
  func followClock() async throws {
    let total = tools.leaps.total()
    let leap = total - leapt
    guard leap != 0 else { return }
    leapt = total
    for device in flights.keys {
      flights[device]?.askedAt += leap
      flights[device]?.firstAt += leap
    }
    troubleSince = troubleSince.map { $0 + leap }
    let id = id
    nextDue = try await tools.store.write { database in
      try WaitingDelivery.shift(database, push: id, by: leap)
      return try WaitingDelivery.nextDue(database, push: id)
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
    error = "The provider refused the credential: \(reason.withoutFullStop). \(Reason.of(reason).remedy)"
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
    guard let (room, places) = try await allowance(now) else { return false }
    let id = id
    let due = try await tools.store.read { try WaitingDelivery.due($0, push: id, now: now, limit: room) }
    let gone = due.filter { $0.member == nil }.map(\.waiting)
    if !gone.isEmpty { try await record(gone.map { outcome($0, $0.last, now) }) }
    let members = due.compactMap(\.member)
    giveBack(room - members.count, places)
    if members.isEmpty, gone.isEmpty {
      self.nextDue = try await tools.store.read { try WaitingDelivery.nextDue($0, push: id, after: now) }
      return false
    }
    if !members.isEmpty {
      try await tools.store.write { try WaitingDelivery.take($0, push: id, devices: members.map(\.id)) }
    }
    for (index, item) in due.filter({ $0.member != nil }).enumerated() {
      let waiting = item.waiting
      flights[waiting.deviceID] = Flight(
        askedAt: now, place: places?[index], attempts: waiting.attempts, firstAt: waiting.firstAt, hasWaited: true,
        last: waiting.last)
    }
    send(members, places)
    return true
  }

  /// Sends to the next page of the audience.
  private func handOutPage(_ now: Date) async throws -> Bool {
    guard !isAtEnd else { return false }
    guard let (room, places) = try await allowance(now) else { return false }
    let members = try await nextPage(limit: room)
    giveBack(room - members.count, places)
    guard !members.isEmpty else { return true }
    if let last = members.last?.id, last > push.handedOut {
      let (id, upTo) = (id, max(last, foreseen ?? 0))
      push = try await tools.store.write { database in
        try PushRecord.setHandedOut(database, id: id, upTo: upTo)
        return try PushRecord.get(database, id: id)
      }
    }
    for (index, member) in members.enumerated() {
      flights[member.id] = Flight(askedAt: now, place: places?[index], firstAt: now)
    }
    send(members, places)
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

  /// How many devices may be handed out now, with their places in the trail (nil: there is none); nil: none.
  private func allowance(_ now: Date) async throws -> (room: Int, places: [Int32]?)? {
    let room = room(now)
    guard room > 0 else { return nil }
    guard let places = try await places(room) else { return (room, nil) }
    pace?.giveBack(room - places.count)
    return places.isEmpty ? nil : (places.count, places)
  }

  /// The share of the window, and the fixed speed.
  private func room(_ now: Date) -> Int {
    let health = route?.health(at: now) ?? ProviderHealth()
    switch health.circuit {
    case .open: return 0
    // One is tried, alone.
    case .halfOpen: return flights.isEmpty ? 1 : 0
    case .closed: break
    }
    let room = min(Self.pageSize, share(health) - flights.count)
    // Whole pages while it goes fast: a page costs a query.
    guard pace != nil else { return room < Self.pageSize && !flights.isEmpty ? 0 : room }
    return room > 0 ? pace?.take(atMost: room, now: now) ?? 0 : 0
  }

  /// How many devices may be handed out before the next results are kept; 0 of a push that is sent at most once: that
  /// says so page by page, because what it foresaw and did not send would have to stay unknown.
  var foresight: Int {
    guard policy.repeatsUnanswered else { return 0 }
    return max(0, min(share - flights.count, max(Self.pageSize / 10, pace.map { Int($0.rate.rounded(.up)) } ?? .max)))
  }

  /// Up to where that is: said along with results, because a commit of its own for each page would cost more than the
  /// page.
  var foreseen: Int64? {
    guard policy.repeatsUnanswered, ending == nil, !isAtEnd, order == .go else { return nil }
    return min(push.lastDeviceID ?? .max, walk.reach(foresight))
  }

  private var share: Int { share(route?.health(at: tools.clock()) ?? ProviderHealth()) }
  private var hasRoom: Bool { flights.count < share }

  private func share(_ health: ProviderHealth) -> Int {
    tools.shares.share(credential: route?.credentialID ?? 0, least: Self.pageSize, limit: health.limit)
  }

  /// Gives back what was allowed for the last `count` and not used.
  private func giveBack(_ count: Int, _ places: [Int32]?) {
    guard count > 0 else { return }
    pace?.giveBack(count)
    if let places { trail?.giveBack(places.suffix(count)) }
  }

  private func send(_ members: [AudienceMember], _ places: [Int32]?) {
    guard let routed, let route else { return }
    let reached = members.filter { $0.platform == .ios }
    if !reached.isEmpty {
      let notes = places.flatMap { places in
        trail?.notes(
          push: id,
          places: reached.count == members.count ? places : reached.compactMap { flights[$0.id]?.place })
      }
      route.send(routed, to: reached, noting: notes)
    }
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
      if case .open(_, _, let until) = route?.health(at: now).circuit { next = min(next, until) }
      let wants = !isAtEnd || (push.waiting > 0 && (nextDue ?? .distantFuture) <= now)
      if wants, hasRoom, let pace { next = min(next, max(pace.next, now)) }
    }
    waker.arm(next)
  }

  private func lookAgain() async throws {
    let id = id
    let before = push
    push = try await tools.store.read { try PushRecord.get($0, id: id) }
    let isWell = route?.health(at: tools.clock()).isWell ?? true
    if push != before || troubleSince != nil || !isWell || !wasWell { publish() }
    wasWell = isWell
  }

  /// Paused: what came back unsent waits, and the rest stands behind the cursor.
  private func endPaused() async throws {
    let (id, last) = (id, walk.handedOut)
    push = try await tools.store.write { database in
      try PushRecord.setAllReturned(database, id: id, upTo: last)
      return try PushRecord.get(database, id: id)
    }
    tools.publish(PushProgress(push, nextDue: nextDue))
  }

  /// The credential was changed, and its former connections are closed.
  private func findRouteAgain() async throws {
    do {
      route = try await findRoute()
    } catch let problem where !(problem is SQLiteError) {
      endWithoutRoute(problem)
    }
  }

  private func endClosed() async throws {
    try await end(ending == .cancelled ? .cancelled : hasNoRoute ? .failed : .finished, error: error)
  }
}
