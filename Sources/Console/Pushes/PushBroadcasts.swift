import Delivery
import HTTPServer
import JSON
import Model
import Store
import Synchronization

/// The event streams of pushes. However many clients watch a push, it is followed once, and each change is rendered
/// once per language.
final class PushBroadcasts: Sendable {
  private typealias Rendering = @Sendable (PushProgress) -> String
  /// Encoded events; a slow reader gets only the newest.
  typealias Events = AsyncThrowingStream<[UInt8], any Error>

  private struct Watcher {
    let form: String
    let continuation: Events.Continuation
  }

  /// One watched push.
  private struct Feed {
    let number: Int
    let task: Task<Void, Never>
    var watchers: [Int: Watcher] = [:]
    var renderings: [String: Rendering] = [:]
    var latest: PushProgress?
    /// ``latest``, encoded per form.
    var encoded: [String: [UInt8]] = [:]

    mutating func event(_ form: String) -> [UInt8]? {
      guard let latest, let rendering = renderings[form] else { return nil }
      if let known = encoded[form] { return known }
      let bytes = Array(ServerSentEvent(data: rendering(latest), event: "progress").encoded.utf8)
      encoded[form] = bytes
      return bytes
    }
  }

  private struct State {
    var feeds: [Int64: Feed] = [:]
    var lastNumber = 0
  }

  private let engine: DeliveryEngine
  private let store: Store
  private let state = Mutex(State())

  init(engine: DeliveryEngine, store: Store) {
    self.engine = engine
    self.store = store
  }

  /// The number of pushes that are followed.
  var count: Int { state.withLock { $0.feeds.count } }

  /// A push's progress: the current state first, then each change. Ends when the push is done.
  ///
  /// - Parameters:
  ///   - form: identifies the rendering, such as a language; the first rendering passed for a form is used for all its
  ///     watchers.
  ///   - rendering: makes the data of an event.
  func events(
    of push: Int64, as form: String, _ rendering: @escaping @Sendable (PushProgress) -> any JSONWritable
  ) -> Events {
    let (events, continuation) = Events.makeStream(bufferingPolicy: .bufferingNewest(1))
    let (feed, watcher) = state.withLock { state -> (Int, Int) in
      state.lastNumber += 2
      let (fresh, watcher) = (state.lastNumber - 1, state.lastNumber)
      var feed = state.feeds[push] ?? Feed(number: fresh, task: follow(push, feed: fresh))
      feed.watchers[watcher] = Watcher(form: form, continuation: continuation)
      if feed.renderings[form] == nil { feed.renderings[form] = { JSONWriter.text(of: rendering($0)) } }
      if let present = feed.event(form) { continuation.yield(present) }
      state.feeds[push] = feed
      return (feed.number, watcher)
    }
    continuation.onTermination = { [weak self] _ in self?.remove(watcher, of: push, feed: feed) }
    return events
  }

  private func follow(_ push: Int64, feed number: Int) -> Task<Void, Never> {
    let follower = PushFollower(id: push, engine: engine, store: store)
    return Task { [weak self] in
      do {
        try await follower.follow { self?.publish($0, of: push, feed: number) }
        self?.end(push, feed: number, nil)
      } catch {
        self?.end(push, feed: number, error)
      }
    }
  }

  private func publish(_ progress: PushProgress, of push: Int64, feed number: Int) {
    let events = state.withLock { state -> [(Events.Continuation, [UInt8])] in
      guard var feed = state.feeds[push], feed.number == number else { return [] }
      feed.latest = progress
      feed.encoded = [:]
      let events = feed.watchers.values.compactMap { watcher in
        feed.event(watcher.form).map { (watcher.continuation, $0) }
      }
      state.feeds[push] = feed
      return events
    }
    for (continuation, event) in events { continuation.yield(event) }
  }

  private func end(_ push: Int64, feed number: Int, _ error: (any Error)?) {
    let watchers = state.withLock { state -> [Watcher] in
      guard let feed = state.feeds[push], feed.number == number else { return [] }
      state.feeds[push] = nil
      return Array(feed.watchers.values)
    }
    for watcher in watchers { watcher.continuation.finish(throwing: error) }
  }

  /// Removes a watcher; the last one stops the follower.
  private func remove(_ watcher: Int, of push: Int64, feed number: Int) {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard var feed = state.feeds[push], feed.number == number else { return nil }
      feed.watchers[watcher] = nil
      state.feeds[push] = feed.watchers.isEmpty ? nil : feed
      return feed.watchers.isEmpty ? feed.task : nil
    }
    task?.cancel()
  }
}
