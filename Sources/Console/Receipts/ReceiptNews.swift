import Synchronization

/// Tells open pages and streams which pushes got new receipts.
final class ReceiptNews: Sendable {
  private struct State {
    var watchers: [Int64: [Int: AsyncStream<Void>.Continuation]] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  /// An element whenever a push has new receipts; a slow reader gets one for many.
  func watch(_ push: Int64) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.last += 1
      state.watchers[push, default: [:]][state.last] = continuation
      return state.last
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number, of: push) }
    return stream
  }

  func tell(_ pushes: Set<Int64>) {
    let watchers = state.withLock { state in pushes.flatMap { state.watchers[$0].map { Array($0.values) } ?? [] } }
    for watcher in watchers { watcher.yield() }
  }

  private func remove(_ number: Int, of push: Int64) {
    state.withLock { state in
      state.watchers[push]?[number] = nil
      if state.watchers[push]?.isEmpty == true { state.watchers[push] = nil }
    }
  }
}
