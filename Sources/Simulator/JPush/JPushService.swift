package import Foundation
import HTTP2
import JSON
import Logging
import Model
import OpenSSL
import Synchronization

/// The simulated JPush: REST API v3 with push, validate, recall, cid, batches, schedules, devices, aliases, tags and
/// reports (docs/protocols.md §4). Every app key exists, unless keys are given, and has all phones that are registered with
/// JPush.
///
/// It answers over HTTP/2 as the handler of a server, and over HTTP/1.1 through ``answer(_:)``.
package final class JPushService: CallService {
  package static let streams: UInt32 = 128
  /// Bytes of a body: a batch of 1,000 pushes.
  package static let bodyLimit = 8 << 20
  /// The app of every push that it reads; a phone's own bundle ID counts.
  private static let app = "jpush.simulator"
  /// Accepted pushes that reports know.
  private static let messageLimit = 1000
  private static let batchLimit = 1000
  /// Apps whose calls are counted at the same time, twice: any key pair may be accepted.
  static let windowLimit = 1000
  /// Seconds for which a message can be replaced.
  private static let replaceable: TimeInterval = 86_400

  private struct Window {
    let start: Date
    var count = 0
  }

  private struct Subject: Hashable {
    let key: String
    let family: JPushFamily
  }

  /// An accepted push.
  private struct Message {
    let key: String
    let at: Date
    /// The phones that it was for.
    let phones: Set<Int64>
    /// The first of the messages that replaced each other.
    let first: Int64
  }

  private struct State {
    var lastMessage: Int64
    var messages: [Int64: Message] = [:]
    var order: [Int64] = []
    var answers = JPushAnswers()
    /// At most ``windowLimit``; once it is full, it takes the place of ``former``.
    var windows: [Subject: Window] = [:]
    var former: [Subject: Window] = [:]
  }

  package let faults: FaultBox
  package static let server = SimulatedServer.jpush

  package let desk = CallDesk()
  package let requests: RequestBook
  let phones: PhoneBook
  let timetable = JPushTimetable()
  package let now: @Sendable () -> Date
  private let keys: [String: String]
  private let log: Logger?
  private let state: Mutex<State>

  /// - Parameter keys: master secrets by app key; empty: every pair is accepted.
  init(
    phones: PhoneBook, requests: RequestBook, faults: FaultBox, keys: [String: String],
    now: @escaping @Sendable () -> Date, log: Logger?
  ) {
    (self.phones, self.requests, self.faults, self.keys) = (phones, requests, faults, keys)
    (self.now, self.log) = (now, log)
    state = Mutex(State(lastMessage: Int64.random(in: 18_100_000_000...58_100_000_000)))
    faults.observe { [weak self] in self?.announceStreams($0) }
  }

  // MARK: Answers

  /// What becomes of a request. Faults concern pushes only, validated ones too.
  package func course(of call: SimulatedCall) -> (FaultBox.Verdict, SimulatedReply) {
    let family = Self.family(call)
    // Without a running server, what is due is sent before the next request is answered.
    sendDue()
    let isPush = call.path.first == "v3" && call.path.dropFirst().first == "push" && call.method == "POST"
    let verdict = isPush ? faults.decide(number: call.number, token: Self.token(of: call)) : FaultBox.Verdict()
    var reply: SimulatedReply
    switch verdict.action {
    case .refuse, .cut:
      desk.noteLost(isRefused: verdict.action == .refuse)
      return (verdict, SimulatedReply([:]))
    case .answer(let status, let reason):
      reply = simulated(reason, status: status, wait: verdict.retryAfter)
      reply.reason = "JPush \(reason)"
      desk.note(status, reply.reason)
      return (verdict, reply)
    case .keepSilent, .proceed:
      var code: String?
      // A call without the right keys counts for no app.
      var limits = JPushLimits(limit: family.quota, remaining: family.quota, reset: 60)
      do throws(JPushError) {
        let key = try authorized(call, family)
        limits = count(key, family)
        if limits.isExceeded { throw JPushError(.tooOften, "Rate limit exceeded") }
        reply = try self.reply(to: call, key)
        code = reply.reason
      } catch {
        let error = error.answered(by: family)
        reply = SimulatedReply(error, message: error.code == .noTarget ? nextMessage() : nil)
        reply.reason = "JPush \(error.code.rawValue)"
        code = reply.reason
        log?.debug("Push refused.", ["code": error.code.rawValue, "reason": error.message])
      }
      reply.limits = limits
      desk.note(verdict.action == .proceed ? reply.status : nil, code)
      return (verdict, reply)
    }
  }

  /// An error that a person or a test asked for.
  private func simulated(_ code: String, status: Int, wait: Int?) -> SimulatedReply {
    let known = Int(code).flatMap(JPushCode.init)
    let text: String
    switch known {
    case .authentication: text = "Authen failed"
    case .noTarget: text = "cannot find user by this audience or has been inactive for more than 255 days"
    case .tooOften: text = "Rate limit exceeded"
    default: text = "Simulated error"
    }
    let error: JSONValue = ["code": .integer(Int64(code) ?? 0), "message": .string(text)]
    var members: [String: JSONValue] = ["error": error]
    if known == .noTarget { members["msg_id"] = .integer(nextMessage()) }
    var reply = SimulatedReply(status: status, .object(members))
    if status == 429 {
      reply.limits = JPushLimits(limit: JPushFamily.push.quota, remaining: -1, reset: wait ?? 60)
    }
    return reply
  }

  /// The registration ID that a push to one device names, for faults of one token.
  private static func token(of call: SimulatedCall) -> String {
    // A body that cannot be read names none.
    let body = try? JSONValue(parsing: call.body)
    let ids = body?["audience"]?["registration_id"]?.array ?? []
    return ids.count == 1 ? ids[0].string ?? "" : ""
  }

  /// - Returns: the app key.
  private func authorized(_ call: SimulatedCall, _ family: JPushFamily) throws(JPushError) -> String {
    let parts = (call.authorization ?? "").split(separator: " ")
    guard parts.count == 2, parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1])),
      let pair = String(data: data, encoding: .utf8)?.split(separator: ":", maxSplits: 1), pair.count == 2,
      keys.isEmpty || keys[String(pair[0])] == String(pair[1])
    else { throw family.unauthorized(hasKeys: call.authorization != nil) }
    return String(pair[0])
  }

  /// Counts a call in its window of one minute, which begins with the first.
  private func count(_ key: String, _ family: JPushFamily) -> JPushLimits {
    let now = now()
    return state.withLock { state in
      let subject = Subject(key: key, family: family)
      var window = state.windows[subject] ?? state.former[subject] ?? Window(start: now)
      if !(0..<60).contains(now.timeIntervalSince(window.start)) { window = Window(start: now) }
      window.count += 1
      if state.windows[subject] == nil, state.windows.count >= Self.windowLimit {
        (state.former, state.windows) = (state.windows, [:])
      }
      state.windows[subject] = window
      let left = 60 - now.timeIntervalSince(window.start)
      return JPushLimits(
        limit: family.quota, remaining: family.quota - window.count, reset: max(1, Int(left.rounded(.up))))
    }
  }

  private func reply(to call: SimulatedCall, _ key: String) throws(JPushError) -> SimulatedReply {
    guard call.bodyByteCount <= Self.bodyLimit else { throw JPushError(.tooLarge, "The body is too large.") }
    guard call.path.first == "v3" else { return Self.unserved(call) }
    switch (call.method, call.path.dropFirst().joined(separator: "/")) {
    case ("POST", "push"): return try push(try Self.json(call), key, isDry: false)
    case ("POST", "push/validate"): return try push(try Self.json(call), key, isDry: true)
    case ("GET", "push/cid"): return try cids(call, key)
    case ("DELETE", let path) where path.hasPrefix("push/") && call.path.count == 3:
      // These addresses are no numbers of messages.
      if ["cid", "validate"].contains(call.path[2]) { return Self.unserved(call) }
      return try recall(call.path[2])
    case ("POST", "push/batch/regid/single"): return try batch(try Self.json(call), .registrationID, key)
    case ("POST", "push/batch/alias/single"): return try batch(try Self.json(call), .alias, key)
    case ("GET", "received"), ("GET", "received/detail"), ("GET", "messages"), ("GET", "messages/detail"):
      return try report(call)
    case ("GET", "users"): return try users(call)
    case ("POST", "status/message"): return try status(try Self.json(call))
    case (_, let path) where path == "schedules" || path.hasPrefix("schedules/"): return try schedules(call, key)
    default: return try devices(call)
    }
  }

  /// The body as JSON.
  static func json(_ call: SimulatedCall) throws(JPushError) -> JSONValue {
    do { return try JSONValue(checking: call.body) } catch {
      throw JPushError(.invalid, "The request data is not JSON: \(error.text)")
    }
  }

  // MARK: Pushes

  private func push(_ json: JSONValue, _ key: String, isDry: Bool) throws(JPushError) -> SimulatedReply {
    let request = try request(json)
    let (body, landing) = try take(request, key, cid: request.cid, isDry: isDry)
    var reply = SimulatedReply(body)
    reply.landing = landing
    return reply
  }

  func request(_ json: JSONValue) throws(JPushError) -> JPushRequest { try JPushRequest(json, app: Self.app) }

  /// Sends the push of a schedule.
  ///
  /// - Returns: the number of its message.
  func deliver(_ request: JPushRequest, _ key: String) throws(JPushError) -> Int64? {
    try take(request, key, cid: nil, isDry: false).body["msg_id"]?.string.flatMap { Int64($0) }
  }

  /// - Returns: the answer, and what became of the push; nil: it was not sent.
  private func take(
    _ request: JPushRequest, _ key: String, cid: String?, isDry: Bool
  ) throws(JPushError) -> (body: JSONValue, landing: Landing?) {
    let now = now()
    if let cid, !isDry, let known = state.withLock({ $0.answers.find(cid, now: now) }) { return (known, nil) }
    var replaced: Int64?
    if let old = request.replaces {
      let found = state.withLock { $0.messages[old] }
      guard let found, found.key == key, now.timeIntervalSince(found.at) < Self.replaceable else {
        throw JPushError(.invalid, "options.override_msg_id: this app sent no such push within the last day.")
      }
      replaced = found.first
    }
    let id = nextMessage()
    let reached = phones.deliver(request.draft, message: id, replacing: replaced, isDry: isDry, now: now)
    guard reached.count > 0 else {
      throw JPushError(.noTarget, "cannot find user by this audience or has been inactive for more than 255 days")
    }
    let body: JSONValue = ["sendno": .string(String(request.sendno)), "msg_id": .string(String(id))]
    guard !isDry else { return (body, nil) }
    state.withLock { state in
      state.messages[id] = Message(key: key, at: now, phones: reached.phones, first: replaced ?? id)
      state.order.append(id)
      if state.order.count > Self.messageLimit { state.messages[state.order.removeFirst()] = nil }
      if let cid { state.answers.keep(body, to: cid, now: now) }
    }
    return (body, reached.landing)
  }

  /// Phones that have not received the message yet do not get it. What phones have received stays.
  private func recall(_ id: String) throws(JPushError) -> SimulatedReply {
    guard let message = Int64(id), let targets = targets(of: message) else {
      throw JPushError(.invalid, "msgid doesn't exist")
    }
    phones.change(jpush: Array(targets)) { phone in phone.waiting.removeAll { $0.apnsID == String(message) } }
    return .done
  }

  private func nextMessage() -> Int64 {
    state.withLock { state in
      state.lastMessage += 1
      return state.lastMessage
    }
  }

  /// The phones that a message was for; nil: it is not known.
  func targets(of message: Int64) -> Set<Int64>? { state.withLock { $0.messages[message]?.phones } }

  private func cids(_ call: SimulatedCall, _ key: String) throws(JPushError) -> SimulatedReply {
    guard ["push", "schedule"].contains(call.query["type"] ?? "push") else {
      throw JPushError(.invalid, "type must be push or schedule.")
    }
    guard let count = Int(call.query["count"] ?? "1"), (1...1000).contains(count) else {
      throw JPushError(.invalid, "count must be a number from 1 to 1000.")
    }
    let list = (0..<count).map { _ in JSONValue.string("\(key)-\(UUID().uuidString.lowercased())") }
    return SimulatedReply(["cidlist": .array(list)])
  }

  /// Each push of a batch succeeds or fails by itself.
  private func batch(
    _ json: JSONValue, _ target: JPushRequest.Target, _ key: String
  ) throws(JPushError) -> SimulatedReply {
    guard let list = json["pushlist"]?.object else { throw JPushError(.missing, "Missing parameter: pushlist") }
    guard list.count <= Self.batchLimit else {
      throw JPushError(.invalid, "pushlist has \(list.count) pushes; at most \(Self.batchLimit) are allowed.")
    }
    var answers: [String: JSONValue] = [:]
    var landing: Landing?
    var reason: String?
    for (cid, push) in list.sorted(by: { $0.key < $1.key }) {
      do throws(JPushError) {
        let answer = try take(try JPushRequest(push, app: Self.app, target: target), key, cid: cid, isDry: false)
        if let one = answer.landing { landing = (landing ?? Landing()) + one }
        answers[cid] = ["msg_id": answer.body["msg_id"]?.string.flatMap { Int64($0) }.map(JSONValue.integer) ?? .null]
      } catch {
        reason = reason ?? "JPush \(error.code.rawValue)"
        answers[cid] = ["error": ["code": .integer(Int64(error.code.rawValue)), "message": .string(error.message)]]
      }
    }
    var reply = SimulatedReply(.object(answers))
    (reply.landing, reply.reason) = (landing, reason)
    return reply
  }
}

/// The limits that JPush states with every answer (docs/protocols.md §4.3).
struct JPushLimits: Sendable, Hashable {
  let limit: Int
  /// Below 0: this call is one too many.
  let remaining: Int
  /// Seconds.
  let reset: Int

  var isExceeded: Bool { remaining < 0 }

  var fields: [(name: String, value: String)] {
    [("quota", limit), ("limit", limit), ("remaining", max(0, remaining)), ("reset", reset)].map {
      ("x-rate-limit-\($0)", String($1))
    }
  }
}
