package import Foundation
internal import SQLite
internal import Synchronization

/// Caches sessions and tokens, so that authenticating a request needs no query.
///
/// Any commit of any process empties the cache. So a revoked token, a disabled person and a changed role take effect at
/// the next request, as if each request read the database.
final class AccessCache: Sendable {
  private struct State {
    var mark: DatabasePool.ChangeMark?
    var sessions: [[UInt8]: (session: Session, user: User)] = [:]
    var tokens: [[UInt8]: APIToken] = [:]

    /// Empties the cache unless it was filled at this mark.
    mutating func keep(only mark: DatabasePool.ChangeMark?) {
      if mark != self.mark || mark == nil { self = State(mark: mark) }
    }
  }

  /// With more sessions or tokens, the cache is emptied.
  private static let limit = 1000

  private let state = Mutex(State())

  func session(_ hash: [UInt8], at mark: DatabasePool.ChangeMark?) -> (session: Session, user: User)? {
    state.withLock { state in
      state.keep(only: mark)
      return state.sessions[hash]
    }
  }

  func token(_ hash: [UInt8], at mark: DatabasePool.ChangeMark?) -> APIToken? {
    state.withLock { state in
      state.keep(only: mark)
      return state.tokens[hash]
    }
  }

  /// Stores a result read after `mark`, unless the mark has changed meanwhile.
  func keep(_ found: (session: Session, user: User), at mark: DatabasePool.ChangeMark?) {
    state.withLock { state in
      guard mark != nil, state.mark == mark else { return }
      if state.sessions.count >= Self.limit { state.sessions = [:] }
      state.sessions[found.session.idHash] = found
    }
  }

  /// Like the above, for a token.
  func keep(_ token: APIToken, hash: [UInt8], at mark: DatabasePool.ChangeMark?) {
    state.withLock { state in
      guard mark != nil, state.mark == mark else { return }
      if state.tokens.count >= Self.limit { state.tokens = [:] }
      state.tokens[hash] = token
    }
  }
}

extension Store {
  /// ``Session/find(_:idHash:idle:now:)``, with a query only if the database has changed.
  package func session(
    idHash: [UInt8], idle: TimeInterval, now: Date
  ) async throws -> (session: Session, user: User)? {
    // Read before the query, so that a commit in between changes the mark.
    let mark = pool.changeMark
    if let kept = access.session(idHash, at: mark) {
      return kept.session.isGood(idle: idle, now: now) ? kept : nil
    }
    guard let found = try await read({ try Session.find($0, idHash: idHash, idle: idle, now: now) }) else { return nil }
    access.keep(found, at: mark)
    return found
  }

  /// ``APIToken/find(_:hash:now:)``, with a query only if the database has changed.
  package func token(hash: [UInt8], now: Date) async throws -> APIToken? {
    let mark = pool.changeMark
    if let kept = access.token(hash, at: mark) { return kept.isGood(now: now) ? kept : nil }
    guard let found = try await read({ try APIToken.find($0, hash: hash, now: now) }) else { return nil }
    access.keep(found, hash: hash, at: mark)
    return found
  }
}
