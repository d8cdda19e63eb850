import Foundation
import Providers
import Model
import Store

/// Sending: first the waiting devices that are due, then the next page of the audience.
extension PushRun {
  mutating func handOutWaiting() {
    guard row.waiting > 0, let nextDue, nextDue <= world.now.wall else { return handOutPage() }
    allow(.waiting)
  }

  mutating func handOutPage() {
    guard !walk.isAtEnd else { return rest() }
    allow(.page)
  }

  // MARK: The allowance

  private mutating func allow(_ errand: Errand) {
    let room = takeRoom()
    guard room > 0 else { return rest() }
    if trail == 0 { read(errand, Allowance(room: room)) } else { ask(.reserve(room), .reserving(errand, room: room)) }
  }

  /// - Parameter places: nil: the trail is no longer used.
  mutating func useReserved(_ places: [Int32]?, _ errand: Errand, room: Int) {
    guard let places else { return read(errand, Allowance(room: room)) }
    guard places.isEmpty else {
      pace?.giveBack(room - places.count)
      return read(errand, Allowance(room: places.count, places: places))
    }
    guard flights.isEmpty else {
      pace?.giveBack(room)
      return rest()
    }
    // Other pushes use all places: continue without a trail rather than wait for them.
    trail = 0
    ask(.store(.setTrail(0)), .leavingTrail(errand, room: room))
  }

  /// Room within the share of the window and the fixed speed.
  private mutating func takeRoom() -> Int {
    switch world.health.circuit {
    case .open: return 0
    // One trial at a time.
    case .halfOpen where !flights.isEmpty: return 0
    case .halfOpen: return pace?.take(atMost: 1, now: world.now.steady) ?? 1
    case .closed: break
    }
    let room = min(plan.pageSize, world.share - flights.count)
    // At full speed, take whole pages only: each page costs a query.
    guard pace != nil else { return room < plan.pageSize && !flights.isEmpty ? 0 : room }
    return room > 0 ? pace?.take(atMost: room, now: world.now.steady) ?? 0 : 0
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
    guard plan.policy.repeatsUnanswered, ending == nil, !walk.isAtEnd, order == .go else { return nil }
    return min(plan.lastDeviceID, walk.reach(Self.foresight(room: world.share - flights.count, rate: pace?.rate)))
  }

  /// The number of devices to announce.
  static func foresight(room: Int, rate: Double?) -> Int {
    max(0, min(room, max(pageSize / 10, rate.map { Int($0.rounded(.up)) } ?? .max)))
  }

  // MARK: Choosing devices

  private mutating func read(_ errand: Errand, _ allowance: Allowance) {
    switch errand {
    case .waiting:
      let now = world.now.wall
      ask(.store(.due(at: now, limit: allowance.room)), .readingDue(allowance, at: now))
    case .page: ask(.store(page(limit: allowance.room)), .readingPage(allowance))
    }
  }

  func page(limit: Int) -> RunTask {
    .page(after: walk.handedOut, upTo: plan.lastDeviceID, limit: limit, withoutDeliveries: plan.isResumed)
  }

  /// - Parameter date: when they were due.
  mutating func handOut(_ due: [WaitingDelivery.Due], _ allowance: Allowance, at date: Date) {
    let reached = due.filter { $0.member != nil }
    let places = giveBack(allowance.room - reached.count, allowance.places)
    // The first due device may be in flight or gone. The next is asked for from the same moment on, not from now: a
    // device that became due between the two questions would be found by neither, and wait for ever.
    if due.isEmpty { return ask(.store(.nextDue(after: date)), .readingNextDue) }
    let gone = due.filter { $0.member == nil }
    if gone.isEmpty { return takeDue(reached, places) }
    record(RunResults(results: gone.map { result($0, $0.waiting.last) }), .recordingGone(reached, places))
  }

  mutating func takeDue(_ due: [WaitingDelivery.Due], _ places: [Int32]?) {
    if due.isEmpty { look() } else { ask(.store(.take(due.map(\.waiting.deviceID))), .taking(due, places)) }
  }

  mutating func handOut(_ members: [AudienceMember], _ allowance: Allowance) {
    walk.handOut(members, atMost: allowance.room)
    let places = giveBack(allowance.room - members.count, allowance.places)
    guard let last = members.last?.id else { return look() }
    guard last > row.handedOut else { return send(members, places) }
    ask(.store(.setHandedOut(max(last, foreseen ?? 0))), .settingHandedOut(members, places))
  }

  // MARK: Handing over

  mutating func send(_ due: [WaitingDelivery.Due], _ places: [Int32]?) {
    let members = due.compactMap(\.member)
    for (index, (item, member)) in zip(due, members).enumerated() {
      let waiting = item.waiting
      flights[member.id] = Flight(
        platform: member.platform, askedAt: world.now.steady, place: places?[index], attempts: waiting.attempts,
        firstAt: waiting.firstAt, last: waiting.last)
    }
    leave(members, places)
  }

  mutating func send(_ members: [AudienceMember], _ places: [Int32]?) {
    for (index, member) in members.enumerated() {
      flights[member.id] = Flight(
        platform: member.platform, askedAt: world.now.steady, place: places?[index], firstAt: world.now.wall)
    }
    leave(members, places)
  }

  private mutating func leave(_ members: [AudienceMember], _ places: [Int32]?) {
    if order == .go {
      act(.send(members, places: places))
      return look()
    }
    // The push was paused or canceled during the write: these devices return as not sent.
    giveUpQueued()
    record(members.map { Inbox.Item(device: $0.id, result: .notSent(reason: OwnReason.cancelled.rawValue)) })
  }
}
