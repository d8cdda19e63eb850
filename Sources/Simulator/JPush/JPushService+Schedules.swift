import Calendar
import Foundation
import JSON
import Model
import Reactor
import Synchronization

/// Schedules, which send when they are due (docs/protocols.md §4.6).
extension JPushService {
  func schedules(_ call: SimulatedCall, _ key: String) throws(JPushError) -> SimulatedReply {
    let path = Array(call.path.dropFirst(2))
    switch (call.method, path.count) {
    case ("GET", 0):
      let page = try JPushSchedulePage(call.query["page"])
      return SimulatedReply(page.json(timetable.live(key), \.json))
    case ("POST", 0): return try create(try JPushScheduleFields(try Self.json(call), isNew: true), key)
    case ("GET", 1): return SimulatedReply(try timetable.entry(path[0], key).json)
    case ("PUT", 1): return try change(path[0], try JPushScheduleFields(try Self.json(call), isNew: false), key)
    case ("DELETE", 1):
      try timetable.remove(path[0], key)
      return .done
    case ("GET", 2) where path[1] == "msg_ids":
      let ids = try timetable.entry(path[0], key).messages
      return SimulatedReply([
        "count": .number(ids.count), "msgids": .array(ids.map { ["msg_id": .string(String($0))] }),
      ])
    default: return Self.unserved(call)
    }
  }

  private func create(_ fields: JPushScheduleFields, _ key: String) throws(JPushError) -> SimulatedReply {
    let now = now()
    if let cid = fields.cid, let known = timetable.answer(to: cid, now: now) { return SimulatedReply(known) }
    guard let name = fields.name, let trigger = fields.trigger, let push = fields.push else {
      throw JPushError(.scheduleInvalid, "name, trigger and push are needed.")
    }
    guard timetable.live(key).count < JPushTimetable.liveLimit else {
      throw JPushError(
        .scheduleInvalid, "This app has \(JPushTimetable.liveLimit) schedules that have not ended, the maximum.")
    }
    let entry = try entry(UUID().uuidString.lowercased(), key, name: name, trigger: trigger, push: push)
    let answer: JSONValue = ["schedule_id": .string(entry.uid), "name": .string(name)]
    timetable.keep(entry, cid: fields.cid.map { ($0, answer, now) })
    return SimulatedReply(answer)
  }

  private func change(_ uid: String, _ fields: JPushScheduleFields, _ key: String) throws(JPushError) -> SimulatedReply
  {
    var entry = try timetable.entry(uid, key)
    guard entry.next != nil else {
      throw JPushError(.scheduleInvalid, "This schedule has ended and cannot be changed.")
    }
    try fields.check(before: entry.trigger)
    if fields.trigger != nil || fields.push != nil {
      let messages = entry.messages
      let isEnabled = entry.isEnabled
      entry = try self.entry(
        entry.uid, key, name: entry.name, trigger: fields.trigger ?? entry.trigger, push: fields.push ?? entry.push)
      (entry.messages, entry.isEnabled) = (messages, isEnabled)
    }
    entry.name = fields.name ?? entry.name
    entry.isEnabled = fields.enabled ?? entry.isEnabled
    timetable.keep(entry)
    return SimulatedReply(entry.json)
  }

  private func entry(
    _ uid: String, _ key: String, name: String, trigger: JSONValue, push: JSONValue
  ) throws(JPushError) -> JPushTimetable.Entry {
    let time = try JPushTrigger(trigger, now: now())
    let request = try request(push)
    let recurrence = Recurrence(time.rule, from: time.startAt)
    return JPushTimetable.Entry(
      uid: uid, key: key, name: name, trigger: trigger, push: push, request: request, recurrence: recurrence,
      next: recurrence.first(from: now()))
  }

  /// Sends what is due. A schedule that is switched off, or whose push reaches nobody, sends nothing.
  package func sendDue() {
    for due in timetable.takeDue(now: now()) where due.isEnabled {
      // Nobody to reach is no error of a schedule.
      guard let id = try? deliver(due.request, due.key) else { continue }
      timetable.note(id, of: due.uid)
    }
  }
}

/// The schedules of a simulated JPush, kept in memory.
final class JPushTimetable: Sendable {
  struct Entry: Sendable {
    let uid: String
    let key: String
    var name: String
    let trigger: JSONValue
    let push: JSONValue
    let request: JPushRequest
    let recurrence: Recurrence
    /// When it sends next; nil: it has ended.
    var next: Date?
    var isEnabled = true
    /// Numbers of the messages that it sent.
    var messages: [Int64] = []

