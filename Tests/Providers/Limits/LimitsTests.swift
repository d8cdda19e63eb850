import Foundation
import Testing

@testable import Providers

private let noon = Date(timeIntervalSince1970: 1_800_000_000)

@Suite("Limits of a credential")
struct LimitsTests {
  enum Step: Sendable {
    case refused(TimeInterval)
    case succeeded
    case disconnected(TimeInterval)
    case connected(TimeInterval)
  }

  struct Course: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// Seconds after noon, and how it stands then.
    let states: [(TimeInterval, String)]
  }

  static let courses: [Course] = [
    Course(testDescription: "nothing happened", steps: [], states: [(0, "closed"), (1e6, "closed")]),
    Course(
      testDescription: "a refusal opens at once, for five seconds, then one is tried", steps: [.refused(0)],
      states: [(0, "open to 5"), (4.9, "open to 5"), (5, "half-open"), (500, "half-open")]),
    Course(
      testDescription: "what was in flight beside the first refusal is the same refusal",
      steps: [.refused(0), .refused(0.1), .refused(0.2)], states: [(4, "open to 5"), (5, "half-open")]),
    Course(
      testDescription: "a trial that is refused opens for twice as long",
      steps: [.refused(0), .refused(5), .refused(15)], states: [(15, "open to 35"), (35, "half-open")]),
    Course(
      testDescription: "five minutes are the longest",
      steps: (0..<20).map { .refused(Double($0) * 1000) }, states: [(19_000, "open to 19300")]),
    Course(
      testDescription: "success closes, and the next pause is short again",
      steps: [.refused(0), .refused(5), .succeeded, .refused(100)], states: [(100, "open to 105")]),
    Course(
      testDescription: "one failed connection opens nothing, three seconds of it do", steps: [.disconnected(0)],
      states: [(0, "closed"), (2.9, "closed"), (3, "open to 30"), (29, "open to 30"), (30, "half-open")]),
    Course(
      testDescription: "connected in time, nothing was ever open", steps: [.disconnected(0), .connected(2)],
      states: [(2, "closed"), (100, "closed")]),
    Course(
      testDescription: "connected later, the first answer has to come", steps: [.disconnected(0), .connected(10)],
      states: [(10, "half-open"), (100, "half-open")]),
    Course(
      testDescription: "connected and lost again, since the beginning",
      steps: [.disconnected(0), .connected(10), .disconnected(11)], states: [(11, "open to 41")]),
    Course(
      testDescription: "an answer closes it", steps: [.disconnected(0), .connected(10), .succeeded],
      states: [(10, "closed")]),
    Course(
      testDescription: "a clock that is set back by a day does not make the pause a day longer",
      steps: [.refused(86_400)], states: [(0, "half-open"), (86_401, "open to 86405")]),
    Course(
      testDescription: "a refused credential is not told of connections",
      steps: [.refused(0), .disconnected(1), .connected(2)], states: [(3, "open to 5"), (6, "half-open")]),
  ]

  private func words(_ state: CircuitBreaker.State) -> String {
    switch state {
    case .closed: "closed"
    case .open(let reason, _, let until): reason == "why" ? "open to \(Int(until.timeIntervalSince(noon)))" : reason
    case .halfOpen(let reason, _): reason == "why" ? "half-open" : reason
    }
  }

  @Test("the circuit breaker", arguments: courses)
  func circuit(_ course: Course) {
    var breaker = CircuitBreaker()
    for step in course.steps {
      switch step {
      case .refused(let at): breaker.refused("why", at: noon + at)
      case .succeeded: breaker.succeeded()
      case .disconnected(let at): breaker.disconnected("why", at: noon + at)
      case .connected(let at): breaker.connected(at: noon + at)
      }
    }
    for (at, expected) in course.states { #expect(words(breaker.state(at: noon + at)) == expected, "at \(at)") }
  }

  struct Storm: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Lots of answers: how many, how many refusals, and when.
    let lots: [(answers: Int, refusals: Int, at: TimeInterval)]
    let limit: Int?
    let isSlowed: Bool
  }

  static let storms: [Storm] = [
    Storm(testDescription: "begins with moderation", lots: [], limit: 1000, isSlowed: false),
    Storm(testDescription: "a clean lot sets it free", lots: [(200, 0, 0)], limit: nil, isSlowed: false),
    Storm(testDescription: "a few answers say nothing", lots: [(19, 19, 0), (0, 0, 9)], limit: 1000, isSlowed: false),
    Storm(
      testDescription: "few answers in a long time say something", lots: [(10, 10, 0), (10, 10, 5)], limit: 250,
      isSlowed: true),
    Storm(testDescription: "a fifth is a storm", lots: [(200, 40, 0)], limit: 250, isSlowed: true),
    Storm(testDescription: "less is none, and no calm either", lots: [(200, 39, 0)], limit: 1000, isSlowed: false),
    Storm(
      testDescription: "it grows", lots: [(200, 200, 0), (200, 200, 1), (200, 200, 2), (200, 200, 3)], limit: 15,
      isSlowed: true),
    Storm(
      testDescription: "it calms down step by step", lots: [(200, 200, 0), (200, 200, 1), (200, 9, 2)], limit: 250,
      isSlowed: true),
    Storm(
      testDescription: "and is over", lots: [(200, 200, 0), (200, 0, 1), (200, 0, 2)], limit: nil, isSlowed: false),
    Storm(
      testDescription: "few good answers are enough to be noticed",
      lots: [(200, 200, 0), (200, 200, 1), (60, 0, 2), (60, 0, 3)], limit: 1000, isSlowed: false),
    Storm(
      testDescription: "a minute without a storm is a level",
      lots: [(200, 200, 0), (200, 200, 1), (200, 200, 2), (0, 0, 63)],
      limit: 60, isSlowed: true),
    Storm(
      testDescription: "and some minutes are the end of it",
      lots: [(200, 200, 0), (200, 200, 1), (200, 200, 2), (0, 0, 900)],
      limit: 1000, isSlowed: false),
    Storm(
      testDescription: "a clock that is set back begins anew", lots: [(20, 0, 0), (0, 0, -60), (20, 0, -60)],
      limit: nil, isSlowed: false),
  ]

  @Test("the storm guard", arguments: storms)
  func storm(_ storm: Storm) {
    var guardian = StormGuard()
    for lot in storm.lots {
      guardian.note(answers: lot.answers, refusals: lot.refusals, now: noon + lot.at)
      guardian.heal(now: noon + lot.at)
    }
    #expect(guardian.limit == storm.limit && guardian.isSlowed == storm.isSlowed)
  }

  @Test(
    "refusals that slow down: not those that Apple calls no error, and not the credential's",
    arguments: [
      (200, false), (400, true), (401, false), (403, false), (404, true), (405, true), (410, false), (413, true),
      (429, true), (500, false), (503, false),
    ])
  func counted(status: Int, expected: Bool) { #expect(APNsRules().isRefusal(status) == expected) }
}

