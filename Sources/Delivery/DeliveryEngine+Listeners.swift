import Foundation
import Providers
import SQLite
import Store
import Synchronization

/// Progress and errors of active pushes.
extension DeliveryEngine {
  /// Why nothing is sent, or nil: the store could not be read at the start, a push's results cannot be stored, or
  /// ``run()`` has ended.
  package var trouble: String? {
    state.withLock { state in state.trouble ?? state.running.values.lazy.compactMap(\.storeTrouble).first }
  }

  /// Why a push is stalled: it waits for the store, or an error stopped it. Otherwise nil.
  package func trouble(push id: Int64) -> String? {
    state.withLock { $0.running[id].map(\.storeTrouble) ?? $0.stopped[id]?.reason }
  }

  /// A push's progress: the current state first, then each change. Ends when the push is done.
  package func progress(_ id: Int64) async throws -> AsyncStream<PushProgress> {
    let (stream, continuation) = AsyncStream.makeStream(of: PushProgress.self, bufferingPolicy: .bufferingNewest(1))
    let isRunning = state.withLock { state in
      guard let running = state.running[id] else { return false }
      state.nextListener += 1
      let number = state.nextListener
      state.running[id]?.listeners[number] = continuation
      continuation.onTermination = { [weak self] _ in self?.remove(listener: number, of: id) }
      if let progress = running.progress { continuation.yield(progress) }
      return true
    }
    if !isRunning {
      continuation.yield(try await store.read { try PushProgress.find($0, push: id) })
      continuation.finish()
    }
    return stream
  }

  /// Signals that an inactive push may have changed: when it starts or gets an order, and within a second of a commit
  /// because another process may have changed it.
  package func news(_ id: Int64) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.nextListener += 1
      state.followers[id, default: [:]][state.nextListener] = continuation
      return state.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in
        state.followers[id]?[number] = nil
        if state.followers[id]?.isEmpty ?? false { state.followers[id] = nil }
      }
    }
    return stream
  }

  func tell(_ id: Int64) {
    for follower in state.withLock({ Array($0.followers[id, default: [:]].values) }) { follower.yield() }
  }

  private func remove(listener: Int, of id: Int64) {
    state.withLock { state in state.running[id]?.listeners[listener] = nil }
  }

  func publish(_ id: Int64, _ progress: PushProgress) {
    let (told, listeners) = state.withLock { state in
      var told = progress
      told.trouble = state.running[id]?.storeTrouble ?? progress.trouble
      state.running[id]?.progress = told
      return (told, state.running[id]?.listeners.values.map { $0 } ?? [])
    }
    for listener in listeners { listener.yield(told) }
  }

  /// Sets why a push waits for the store; nil once it continues.
  func note(_ id: Int64, storeTrouble reason: String?) {
    let progress = state.withLock { state in
      state.running[id]?.storeTrouble = reason
      var progress = state.running[id]?.progress
      progress?.trouble = reason
      return progress
    }
    if let progress { publish(id, progress) }
  }
}
