import Foundation
import HTTPServer
import Reactor
import Synchronization

/// Limits API calls per token and address, and pages per session, with token buckets in memory: a restart resets them.
///
/// Calls from this machine are not limited. A reverse proxy must be declared (`--trusted-proxy`), so that its clients
/// have addresses of their own.
final class RateLimits: Sendable {
  /// Calls in a minute; 0: no limit. As many can be made at once after a pause.
  struct Quotas: Sendable, Hashable {
    var token: Int
    var address: Int
    var session: Int
  }

  /// Whose calls are counted.
  private enum Subject: Hashable {
    case token(Int64)
    case address(String)
    case session([UInt8])
    /// All addresses for which there is no more room.
    case others
  }

  private struct Bucket {
    /// Calls that can be made now.
    var level: Double
    var at: Date
  }

  /// Buckets that are kept at the same time, so that many addresses do not fill the memory.
  private static let most = 100_000
  private static let window: TimeInterval = 60
  /// Between two searches for buckets that are full again: each looks at all of them.
  private static let cleaning: TimeInterval = 10

  private struct State {
    var buckets: [Subject: Bucket] = [:]
    var cleanedAt = Date.distantPast
  }

  private let quotas: Quotas
  private let policy: String
  private let state = Mutex(State())

  init(_ quotas: Quotas) {
    self.quotas = quotas
    policy = [("token", quotas.token), ("address", quotas.address)].filter { $0.1 > 0 }
      .map { "\"\($0.0)\";q=\($0.1);w=\(Int(Self.window))" }.joined(separator: ", ")
  }

  /// What is left of a quota: the fields of draft-ietf-httpapi-ratelimit-headers-11.
  struct Standing {
    fileprivate let policy: String
    fileprivate let name: String
    fileprivate let remaining: Int
    /// Seconds until the whole quota is there again.
    fileprivate let reset: Int

    func write(to headers: inout Headers) {
      headers.append("RateLimit-Policy", policy)
      headers.append("RateLimit", "\"\(name)\";r=\(remaining);t=\(reset)")
    }
  }

  /// Counts a call of an address before anything is looked up.
  ///
  /// - Returns: whether the call is limited at all.
  /// - Throws: 429.
  func take(_ request: Request, now: Date) throws -> Bool {
    guard let peer = request.remoteAddress, !peer.isLoopback else { return false }
    if quotas.address > 0 {
      _ = try take(.address(ClientLimits.address(request) ?? ""), "address", quotas.address, now)
    }
    return true
  }

  /// Counts a call of a token.
  ///
  /// - Returns: what is left; nil without a limit.
  /// - Throws: 429.
  func take(token id: Int64, now: Date) throws -> Standing? {
    quotas.token > 0 ? try take(.token(id), "token", quotas.token, now) : nil
  }

  /// Counts a request of a signed-in browser.
  ///
  /// - Returns: seconds to wait; nil: it may go on.
  func wait(session idHash: [UInt8], _ request: Request, now: Date) -> Int? {
    guard quotas.session > 0, let peer = request.remoteAddress, !peer.isLoopback else { return nil }
    do throws(HTTPError) {
      _ = try take(.session(idHash), "session", quotas.session, now)
      return nil
    } catch {
      return error.headers["Retry-After"].flatMap { Int($0) } ?? 1
    }
  }

  private func take(_ subject: Subject, _ name: String, _ quota: Int, _ now: Date) throws(HTTPError) -> Standing {
    let level = state.withLock { state in
      var subject = subject
      if state.buckets[subject] == nil, state.buckets.count >= Self.most {
        if now.timeIntervalSince(state.cleanedAt) >= Self.cleaning {
          state.cleanedAt = now
          state.buckets = state.buckets.filter { now.timeIntervalSince($0.value.at) < Self.window }
        }
        if state.buckets.count >= Self.most { subject = .others }
      }
      var bucket = state.buckets[subject] ?? Bucket(level: Double(quota), at: now)
      // A clock that was set back fills nothing.
      let gained = max(0, now.timeIntervalSince(bucket.at)) * Double(quota) / Self.window
      bucket = Bucket(level: min(Double(quota), bucket.level + gained), at: now)
      let isTaken = bucket.level >= 1
      if isTaken { bucket.level -= 1 }
      state.buckets[subject] = bucket
      return isTaken ? bucket.level : bucket.level - 1
    }
    let missing = Double(quota) - max(0, level)
    let standing = Standing(
      policy: policy, name: name, remaining: max(0, Int(level)),
      reset: Int((missing * Self.window / Double(quota)).rounded(.up)))
    guard level < 0 else { return standing }
    var headers: Headers = ["Retry-After": String(max(1, Int((-level * Self.window / Double(quota)).rounded(.up))))]
    standing.write(to: &headers)
    throw HTTPError(
      .tooManyRequests, "Too many calls: this \(name) may make \(quota) per minute. Wait for the time in Retry-After.",
      headers: headers)
  }
}
