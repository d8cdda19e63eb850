import Foundation
import HTTPServer
import Model
import Reactor
import Store
import Synchronization
import Text

/// Finds the app whose key pair a request carries (HTTP Basic, RFC 7617), before any of its body is read.
enum JPushAccess {
  /// - Throws: ``JPushError``: not authenticated; ``WrongSecrets``.
  static func call(
    _ console: Console, _ request: Request, _ family: JPushFamily, now: Date
  ) async throws -> JPushCall {
    switch try await find(console, request, credentials(request), now: now) {
    case .refused: throw family.unauthorized(hasKeys: request.headers["Authorization"] != nil)
    case .tooOften(let seconds):
      throw WrongSecrets(
        error: JPushError(.tooOften, "Too many wrong secrets from this address. Wait \(seconds) s."), wait: seconds)
    case .found(let key, let app):
      return JPushCall(console: console, request: request, key: key, app: app, family: family, now: now)
    }
  }

  /// Who a key pair belongs to.
  enum Found {
    case found(JPushKey, App)
    case refused
    /// Too many wrong secrets came from this address: seconds to wait.
    case tooOften(Int)
  }

  /// Too many wrong secrets, with the seconds to wait.
  struct WrongSecrets: Error {
    let error: JPushError
    let wait: Int
  }

  /// Looks a key pair up, and counts wrong ones by address.
  static func find(
    _ console: Console, _ request: Request, _ credentials: (name: String, secret: String)?, now: Date
  ) async throws -> Found {
    guard let (name, secret) = credentials else { return .refused }
    let found = try await console.store.read { database in
      try JPushKey.find(database, appKey: name).flatMap { key in try App.find(database, id: key.appID).map { (key, $0) }
      }
    }
    // Unknown app keys share one counter, so that guessing them fills no memory.
    let subject = JPushLimits.Stranger(request.remoteAddress, appKey: found?.0.appKey)
    let who = "app key \(found == nil ? "unknown" : name)"
    let entry = NewAuditEntry(actor: who, action: "token.refused", subject: who, address: request.remoteAddress?.host)
    if let seconds = console.jpushLimits.wait(subject, now: now) {
      await console.noteRefusal(ofStranger: entry, request, .tooManyRequests, "too many wrong secrets", now: now)
      return .tooOften(seconds)
    }
    guard let (key, app) = found, key.isRight(secret) else {
      console.jpushLimits.countWrong(subject, now: now)
      await console.noteRefusal(ofStranger: entry, request, .unauthorized, "wrong key pair", now: now)
      return .refused
    }
    if key.lastUsedAt.map({ now.timeIntervalSince($0) > 60 }) ?? true {
      await console.store.noteUse { try JPushKey.touch($0, app: app.id, now: now) }
    }
    return .found(key, app)
  }

  private static func credentials(_ request: Request) -> (name: String, secret: String)? {
    request.basicCredentials.flatMap { known(name: $0.name, secret: $0.password) }
  }

  /// App key and secret of `appkey:secret`.
  static func pair(_ text: String) -> (name: String, secret: String)? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    return known(name: String(text[..<colon]), secret: String(text[text.index(after: colon)...]))
  }

  /// Nil if one is longer than any key: not worth a query or a hash.
  private static func known(name: String, secret: String) -> (name: String, secret: String)? {
    name.utf8.count <= 64 && secret.utf8.count <= 256 ? (name, secret) : nil
  }
}

/// Counts calls by app and wrong secrets by address, each in windows of one minute that begin with the first one. In
/// memory: a restart begins anew.
final class JPushLimits: Sendable {
  /// Wrong secrets for one app key from one address in a minute. Others with the right secret at other addresses are not
  /// affected, and nobody can lock them out.
  static let wrongLimit = 10
  /// Strangers that are remembered at the same time, twice: with more of them, those seen longest ago begin anew.
  static let strangersLimit = 10_000
  private static let length: TimeInterval = 60

  /// An address (of IPv6 the network /64, which one customer has) and the app key it tries; nil: an unknown one.
  struct Stranger: Hashable {
    private let address: String
    private let appKey: String?

    init(_ address: SocketAddress?, appKey: String?) {
      self.address = address.map { $0.bytes.count == 16 ? $0.network(64) : $0.host } ?? ""
      self.appKey = appKey
    }
  }

  /// What is left of a minute's calls.
  struct Quota {
    let limit: Int
    /// Below 0: this call is one too many.
    let remaining: Int
    /// Seconds.
    let reset: Int

    /// A call without the right keys, or to no route, counts for no app. Clients read the limits from every answer.
    static func uncounted(_ family: JPushFamily) -> Quota {
      Quota(limit: family.quota, remaining: family.quota, reset: Int(JPushLimits.length))
    }

    /// JPush's documents name the limit Quota, its client for Java reads Limit (docs/protocols.md §4.3).
    func add(to response: inout Response) {
      for (name, value) in [
        ("Quota", limit), ("Limit", limit), ("Remaining", max(0, remaining)), ("Reset", reset),
      ] { response.headers.append("X-Rate-Limit-\(name)", String(value)) }
      if remaining < 0 { response.headers.setDefault("Retry-After", String(reset)) }
    }
  }

  private struct Window {
    let start: Date
    var count = 0

    func isOver(_ now: Date) -> Bool { !(0..<JPushLimits.length).contains(now.timeIntervalSince(start)) }

    /// Seconds until it is over.
    func left(_ now: Date) -> Int { max(1, Int((JPushLimits.length - now.timeIntervalSince(start)).rounded(.up))) }
  }

  private struct Subject: Hashable {
    let app: Int64
    let family: JPushFamily
  }

  private struct State {
    var calls: [Subject: Window] = [:]
    /// At most ``strangersLimit``; once it is full, it takes the place of ``former``: no call looks at all of them.
    var recent: [Stranger: Window] = [:]
    var former: [Stranger: Window] = [:]

    func wrong(_ stranger: Stranger, _ now: Date) -> Window? {
      (recent[stranger] ?? former[stranger]).flatMap { $0.isOver(now) ? nil : $0 }
    }
  }

  private let state = Mutex(State())

  /// Counts a call.
  func count(app: Int64, _ family: JPushFamily, now: Date) -> Quota {
    state.withLock { state in
      let subject = Subject(app: app, family: family)
      var window = state.calls[subject].flatMap { $0.isOver(now) ? nil : $0 } ?? Window(start: now)
      window.count = min(window.count + 1, family.quota + 1)
      state.calls[subject] = window
      return Quota(limit: family.quota, remaining: family.quota - window.count, reset: window.left(now))
    }
  }

  /// Seconds until another secret is looked at; nil: now.
  func wait(_ stranger: Stranger, now: Date) -> Int? {
    state.withLock { state in
      guard let window = state.wrong(stranger, now), window.count >= Self.wrongLimit else { return nil }
      return window.left(now)
    }
  }

  func countWrong(_ stranger: Stranger, now: Date) {
    state.withLock { state in
      var window = state.wrong(stranger, now) ?? Window(start: now)
      window.count += 1
      if state.recent[stranger] == nil, state.recent.count >= Self.strangersLimit {
        (state.former, state.recent) = (state.recent, [:])
      }
      state.recent[stranger] = window
    }
  }
}
