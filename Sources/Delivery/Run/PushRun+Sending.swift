import Foundation
import Providers
import Model
import Store

/// Sending: first the waiting devices that are due, then the next page of the audience.
extension PushRun {
  /// - Returns: whether something was asked.
  mutating func handOut(_ leg: Int) -> Bool {
    let isDue = row.waiting > 0 && (legs[leg].nextDue ?? .distantFuture) <= world.now.wall
    guard isDue || !legs[leg].walk.isAtEnd else { return false }
    let room = takeRoom(leg)
    guard room > 0 else { return false }
    let errand = isDue ? Errand.waiting : .page
    if trail == 0 {
      read(errand, leg, Allowance(room: room))
    } else {
      ask(.reserve(room), .reserving(errand, leg, room: room))
    }
    return true
  }

  // MARK: The allowance

  /// - Parameter places: nil: the trail is no longer used.
  mutating func useReserved(_ places: [Int32]?, _ errand: Errand, _ leg: Int, room: Int) {
    guard let places else { return read(errand, leg, Allowance(room: room)) }
    guard places.isEmpty else {
      pace?.giveBack(room - places.count)
      return read(errand, leg, Allowance(room: places.count, places: places))
    }
    guard flights.isEmpty else {
      pace?.giveBack(room)
      return rest()
    }
    // Other pushes use all places: continue without a trail rather than wait for them.
    trail = 0
    ask(.store(.setTrail(0)), .leavingTrail(errand, leg, room: room))
  }

  /// Room within the leg's share of the window and the fixed speed.
  private mutating func takeRoom(_ leg: Int) -> Int {
    let (route, flying) = (route(leg), legs[leg].flying)
    switch route.health.circuit {
    case .open: return 0
    // One trial at a time.
    case .halfOpen where flying > 0: return 0
    case .halfOpen: return pace?.take(atMost: 1, now: world.now.steady) ?? 1
    case .closed: break
    }
    let room = min(plan.pageSize, route.share - flying)
    guard room > 0 else { return 0 }
    if pace != nil { return pace?.take(atMost: room, now: world.now.steady) ?? 0 }
    return room >= lot(leg) || takesSmallLots(leg) ? room : 0
  }

  /// Seconds after which a leg hands out whatever there is room for.
  static let lotPatience: TimeInterval = 0.1

  /// At full speed, the least number of devices that are handed out together, because each lot costs a query: a page,
  /// or a quarter of a narrow share, so that a missing answer costs its own place only.
  private func lot(_ leg: Int) -> Int {
    let share = route(leg).share
    // Each lot is one request, and the service limits their number.
    if legs[leg].provider.groupsDevices { return min(plan.pageSize, legs[leg].flying > 0 ? .max : share) }
    return min(plan.pageSize, max(1, share / 4))
  }

  /// Whether a leg has waited long enough for a whole lot: the answers that it waits for may never come.
  private func takesSmallLots(_ leg: Int) -> Bool {
    // Sums of floating-point seconds can end slightly below a whole number.
    !legs[leg].provider.groupsDevices && world.now.steady - legs[leg].leftAt >= Self.lotPatience - 0.001
  }

  /// Returns the unused allowance of the last `count` devices.
  ///
  /// - Returns: the places of the others.
  private mutating func giveBack(_ count: Int, _ places: [Int32]?) -> [Int32]? {
    guard count > 0 else { return places }
    pace?.giveBack(count)
    if let places { act(.returnPlaces(Array(places.suffix(count)))) }
    return places.map { Array($0.dropLast(count)) }
  }

  /// The last device that may be sent to before the next results are stored. It is stored with results, because a
  /// separate commit per page would cost more than the page. A push that is sent at most once announces page by page:
  /// devices announced but not sent to would have to end as unknown.
  var foreseen: Int64? {
    guard plan.policy.repeatsUnanswered, order == .go else { return nil }
    let reach = legs.indices.filter { ending(of: $0) == nil && !legs[$0].walk.isAtEnd }.map { leg in
      legs[leg].walk.reach(Self.foresight(room: route(leg).share - legs[leg].flying, rate: pace?.rate))
    }
    return reach.max().map { min(plan.lastDeviceID, $0) }
  }

  /// The number of devices to announce.
  static func foresight(room: Int, rate: Double?) -> Int {
    max(0, min(room, max(pageSize / 10, rate.map { Int($0.rounded(.up)) } ?? .max)))
  }

  // MARK: Choosing devices

  private mutating func read(_ errand: Errand, _ leg: Int, _ allowance: Allowance) {
    switch errand {
    case .waiting:
      let now = world.now.wall
      ask(.store(.due(at: now, limit: allowance.room, legs[leg].provider)), .readingDue(leg, allowance, at: now))
    case .page:
      // Of a service that groups devices, the page must be the same as before a restart, and so each part of it.
      let isMarked = plan.isResumed && !plan.cut.isEmpty && legs[leg].provider.groupsDevices
      let task: RunTask =
        isMarked
        ? .markedPage(
          after: legs[leg].walk.handedOut, upTo: plan.lastDeviceID, limit: allowance.room, legs[leg].provider)
        : page(leg, limit: allowance.room)
      ask(.store(task), .readingPage(leg, allowance))
    }
  }

