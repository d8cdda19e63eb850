import Foundation
import Providers
import Model
import Testing

@testable import Delivery
@testable import Store

@Suite("A run, event by event")
struct RunTableTests {
  /// An event, what surrounds it, and the actions that follow.
  struct Step: Sendable {
    let event: RunEvent
    var world: @Sendable (inout RunWorld) -> Void = { _ in }
    let actions: [String]

    init(_ event: RunEvent, _ actions: [String], world: @escaping @Sendable (inout RunWorld) -> Void = { _ in }) {
      (self.event, self.actions, self.world) = (event, actions, world)
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var plan: @Sendable (inout RunPlan) -> Void = { _ in }
    var pushRow: @Sendable (inout RunRow) -> Void = { _ in }
    let begin: [String]
    let steps: [Step]
  }

  private static let three = iPhones(1...3)

  private static func iPhones(_ numbers: ClosedRange<Int64>) -> [AudienceMember] {
    numbers.map { AudienceMember(id: $0, platform: .ios, token: DeviceToken(bytes: [1])) }
  }

  private static let phones: [AudienceMember] = [7, 8].map {
    AudienceMember(id: $0, platform: .android, token: DeviceToken(bytes: [1]))
  }

  private static func pushRow(
    _ state: PushState = .sending, waiting: Int = 0, handedOut: Int64 = 3
  ) -> RunEvent {
    .row(RunRow(state: state, target: 3, handedOut: handedOut, waiting: waiting))
  }

  private static func results(_ result: SendResult, _ devices: Int64...) -> RunEvent {
    .results(devices.map { Inbox.Item(device: $0, result: result) })
  }

  private static let due = [
    WaitingDelivery.Due(
      waiting: WaitingDelivery(
        deviceID: 1, dueAt: noon, attempts: 1, firstAt: noon, last: .unknown(reason: "TimedOut")),
      member: three[0])
  ]
  private static let sent = [
    Step(.routeFound, ["publish", "page 0…9"]), Step(.members(three), ["send 1 2 3", "wait"]),
  ]
  private static let begun = ["publish", "findRoute"]