@Suite("Connections that end with requests unanswered")
struct LossWindowTests {
  @Test("a loss leaves a quarter of the requests in flight; losing the others too is the same loss")
  func narrows() {
    var window = LossWindow()
    window.answered(500, now: noon)
    #expect(window.limit == nil)
    window.lost(300, others: 700, now: noon)
    #expect(window.limit == 250 && window.isNarrow && window.lost == 300)
    window.lost(700, others: 0, now: noon)
    #expect(window.limit == 250 && window.lost == 1000)
    for expected in [62, 15, 3, 1, 1] {
      window.lost(window.limit ?? 0, others: 0, now: noon)
      #expect(window.limit == expected)
    }
  }

  @Test("answers widen it slowly, then quickly, until there is no limit; so does time")
  func widens() {
    var window = LossWindow()
    window.lost(80, others: 0, now: noon)
    #expect(window.limit == 20)
    window.answered(79, now: noon)
    #expect(window.limit == 20)
    window.answered(1, now: noon)
    #expect(window.limit == 21)
    var later = window
    later.heal(now: noon + 59)
    #expect(later.limit == 21)
    later.heal(now: noon + 121)
    #expect(later.limit == 84)
    later.heal(now: noon + 3600)
    #expect(later.limit == nil && !later.isNarrow)
    var answers = 0
    while let limit = window.limit, answers < 100_000 {
      window.answered(limit, now: noon)
      answers += limit
    }
    #expect(window == LossWindow() && (5000...20_000).contains(answers))
  }

  @Test("a service that takes 700 requests on each connection loses few of a hundred")
  func equilibrium() {
    var window = LossWindow()
    window.lost(700, others: 0, now: noon)
    var lost = 0
    var answered = 0
    while answered < 20_000 {
      var taken = 0
      while taken + (window.limit ?? 700) <= 700 {
        taken += window.limit ?? 700
        window.answered(window.limit ?? 700, now: noon)
      }
      answered += taken
      lost += window.limit ?? 700
      window.lost(window.limit ?? 700, others: 0, now: noon)
    }
    #expect(lost < 2000, "\(lost)")
  }
}
