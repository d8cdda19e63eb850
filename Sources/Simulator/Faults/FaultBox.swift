import Model
import Synchronization

/// The faults of one server, changeable while it runs. Safe to use from any thread.
package final class FaultBox: Sendable {
  fileprivate struct State {
    var faults: Faults
    /// Remaining counts of `next`, by index in `answers`.
    var left: [Int: Int] = [:]
    var random: SeededRandom
    var observer: (@Sendable (Faults) -> Void)?
  }

  private let state: Mutex<State>

  package init(_ faults: Faults = Faults()) { state = Mutex(State(faults: faults)) }

  /// The current faults; `next` counts down, and an answer whose count is used up is gone.
  package var faults: Faults {
    state.withLock { state in
      var faults = state.faults
      for (index, left) in state.left { faults.answers[index].scope = .next(left) }
      faults.answers.removeAll { $0.scope == .next(0) }
      return faults
    }
  }

  /// Replaces all faults; counts and random numbers restart.
  package func set(_ faults: Faults) {
    let observer = state.withLock { state in
      let observer = state.observer
      state = State(faults: faults)
      state.observer = observer
      return observer
    }
    observer?(faults)
  }

  /// Calls the one observer whenever the faults are replaced, on the replacing thread.
  func observe(_ observer: @escaping @Sendable (Faults) -> Void) { state.withLock { $0.observer = observer } }

  package struct Verdict: Sendable, Equatable {
    enum Action: Sendable, Equatable {
      /// Answers as the service would.
      case proceed
      case answer(status: Int, reason: String)
      case refuse
      case cut
      /// Processes the request and withholds the answer.
      case keepSilent
    }

    var action = Action.proceed
    var delay: Duration?
    /// Seconds; see ``Faults/Answer/retryAfter``.
    var retryAfter: Int?
    var goesAway = false
  }

  /// - Parameters:
  ///   - number: the request's number on its connection, from 1.
  ///   - token: the last part of its path, or the message's; not necessarily a token.
  func decide(number: Int, token: some StringProtocol) -> Verdict {
    state.withLock { state in
      var verdict = Verdict(delay: state.faults.delay, goesAway: state.faults.goAwayAfter == number)
      state.decide(number, token, &verdict)
      return verdict
    }
  }
}

extension FaultBox.State {
  fileprivate init(faults: Faults) {
    self.faults = faults
    random = SeededRandom(seed: faults.seed)
    for (index, answer) in faults.answers.enumerated() {
      if case .next(let count) = answer.scope { left[index] = count }
    }
  }

  fileprivate mutating func decide(_ number: Int, _ token: some StringProtocol, _ verdict: inout FaultBox.Verdict) {
    if let limit = faults.cutAfter, number >= limit { return verdict.action = .cut }
    if happens(faults.refusedShare) { return verdict.action = .refuse }
    for (index, answer) in faults.answers.enumerated() where applies(answer.scope, index, token) {
      verdict.retryAfter = answer.retryAfter
      return verdict.action = .answer(status: answer.status, reason: answer.reason)
    }
    if happens(faults.silentShare) { verdict.action = .keepSilent }
  }

  private mutating func applies(_ scope: Faults.Answer.Scope, _ index: Int, _ token: some StringProtocol) -> Bool {
    switch scope {
    case .all: return true
    case .share(let share): return happens(share)
    case .token(let wanted): return token.utf8.elementsEqual(wanted.bytes) || token.lowercased() == wanted.hexadecimal
    case .next:
      guard let count = left[index], count > 0 else { return false }
      left[index] = count - 1
      return true
    }
  }

  private mutating func happens(_ share: Double) -> Bool {
    share > 0 && Double.random(in: 0..<1, using: &random) < share
  }
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): not secret, but repeatable.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
