import Delivery
import Store

/// Follows a push to its end, whether or not the engine is sending it, for the event streams of the page and the API.
struct PushFollower: Sendable {
  let id: Int64
  let engine: DeliveryEngine
  let store: Store

  /// Calls `send` on every change; returns when the push is done or the task is cancelled.
  ///
  /// The end is read from the store, so everything is committed when `send` receives it.
  func follow(_ send: (PushProgress) async throws -> Void) async throws {
    var last: PushProgress?
    // Subscribes before the first read, so no change is missed.
    var news = engine.news(id).makeAsyncIterator()
    repeat {
      for await news in try await engine.progress(id) where !news.isFinal {
        // The engine counts what waits, and does not look whether each device is still active.
        let progress = try await news.waiting == 0 ? news : store.read { [id] in try news.foreseen($0, push: id) }
        guard progress != last else { continue }
        last = progress
        try await send(progress)
      }
      let kept = try await store.read { [id] in try PushProgress.find($0, push: id) }
      if kept != last { try await send(kept) }
      last = kept
      if kept.isFinal { return }
      // The push is queued, paused, or waiting for the next start.
    } while await news.next() != nil
  }
}

extension Console {
  /// Returns when every push is over, or after a moment.
  func wait(for pushes: [Push]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await configuration.answerPause() }
      group.addTask {
        for push in pushes { try await PushFollower(id: push.id, engine: engine, store: store).follow { _ in } }
      }
      _ = try await group.next()
      group.cancelAll()
    }
  }
}