    var json: JSONValue {
      [
        "schedule_id": .string(uid), "name": .string(name), "enabled": .bool(isEnabled && next != nil),
        "trigger": trigger, "push": push,
      ]
    }
  }

  private struct State {
    /// In the order of their creation.
    var entries: [Entry] = []
    var answers = JPushAnswers()
    /// Where the clock runs; nil: schedules send when the next request comes in.
    var alarm: (@Sendable (Date) -> Void)?

    mutating func forgetEnded() {
      var excess = entries.count { $0.next == nil } - JPushTimetable.endedLimit
      guard excess > 0 else { return }
      entries.removeAll { entry in
        guard excess > 0, entry.next == nil else { return false }
        excess -= 1
        return true
      }
    }
  }

  /// Of one app.
  static let liveLimit = 100
  /// Those that have ended and can still be read, of all apps; the first created go first.
  static let endedLimit = 1000
  /// Of one schedule: the last that it sent.
  private static let messageLimit = 1000
  private let state = Mutex(State())

  /// - Parameter alarm: is told when the next schedule is due; nil: the server stops.
  func setAlarm(_ alarm: (@Sendable (Date) -> Void)?) {
    state.withLock { $0.alarm = alarm }
    ring()
  }

  /// Those that have not ended.
  func live(_ key: String) -> [Entry] { state.withLock { $0.entries.filter { $0.key == key && $0.next != nil } } }

  func entry(_ uid: String, _ key: String) throws(JPushError) -> Entry {
    let found = state.withLock { state in state.entries.first { $0.uid == uid.lowercased() && $0.key == key } }
    guard let found else { throw JPushError(.scheduleMissing, "There is no schedule with this schedule_id.") }
    return found
  }

  func answer(to cid: String, now: Date) -> JSONValue? { state.withLock { $0.answers.find(cid, now: now) } }

  /// Adds or replaces one.
  func keep(_ entry: Entry, cid: (name: String, body: JSONValue, at: Date)? = nil) {
    state.withLock { state in
      if let index = state.entries.firstIndex(where: { $0.uid == entry.uid }) {
        state.entries[index] = entry
      } else {
        state.entries.append(entry)
        state.forgetEnded()
      }
      if let cid { state.answers.keep(cid.body, to: cid.name, now: cid.at) }
    }
    ring()
  }

  func remove(_ uid: String, _ key: String) throws(JPushError) {
    let found = try entry(uid, key)
    state.withLock { state in state.entries.removeAll { $0.uid == found.uid } }
  }

  /// The entries that are due, each of which is due again at its next time after `now`.
  func takeDue(now: Date) -> [Entry] {
    let due = state.withLock { state in
      var due: [Entry] = []
      for index in state.entries.indices {
        guard let next = state.entries[index].next, next <= now else { continue }
        due.append(state.entries[index])
        state.entries[index].next = state.entries[index].recurrence.next(after: now)
      }
      if !due.isEmpty { state.forgetEnded() }
      return due
    }
    if !due.isEmpty { ring() }
    return due
  }

  func note(_ message: Int64, of uid: String) {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.uid == uid }) else { return }
      state.entries[index].messages.append(message)
      if state.entries[index].messages.count > Self.messageLimit { state.entries[index].messages.removeFirst() }
    }
  }

  private func ring() {
    let (alarm, next) = state.withLock { ($0.alarm, $0.entries.compactMap(\.next).min()) }
    if let next { alarm?(next) }
  }
}

extension JPushService {
  /// Lets schedules send by themselves while a loop runs; nil: no more.
  func run(on loop: EventLoop?) {
    guard let loop else { return timetable.setAlarm(nil) }
    // The loop drops what waits when it stops, and with it this reference.
    timetable.setAlarm { date in loop.execute { self.wake(at: date, loop) } }
  }

  /// Later alarms do not cancel earlier ones: each looks for what is due.
  private func wake(at date: Date, _ loop: EventLoop) {
    // The simulator's clock may be set, so an hour at most.
    let pause = min(3600, max(0, date.timeIntervalSince(now())))
    loop.schedule(after: .milliseconds(Int(pause * 1000) + 1)) {
      if self.now() < date { self.wake(at: date, loop) } else { self.sendDue() }
    }
  }
}
