import Model
import Synchronization

/// What reached the simulated services, newest last, refused requests included. Kept in memory: the last ``limit``, or
/// fewer if they are large. Safe to use from any thread.
package final class RequestBook: Sendable {
  package static let limit = 1000
  /// Bytes of all of them, about.
  static let byteLimit = 32 << 20

  private struct State {
    var items: [CaughtRequest] = []
    /// Those before it are forgotten.
    var start = 0
    var bytes = 0
    var lastID: Int64 = 0
    var watchers: [Int: AsyncStream<CaughtRequest>.Continuation] = [:]
    var lastWatcher = 0
  }

  private let state = Mutex(State())

  func add(_ request: CaughtRequest) {
    state.withLock { state in
      state.lastID += 1
      var request = request
      request.id = state.lastID
      state.items.append(request)
      state.bytes += request.cost
      while state.items.count - state.start > Self.limit || state.bytes > Self.byteLimit {
        state.bytes -= state.items[state.start].cost
        state.start += 1
      }
      if state.start > Self.limit / 4 {
        state.items.removeFirst(state.start)
        state.start = 0
      }
      for watcher in state.watchers.values { watcher.yield(request) }
    }
  }

  package func clear() {
    state.withLock { state in (state.items, state.start, state.bytes) = ([], 0, 0) }
  }

  /// Matching requests, newest first.
  package func requests(_ query: RequestQuery) -> [CaughtRequest] {
    // Without the lock: bodies are read.
    let items = state.withLock { $0.items[$0.start...] }
    return items.reversed().filter(query.wants)
  }

  /// Waits for `count` matching requests, at most for `limit`; then there may be fewer.
  package func requests(_ query: RequestQuery, atLeast count: Int, within limit: Duration) async -> [CaughtRequest] {
    // Before the first search, so that no request is missed.
    let changes = changes()
    let present = requests(query)
    if present.count >= count || limit == .zero { return present }
    await wait(for: changes, within: limit) { query.wants($0) && self.requests(query).count >= count }
    return requests(query)
  }

  private func changes() -> AsyncStream<CaughtRequest> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: CaughtRequest.self, bufferingPolicy: .bufferingNewest(Self.limit))
    let watcher = state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = continuation
      return state.lastWatcher
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.watchers.removeValue(forKey: watcher) }
    }
    return stream
  }
}

/// A search among requests, for tests.
package struct RequestQuery: Sendable, Hashable {
  package var server: SimulatedServer?
  package var outcome: CaughtRequest.Outcome?
  package var status: Int?
  package var reason: String?
  /// A device token, in upper or lower case, a registration token or a registration ID.
  package var token: String?
  package var phone: Int64?
  /// Requests of the push with this ID (``APNsPayload/idKey``).
  package var push: String?
  package var content = ContentQuery()
  /// Requests with a greater ``CaughtRequest/id``.
  package var after: Int64 = 0

  package init() {}

  func wants(_ request: CaughtRequest) -> Bool {
    guard request.id > after, server == nil || server == request.server, outcome == nil || outcome == request.outcome,
      status == nil || status == request.status, reason == nil || reason == request.reason,
      phone.map(request.phones.contains) ?? true
    else { return false }
    if let token, !request.tokens.contains(where: { Self.isSame($0, token, on: request.server) }) { return false }
    if let push, push != request.push { return false }
    return content.wants(request.alert, texts: request.texts, json: request.json)
  }

  private static func isSame(_ one: String, _ other: String, on server: SimulatedServer) -> Bool {
    switch server {
    case .development, .production: one.lowercased() == other.lowercased()
    case .fcm, .jpush: one == other
    }
  }
}
