internal import Synchronization

/// Answers for the members of batches, as a test says: what it has no answer for is held back.
package final class ScriptedAnswers<Member: Sendable, Result: Sendable>: Sendable {
  /// What becomes of a member; nil: nothing yet, until the next ``answer(_:)`` or the batch is cancelled.
  package typealias Script = @Sendable (Member) -> Result?

  /// Members that belong together, and who hears of them; told as often as there are answers.
  package struct Batch: Sendable {
    package let push: Int64
    package let members: [Member]
    let report: @Sendable ([(Member, Result)]) -> Void

    package init(push: Int64, _ members: [Member], report: @escaping @Sendable ([(Member, Result)]) -> Void) {
      (self.push, self.members, self.report) = (push, members, report)
    }
  }

  private struct State {
    var script: Script
    var held: [Batch] = []
    var mostHeld = 0

    var heldMembers: Int { held.reduce(0) { $0 + $1.members.count } }
  }

  private let state: Mutex<State>

  package init(_ script: @escaping Script) { state = Mutex(State(script: script)) }

  /// How many members wait for an answer.
  package var held: Int { state.withLock { $0.heldMembers } }
  /// How many waited at a time, at most.
  package var mostHeld: Int { state.withLock { $0.mostHeld } }

  /// Answers like this from now on, and to what is held back.
  package func answer(_ script: @escaping Script) {
    let held = state.withLock { state in
      state.script = script
      defer { state.held = [] }
      return state.held
    }
    for batch in held { take(batch) }
  }

  /// Answers, and holds back what there is no answer for.
  package func take(_ batch: Batch) {
    let results = state.withLock { state -> [(Member, Result)] in
      var results: [(Member, Result)] = []
      var rest: [Member] = []
      for member in batch.members {
        if let result = state.script(member) { results.append((member, result)) } else { rest.append(member) }
      }
      if !rest.isEmpty { state.held.append(Batch(push: batch.push, rest, report: batch.report)) }
      state.mostHeld = max(state.mostHeld, state.heldMembers)
      return results
    }
    if !results.isEmpty { batch.report(results) }
  }

  /// Gives the same answer to all that is held back of a push.
  package func cancel(_ push: Int64, with result: Result) {
    let held = state.withLock { state in
      defer { state.held.removeAll { $0.push == push } }
      return state.held.filter { $0.push == push }
    }
    for batch in held { batch.report(batch.members.map { ($0, result) }) }
  }
}
