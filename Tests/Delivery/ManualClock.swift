import Foundation
import Synchronization

/// A clock that stands still until a test moves it.
final class ManualClock: Sendable {
  private struct Sleeper {
    let until: Date
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Date
    var number = 0
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>

  init(_ now: Date) { state = Mutex(State(now: now)) }

  var now: Date { state.withLock { $0.now } }

  /// How many wait for the clock.
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Moves on, and wakes those whose time has come.
  func advance(by seconds: TimeInterval) {
    let woken = state.withLock { state -> [Sleeper] in
      state.now += seconds
      let due = state.sleepers.filter { $0.value.until <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return Array(due.values)
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Waits until the clock has reached a time.
  func sleep(until date: Date) async throws {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if state.now >= date { return .success(()) }
          state.sleepers[number] = Sleeper(until: date, continuation: continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        if let sleeper = state.sleepers.removeValue(forKey: number) { return sleeper }
        state.cancelled.insert(number)
        return nil
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
