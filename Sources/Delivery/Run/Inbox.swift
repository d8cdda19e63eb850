import Providers
import Model
import Store
import Synchronization

/// Passes results from a provider's thread to the run's task.
final class Inbox: Sendable {
  struct Item: Sendable {
    let device: Int64
    let result: SendResult
    /// The message that this device and others got, if it is the first of them.
    var message: SentJPushMessage?
    /// Names of messages to this device and others, by their IDs, if it is the first of them.
    var names: [Int64: String] = [:]
    /// The same for what came.
    var answers: [Int64: ReceivedAnswer] = [:]
  }

  private struct State {
    var items: [Item] = []
    var isNudged = false
    var waiter: CheckedContinuation<[Item], Never>?

    mutating func takeAll() -> [Item] {
      isNudged = false
      defer { items = [] }
      return items
    }
  }

  private let state = Mutex(State())

  /// Called on a provider's thread.
  func add(_ items: [Item]) {
    if !items.isEmpty { change { $0.items += items } }
  }

  /// Ends the current or next wait even without results, so that the run looks at its state.
  func nudge() { change { $0.isNudged = true } }

  private func change(_ body: (inout State) -> Void) {
    let waiter = state.withLock { state -> (CheckedContinuation<[Item], Never>, [Item])? in
      body(&state)
      guard let waiter = state.waiter else { return nil }
      state.waiter = nil
      return (waiter, state.takeAll())
    }
    if let (waiter, items) = waiter { waiter.resume(returning: items) }
  }

  /// Waits for results or a nudge, and takes all results. One caller at a time.
  func take() async -> [Item] {
    await withCheckedContinuation { continuation in
      let items = state.withLock { state -> [Item]? in
        if !state.items.isEmpty || state.isNudged { return state.takeAll() }
        state.waiter = continuation
        return nil
      }
      if let items { continuation.resume(returning: items) }
    }
  }
}