  func page(_ leg: Int, limit: Int) -> RunTask {
    .page(
      after: legs[leg].walk.handedOut, upTo: plan.lastDeviceID, limit: limit, legs[leg].provider,
      withoutDeliveries: plan.isResumed)
  }

  /// - Parameter date: when they were due.
  mutating func handOut(_ found: [WaitingDelivery.Due], _ leg: Int, _ allowance: Allowance, at date: Date) {
    // The devices of one request failed together and are due together. They stay one request, so that the service
    // recognizes it.
    let isRequest = legs[leg].provider.groupsDevices
    let due = isRequest ? found.filter { $0.waiting.dueAt == found[0].waiting.dueAt } : found
    let reached = due.filter { $0.member != nil && !isLate($0.waiting) }
    let places = giveBack(allowance.room - reached.count, allowance.places)
    // The first due device may be in flight, gone, or of another service. The next is asked for from the same moment
    // on, not from now: a device that became due between the two questions would be found by neither, and wait for ever.
    if due.isEmpty {
      // Without other legs no service has to be asked for.
      let provider = legs.count > 1 ? legs[leg].provider : nil
      return ask(.store(.nextDue(after: date, provider)), .readingNextDue(leg))
    }
    let gone = due.filter { $0.member == nil || isLate($0.waiting) }
    if gone.isEmpty { return takeDue(reached, leg, places) }
    let provider = legs[leg].provider
    record(
      RunResults(
        results: gone.map { item in
          let reason: OwnReason = item.member == nil ? .deviceInactive : .expired
          return result(item, reason.outcome(after: item.waiting.last), provider)
        }), .recordingGone(leg, reached, places))
  }

  /// Whether a waiting device's time to live is over: the service could not be asked in time.
  private func isLate(_ waiting: WaitingDelivery) -> Bool {
    guard plan.timeToLive != nil, let deadline = deadline(since: waiting.firstAt) else { return false }
    return deadline <= world.now.wall
  }

  mutating func takeDue(_ due: [WaitingDelivery.Due], _ leg: Int, _ places: [Int32]?) {
    if due.isEmpty { look() } else { ask(.store(.take(due.map(\.waiting.deviceID))), .taking(leg, due, places)) }
  }

  mutating func handOut(_ page: [AudienceMember], _ leg: Int, _ allowance: Allowance) {
    legs[leg].walk.handOut(page, atMost: allowance.room)
    // From here on each device has its own time to live.
    if legs[leg].walk.isAtEnd { legs[leg].wentOnAt = world.now.steady }
    var members = page
    if !plan.cut.isEmpty {
      for member in page where member.isDone { legs[leg].walk.finish(member.id) }
      members.removeAll(where: \.isDone)
    }
    let places = giveBack(allowance.room - members.count, allowance.places)
    guard let last = members.last?.id else { return look() }
    if plan.policy.repeatsUnanswered {
      guard last > row.handedOut else { return send(members, leg, places) }
      return ask(.store(.setHandedOut(max(last, foreseen ?? 0), nil)), .settingHandedOut(leg, members, places))
    }
    guard last > legs[leg].announced else { return send(members, leg, places) }
    legs[leg].announced = last
    ask(.store(.setHandedOut(last, legs[leg].provider)), .settingHandedOut(leg, members, places))
  }

  // MARK: Handing over

  mutating func send(_ due: [WaitingDelivery.Due], _ leg: Int, _ places: [Int32]?) {
    let members = due.compactMap(\.member)
    for (index, (item, member)) in zip(due, members).enumerated() {
      let waiting = item.waiting
      flights[member.id] = Flight(
        reach: Reach(member.platform, member.provider), askedAt: world.now.steady, place: places?[index],
        attempts: waiting.attempts, firstAt: waiting.firstAt, last: waiting.last, variant: member.variant)
    }
    leave(members, leg, places)
  }

  mutating func send(_ members: [AudienceMember], _ leg: Int, _ places: [Int32]?) {
    var members = members
    for index in members.indices { members[index].firstAt = world.now.wall }
    for (index, member) in members.enumerated() {
      flights[member.id] = Flight(
        reach: Reach(member.platform, member.provider), askedAt: world.now.steady, place: places?[index],
        firstAt: world.now.wall, variant: member.variant)
    }
    leave(members, leg, places)
  }

  private mutating func leave(_ members: [AudienceMember], _ leg: Int, _ places: [Int32]?) {
    legs[leg].flying += members.count
    if !plan.cut.isEmpty, legs[leg].provider.groupsDevices { group(members) }
    // The next page is another leg's, so that a speed limit is shared.
    turn = (leg + 1) % legs.count
    if order == .go {
      legs[leg].leftAt = world.now.steady
      act(.send(members, legs[leg].provider, places: places))
      return look()
    }
    // The push was paused or canceled during the write: these devices return as not sent.
    giveUpQueued(leg)
    record(members.map { Inbox.Item(device: $0.id, result: .notSent(reason: OwnReason.cancelled.rawValue)) })
  }

  /// Notes which devices are in one request.
  private mutating func group(_ members: [AudienceMember]) {
    struct Part: Hashable {
      let variant: Int?
      let platform: Platform?
    }
    var first: [Part: Int64] = [:]
    for member in members {
      let part = Part(variant: member.variant, platform: plan.cut.contains(.byPlatform) ? member.platform : nil)
      let group = first[part] ?? member.id
      first[part] = group
      flights[member.id]?.group = group
    }
  }
}
