import Delivery
import Store

/// Follows a push to its end, whether or not it is its turn: for the streams of the page and of the API.
struct PushFollower: Sendable {
  let id: Int64
  let engine: DeliveryEngine
  let store: Store

  /// Calls `send` whenever something has changed; returns with the end, or when the task is cancelled.
  ///
  /// The end is told by the store alone: whoever hears of it finds everything written down.
  func follow(_ send: (PushProgress) async throws -> Void) async throws {
    var last: PushProgress?
    // Before the first look, so that nothing falls between the two.
    var news = engine.news(id).makeAsyncIterator()
    repeat {
      for await progress in try await engine.progress(id) where !progress.isFinal && progress != last {
        last = progress
        try await send(progress)
      }
      let kept = try await store.read { [id] in try PushProgress.find($0, push: id) }
      if kept != last { try await send(kept) }
      last = kept
      if kept.isFinal { return }
      // It waits for its turn, for a person, or for the next start.
    } while await news.next() != nil
  }
}
