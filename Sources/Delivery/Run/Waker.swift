import Foundation
import Synchronization

/// Calls back once, at the earliest of the given times.
final class Waker: Sendable {
  private struct State {
    var at = Date.distantFuture
    var task: Task<Void, Never>?
    var number = 0
  }

  private let state = Mutex(State())
  private let sleep: @Sendable (Date) async throws -> Void
  private let wake: @Sendable () -> Void

  init(sleep: @escaping @Sendable (Date) async throws -> Void, wake: @escaping @Sendable () -> Void) {
    (self.sleep, self.wake) = (sleep, wake)
  }

  /// Calls back at `date`, unless an earlier call is already set.
  func arm(_ date: Date) {
    state.withLock { state in
      guard date < state.at else { return }
      state.task?.cancel()
      state.number += 1
      let number = state.number
      state.at = date
      state.task = Task { [self] in
        // Cancelled: a newer call replaces this one, or none is wanted.
        do { try await sleep(date) } catch { return }
        let isMine = self.state.withLock { state in
          guard state.number == number else { return false }
          state.at = .distantFuture
          state.task = nil
          return true
        }
        if isMine { wake() }
      }
    }
  }

  func cancel() {
    state.withLock { state in
      state.task?.cancel()
      state.task = nil
      state.number += 1
      state.at = .distantFuture
    }
  }
}