  static let rows = [
    Row(
      testDescription: "three devices, all accepted", begin: begun,
      steps: sent + [
        Step(results(.outcome(.accepted), 3, 1, 2), ["record 3, 0 wait"]),
        Step(pushRow(), ["publish", "end finished"]),
        Step(pushRow(.finished), ["publish"]),
      ]),
    Row(
      testDescription: "no devices: no provider is needed", pushRow: { $0.target = 0 },
      begin: ["publish", "end finished"],
      steps: [Step(pushRow(.finished), ["publish"])]),
    Row(
      testDescription: "no provider: the rest gets the reason, and the push fails", begin: begun,
      steps: [
        Step(.routeMissing("No key.", .noCredential), ["publish", "page 0…9"]),
        Step(.members(three), ["record 3, 0 wait"]), Step(pushRow(), ["publish", "take what came"]),
        Step(.results([]), ["end failed"]), Step(pushRow(.failed), ["publish"]),
      ]),
    Row(
      testDescription: "cancelled: what has not left comes back, and nothing more is sent", begin: begun,
      steps: sent + [
        Step(.results([]), ["reload"]) { $0.order = .cancel }, Step(pushRow(), ["cancelQueued", "wait"]),
        Step(results(.notSent(reason: "Cancelled"), 1, 2, 3), ["record 3, 0 wait"]),
        Step(pushRow(), ["publish", "end cancelled"]), Step(pushRow(.cancelled), ["publish"]),
      ]),
    Row(
      testDescription: "paused while the bound is written: the page waits instead of leaving",
      pushRow: { $0.handedOut = 0 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "page 0…9"]), Step(.members(three), ["handedOut 3"]),
        Step(pushRow(), ["cancelQueued", "record 0, 3 wait"]) { $0.order = .pause },
        Step(pushRow(waiting: 3), ["publish", "allReturned 3"]), Step(pushRow(.paused, waiting: 3), ["publish"]),
      ]),
    Row(
      testDescription: "an unanswered device waits, and is sent to again when it is due", begin: begun,
      steps: sent + [
        Step(results(.outcome(.unknown(reason: "TimedOut")), 1, 2, 3), ["record 0, 3 wait"]),
        Step(pushRow(waiting: 3), ["publish", "wait"]),
        Step(.results([]), ["reload"]) { $0.now.wall += 60 },
        Step(pushRow(waiting: 3), ["due at 60"]), Step(.due(due), ["take 1"]),
        Step(pushRow(waiting: 3), ["send 1", "due at 60"]), Step(.due([]), ["nextDue after 60"]),
        Step(.nextDue(nil), ["wait"]),
      ]),
    Row(
      testDescription: "what becomes due while the due devices are read is found by the next question", begin: begun,
      steps: sent + [
        Step(results(.outcome(.unknown(reason: "TimedOut")), 1, 2, 3), ["record 0, 3 wait"]),
        Step(pushRow(waiting: 3), ["publish", "wait"]),
        Step(.results([]), ["reload"]) { $0.now.wall += 60 }, Step(pushRow(waiting: 3), ["due at 60"]),
        Step(.due([]), ["nextDue after 60"]) { $0.now.wall += 1 },
      ]),
    Row(
      testDescription: "an unanswered device of a push that is sent at most once stays unknown",
      plan: { $0 = .sample(repeats: false) }, begin: begun,
      steps: sent + [Step(results(.outcome(.unknown(reason: "TimedOut")), 1), ["record 1, 0 wait"])]),
    Row(
      testDescription: "the credential is refused: alarm, and the push ends", begin: begun,
      steps: sent + [
        Step(
          results(.outcome(.rejected(status: 403, reason: "InvalidProviderToken", tokenInvalidSince: nil)), 1, 2, 3),
          ["alarm", "record 3, 0 wait"]),
        Step(pushRow(), ["publish", "end finished"]),
      ]),
    Row(
      testDescription: "an open circuit: nothing is handed out", begin: begun,
      steps: [
        Step(.routeFound, ["publish", "wait"]) {
          $0.apns.health.circuit = .open(reason: "x", since: noon, until: noon + 9)
        },
        Step(.results([]), ["reload"]) { $0.apns.health.circuit = .halfOpen(reason: "x", since: noon) },
        Step(pushRow(), ["publish", "page 0…9"]), Step(.members([three[0]]), ["send 1", "wait"]),
      ]),
    Row(
      testDescription: "a narrow window: a missing answer costs one place; small lots leave when they have waited",
      plan: { $0.lastDeviceID = 99 }, pushRow: { $0.handedOut = 99 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "page 0…99"]) { $0.apns.share = 8 },
        Step(.members(iPhones(1...8)), ["send 1 2 3 4 5 6 7 8", "wait"]),
        Step(results(.outcome(.accepted), 1, 2, 3, 4, 5, 6, 7), ["record 7, 0 wait"]),
        Step(pushRow(handedOut: 99), ["publish", "page 8…99"]),
        Step(.members(iPhones(9...15)), ["send 9 10 11 12 13 14 15", "wait"]),
        Step(results(.outcome(.accepted), 9), ["record 1, 0 wait"]) { $0.now.steady += 0.05 },
        Step(pushRow(handedOut: 99), ["publish", "wait"]),
        Step(.results([]), ["reload"]) { $0.now.steady += 0.05 },
        Step(pushRow(handedOut: 99), ["page 15…99"]), Step(.members(iPhones(16...16)), ["send 16", "wait"]),
      ]),
    Row(
      testDescription: "a wide window: whole pages",
      plan: { ($0.lastDeviceID, $0.pageSize) = (99, 4) }, pushRow: { $0.handedOut = 99 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "page 0…99"]) { $0.apns.share = 16 },
        Step(.members(iPhones(1...4)), ["send 1 2 3 4", "page 4…99"]),
        Step(.members(iPhones(5...8)), ["send 5 6 7 8", "page 8…99"]),
        Step(.members(iPhones(9...12)), ["send 9 10 11 12", "page 12…99"]),
        Step(.members(iPhones(13...16)), ["send 13 14 15 16", "wait"]),
        Step(results(.outcome(.accepted), 5, 6, 7), ["record 3, 0 wait"]),
        Step(pushRow(handedOut: 99), ["publish", "wait"]),
        Step(results(.outcome(.accepted), 1), ["record 1, 0 wait"]),
        Step(pushRow(handedOut: 99), ["publish", "page 16…99"]),
      ]),
    Row(
      testDescription: "the time to live ends: the rest expires", plan: { $0.expiration = noon + 10 }, begin: begun,
      steps: sent + [
        Step(.results([]), ["reload"]) { $0.now.wall += 10 }, Step(pushRow(), ["cancelQueued", "wait"]),
        Step(results(.notSent(reason: "Cancelled"), 1, 2, 3), ["record 3, 0 wait"]),
        Step(pushRow(), ["publish", "end finished"]),
      ]),
    Row(
      testDescription: "a time to live from the hand-over: a push that goes on lives on, one that stands still expires",
      plan: { ($0.lastDeviceID, $0.timeToLive) = (99, 10) }, pushRow: { $0.handedOut = 99 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "page 0…99"]) { $0.apns.share = 1 },
        Step(.members(iPhones(1...1)), ["send 1", "wait"]),
        Step(results(.outcome(.accepted), 1), ["record 1, 0 wait"]) { $0.now = $0.now + 8 },
        Step(pushRow(handedOut: 99), ["publish", "page 1…99"]), Step(.members(iPhones(2...2)), ["send 2", "wait"]),
        Step(results(.outcome(.accepted), 2), ["record 1, 0 wait"]) { $0.now = $0.now + 8 },
        Step(pushRow(handedOut: 99), ["publish", "page 2…99"]), Step(.members(iPhones(3...3)), ["send 3", "wait"]),
        Step(.results([]), ["reload"]) { $0.now = $0.now + 10 },
        Step(pushRow(handedOut: 99), ["cancelQueued", "page 3…99"]),
        Step(.members(iPhones(4...5)), ["record 2, 0 wait"]),
      ]),
    Row(
      testDescription: "a device that waits for longer than its time to live is not sent to, while others are",
      plan: { $0.timeToLive = 30 }, begin: begun,
      steps: sent + [
        Step(results(.outcome(.unknown(reason: "TimedOut")), 1), ["record 0, 1 wait"]),
        Step(pushRow(waiting: 1), ["publish", "wait"]),
        Step(results(.outcome(.accepted), 2), ["record 1, 0 wait"]) { $0.now = $0.now + 31 },
        Step(pushRow(waiting: 1), ["publish", "due at 31"]), Step(.due(due), ["record 1, 0 wait"]),
        Step(pushRow(), ["publish", "wait"]),
      ]),
    Row(
      testDescription: "taken up again after a standstill that was longer than the time to live",
      plan: {
        $0 = .sample(isResumed: true)
        ($0.timeToLive, $0.stoodStill) = (10, 11)
      }, begin: ["countRepeats"],
      steps: [
        Step(.waits(RunRow(state: .sending, target: 3, handedOut: 3), nextDue: nil), ["publish", "page 0…9"]),
        Step(.members(three), ["record 3, 0 wait"]),
      ]),
    Row(
      testDescription: "taken up again, at most once: what may have left is unknown before anything is sent",
      plan: { $0 = .sample(repeats: false, isResumed: true) }, begin: ["interrupted"],
      steps: [
        Step(.due([]), ["page 0…3"]), Step(.members(Array(three.prefix(2))), ["record 2, 0 wait"]),
        Step(pushRow(), ["publish", "page 2…3"]), Step(.members([]), ["publish", "findRoute"]),
      ]),
    Row(
      testDescription: "taken up again, at most once: each service has its own last device",
      plan: {
        $0 = .sample(repeats: false, isResumed: true)
        ($0.providers, $0.announced) = ([.apns, .fcm], [.apns: 9, .fcm: 7])
      }, pushRow: { $0.handedOut = 9 }, begin: ["interrupted"],
      steps: [
        Step(.due([]), ["page 0…9"]), Step(.members([]), ["page 0…7 fcm"]),
        Step(.members(Array(phones.prefix(1))), ["record 1, 0 wait"]),
        Step(pushRow(), ["publish", "publish", "findRoute"]),
      ]),
    Row(
      testDescription: "the clock is set: what waits follows it", begin: begun,
      steps: sent + [
        Step(.results([]), ["shift 100.0"]) { $0.leapt = 100 },
        Step(.waits(RunRow(state: .sending, target: 3, handedOut: 3), nextDue: nil), ["wait"]),
      ]),
    Row(
      testDescription: "two services: each by its own route, and one end", plan: { $0.providers = [.apns, .fcm] },
      pushRow: { $0.handedOut = 9 },
      begin: begun,
      steps: [
        Step(.routeFound, ["publish", "findRoute fcm"]), Step(.routeFound, ["publish", "page 0…9"]),
        Step(.members(three), ["send 1 2 3", "page 0…9 fcm"]), Step(.members(phones), ["send 7 8", "wait"]),
        Step(results(.outcome(.accepted), 3, 7, 1, 8, 2), ["record 5, 0 wait"]),
        Step(pushRow(handedOut: 9), ["publish", "end finished"]),
      ]),
    Row(
      testDescription: "two services, one without a credential: its devices get the reason, the others are sent to",
      plan: { $0.providers = [.apns, .fcm] }, pushRow: { $0.handedOut = 9 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "findRoute fcm"]),
        Step(.routeMissing("No key.", .noCredential), ["publish", "page 0…9 fcm"]),
        Step(.members(phones), ["record 2, 0 wait"]), Step(pushRow(handedOut: 9), ["publish", "take what came"]),
        Step(.results([]), ["reload"]), Step(pushRow(handedOut: 9), ["page 0…9"]),
        Step(.members(three), ["send 1 2 3", "wait"]),
        Step(results(.outcome(.accepted), 1, 2, 3), ["record 3, 0 wait"]),
        Step(pushRow(handedOut: 9), ["publish", "end finished"]),
      ]),
    Row(
      testDescription: "two services, one held back: the other goes on",
      plan: { $0.providers = [.apns, .fcm] }, pushRow: { $0.handedOut = 9 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "findRoute fcm"]),
        Step(.routeFound, ["publish", "page 0…9 fcm"]) {
          $0.apns.health.circuit = .open(reason: "x", since: noon, until: noon + 9)
        },
        Step(.members(phones), ["send 7 8", "wait"]),
        Step(results(.outcome(.accepted), 7, 8), ["record 2, 0 wait"]),
        Step(pushRow(handedOut: 9), ["publish", "wait"]),
        Step(.results([]), ["reload"]) { $0.apns.health = ProviderHealth() },
        Step(pushRow(handedOut: 9), ["page 0…9"]), Step(.members(three), ["send 1 2 3", "wait"]),
      ]),
    Row(
      testDescription: "two services, one credential refused: only its devices stop",
      plan: { $0.providers = [.apns, .fcm] }, pushRow: { $0.handedOut = 9 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "findRoute fcm"]), Step(.routeFound, ["publish", "page 0…9"]),
        Step(.members(three), ["send 1 2 3", "page 0…9 fcm"]), Step(.members(phones), ["send 7 8", "wait"]),
        Step(
          results(.outcome(.rejected(status: 403, reason: "PERMISSION_DENIED", tokenInvalidSince: nil)), 7),
          ["alarm fcm", "record 1, 0 wait"]),
        Step(pushRow(handedOut: 9), ["publish", "cancelQueued fcm", "wait"]),
        Step(results(.notSent(reason: "PERMISSION_DENIED"), 8), ["record 1, 0 wait"]),
        Step(pushRow(handedOut: 9), ["publish", "wait"]),
        Step(results(.outcome(.accepted), 1, 2, 3), ["record 3, 0 wait"]),
        Step(pushRow(handedOut: 9), ["publish", "end finished"]),
      ]),
    Row(
      testDescription: "no place in the trail and nothing under way: it goes on without", plan: { $0.trail = 5 },
      pushRow: { $0.trail = 5 }, begin: begun,
      steps: [
        Step(.routeFound, ["publish", "reserve 20"]), Step(.reserved([]), ["trail 0"]),
        Step(pushRow(), ["page 0…9"]),
      ]),
  ]

  @Test("event in, actions out", arguments: rows)
  func steps(row: Row) {
    var plan = RunPlan.sample()
    row.plan(&plan)
    var pushRow = RunRow(state: .sending, target: 3, handedOut: 3)
    row.pushRow(&pushRow)
    var world = RunWorld(now: Moment(wall: noon, steady: 0))
    for provider in plan.providers { world.routes[provider] = RouteWorld(share: 20) }
    var run = PushRun(plan, pushRow, nextDue: nil, world: world)
    #expect(run.begin().map(Self.name) == row.begin)
    for (number, step) in row.steps.enumerated() {
      step.world(&world)
      #expect(run.handle(step.event, world).map(Self.name) == step.actions, "step \(number + 1)")
    }
  }

  private static func name(_ action: RunAction) -> String {
    switch action {
    case .publish: "publish"
    case .send(let members, _, _): "send " + members.map { "\($0.id)" }.joined(separator: " ")
    case .cancelQueued(let provider): "cancelQueued" + name(provider)
    case .reconnect(let provider): "reconnect" + name(provider)
    case .forgetRoute(let provider): "forgetRoute" + name(provider)
    case .returnPlaces(let places): "return \(places.count)"
    case .alarm(_, let provider): "alarm" + name(provider)
    case .reserve(let count): "reserve \(count)"
    case .findRoute(let provider): "findRoute" + name(provider)
    case .wait(let date): date == nil ? "take what came" : "wait"
    case .store(let task): name(task)
    }
  }

  /// Only FCM is named, so that the tables of one service stay short.
  private static func name(_ provider: ProviderKind) -> String { provider == .apns ? "" : " fcm" }

  private static func name(_ task: RunTask) -> String {
    switch task {
    case .reload: "reload"
    case .followTrail: "followTrail"
    case .setTrail(let number): "trail \(number)"
    case .setHandedOut(let last, let provider): "handedOut \(last)" + name(provider ?? .apns)
    case .setAllReturned(let last): "allReturned \(last)"
    case .take(let devices): "take " + devices.map { "\($0)" }.joined(separator: " ")
    case .record(let results): "record \(results.results.count), \(results.waiting.count) wait"
    case .end(let state, _): "end \(state.rawValue)"
    case .finish: "finish"
    case .shift(let seconds): "shift \(seconds)"
    case .countRepeats: "countRepeats"
    case .nextDue(let date, _): "nextDue after \(Int(date.timeIntervalSince(noon)))"
    case .page(let after, let upTo, _, let provider, _): "page \(after)…\(upTo)" + name(provider ?? .apns)
    case .markedPage(let after, let upTo, _, let provider): "markedPage \(after)…\(upTo)" + name(provider)
    case .due(let date, _, let provider): "due at \(Int(date.timeIntervalSince(noon)))" + name(provider)
    case .allWaiting(_, let provider): "allWaiting" + name(provider)
    case .interrupted: "interrupted"
    }
  }
}

extension RunWorld {
  fileprivate var apns: RouteWorld {
    get { routes[.apns] ?? RouteWorld(share: 0) }
    set { routes[.apns] = newValue }
  }
}

extension RunPlan {
  fileprivate static func sample(repeats: Bool = true, isResumed: Bool = false) -> RunPlan {
    var policy = RetryPolicy()
    policy.repeatsUnanswered = repeats
    return RunPlan(
      push: 1, seed: 7, providers: [.apns], lastDeviceID: 9, isResumed: isResumed, policy: policy, window: 100)
  }
}

extension Moment {
  /// Both clocks go on.
  fileprivate static func + (moment: Moment, seconds: TimeInterval) -> Moment {
    Moment(wall: moment.wall + seconds, steady: moment.steady + seconds)
  }
}
