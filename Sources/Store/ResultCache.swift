package import SQLite
internal import Synchronization

/// Keeps results of queries until the next commit of any process, so that pages and programs that ask again and again
/// cost no query while nothing changes.
final class ResultCache: Sendable {
  private struct State {
    var mark: DatabasePool.ChangeMark?
    var results: [String: any Sendable] = [:]
    var bytes = 0
  }

  /// Beyond it, everything is dropped.
  private static let limit = 8 << 20

  private let state = Mutex(State())

  func result<Result: Sendable>(_ key: String, at mark: DatabasePool.ChangeMark) -> Result? {
    state.withLock { $0.mark == mark ? $0.results[key] as? Result : nil }
  }

  /// Keeps a result read after `mark`.
  ///
  /// - Parameter bytes: roughly how much memory it takes.
  func keep(_ result: some Sendable, as key: String, bytes: Int, at mark: DatabasePool.ChangeMark) {
    state.withLock { state in
      if state.mark != mark || state.bytes + bytes > Self.limit { state = State(mark: mark) }
      guard bytes <= Self.limit / 8, state.results.updateValue(result, forKey: key) == nil else { return }
      state.bytes += bytes
    }
  }
}

extension Store {
  /// ``read(limit:lane:_:)`` with a query only if the database has changed since the last call with this key.
  ///
  /// - Parameters:
  ///   - key: names everything that the result depends on, apart from the database: what was asked for, and the time
  ///     if `body` uses it.
  ///   - bytes: roughly how much memory a result takes.
  package func read<Result: Sendable>(
    keptAs key: String, bytes: (Result) -> Int, _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    // Read before the query, so that a commit in between changes the mark.
    guard let mark = pool.changeMark else { return try await read(body) }
    if let kept: Result = results.result(key, at: mark) { return kept }
    let result = try await read(body)
    results.keep(result, as: key, bytes: bytes(result) + key.utf8.count + 100, at: mark)
    return result
  }
}
