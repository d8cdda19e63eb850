import Push
import Providers
import Synchronization

/// Results on their way from a provider's thread to the task that keeps them.
final class Inbox: Sendable {
  struct Item: Sendable {
    let device: Int64
    let result: SendResult

    /// Whether it did not leave because we no longer wanted it to.
    var wasGivenUp: Bool {
      guard case .notSent(let reason) = result else { return false }
      return reason == OwnReason.cancelled.rawValue || reason == OwnReason.interrupted.rawValue
    }
  }

  private struct State {
    var items: [Item] = []
    var waiter: CheckedContinuation<[Item], Never>?
  }

  private let state = Mutex(State())

  /// Adds results; called on a provider's thread.
  func add(_ items: [Item]) {
    guard !items.isEmpty else { return }
    let waiter = state.withLock { state -> (CheckedContinuation<[Item], Never>, [Item])? in
      state.items += items
      guard let waiter = state.waiter else { return nil }
      let all = state.items
      state.items = []
      state.waiter = nil
      return (waiter, all)
    }
    if let (waiter, items) = waiter { waiter.resume(returning: items) }
  }

  /// All that has come, at least one; waits for it. One caller at a time.
  func take() async -> [Item] {
    await withCheckedContinuation { continuation in
      let items = state.withLock { state -> [Item]? in
        guard state.items.isEmpty else {
          defer { state.items = [] }
          return state.items
        }
        state.waiter = continuation
        return nil
      }
      if let items { continuation.resume(returning: items) }
    }
  }
}
