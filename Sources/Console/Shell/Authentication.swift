import Foundation
import HTTPServer
import Model
import OpenSSL
import Reactor
import SQLite
import Store

/// The person or program behind a request, and its role.
enum Principal: Sendable {
  case user(User, Session)
  /// A program with a bearer token.
  case token(APIToken)

  var role: User.Role {
    switch self {
    case .user(let user, _): user.role
    case .token(let token):
      min(token.scopes.contains(.admin) ? .admin : token.role ?? .viewer, token.ownerRole ?? .admin)
    }
  }

  /// The person, or the owner of the token; nil: the token has no owner.
  var person: Int64? {
    switch self {
    case .user(let user, _): user.id
    case .token(let token): token.userID
    }
  }

  /// For approvals.
  var approver: ApprovalRule.Actor { ApprovalRule.Actor(name, person: person) }

  /// The name in the audit log and beside pushes.
  var name: String {
    switch self {
    case .user(let user, _): user.name
    case .token(let token): "token \(token.name)"
    }
  }
}

/// Identifies the principal of a request.
struct Authentication: Sendable {
  /// A session ends 30 days after sign-in at the latest.
  static let lifetime: TimeInterval = 30 * 86_400

  let store: Store
  /// Seconds without use after which a session ends.
  let idle: TimeInterval

  /// The person of the session cookie; nil without a valid session.
  func user(_ request: Request, now: Date) async throws -> Principal? {
    guard let cookie = Cookies.value(Cookies.session, of: request), !cookie.isEmpty else {
      return nil
    }
    let hash = Secret.hash(cookie)
    guard let (session, user) = try await store.session(idHash: hash, idle: idle, now: now) else { return nil }
    // Update once a minute at most: that is precise enough, and saves a write per page.
    if now.timeIntervalSince(session.seenAt) > 60 {
      await store.noteUse { try Session.touch($0, idHash: hash, now: now) }
    }
    return .user(user, session)
  }

  /// Seconds until the session of a request ends if it is not used; 0: there is none. Asking is no use of it.
  func left(_ request: Request, now: Date) async throws -> Int {
    guard let cookie = Cookies.value(Cookies.session, of: request), !cookie.isEmpty,
      let session = try await store.session(idHash: Secret.hash(cookie), idle: idle, now: now)?.session
    else { return 0 }
    let end = min(session.seenAt.addingTimeInterval(idle), session.expiresAt)
    return max(0, Int(end.timeIntervalSince(now).rounded(.up)))
  }

  /// The bearer token of a request.
  ///
  /// - Throws: 401 with the challenge of RFC 6750 if the token is missing or invalid.
  func token(_ request: Request, now: Date) async throws -> APIToken {
    guard let hash = Self.tokenHash(request) else {
      throw HTTPError(
        .unauthorized, "Send an API token: Authorization: Bearer <token>. Create one with `signalbox tokens add`.",
        headers: ["WWW-Authenticate": "Bearer realm=\"Signalbox\""])
    }
    guard let token = try await store.token(hash: hash, now: now) else {
      throw HTTPError(
        .unauthorized, "This token is unknown, expired, or revoked.",
        headers: ["WWW-Authenticate": "Bearer realm=\"Signalbox\", error=\"invalid_token\""])
    }
    if token.lastUsedAt.map({ now.timeIntervalSince($0) > 60 }) ?? true {
      await store.noteUse { try APIToken.touch($0, id: token.id, now: now) }
    }
    return token
  }

  /// The token of a request that was refused, if it was once valid.
  func formerToken(_ request: Request) async throws -> APIToken? {
    guard let hash = Self.tokenHash(request) else { return nil }
    return try await store.read { try APIToken.find($0, hash: hash) }
  }

  private static func tokenHash(_ request: Request) -> [UInt8]? {
    request.credentials("Bearer").map(Secret.hash)
  }

  /// Whether a principal admitted before is still allowed in.
  func isGood(_ principal: Principal, now: Date) async throws -> Bool {
    switch principal {
    case .user(_, let session):
      try await store.session(idHash: session.idHash, idle: idle, now: now).map { found in
        !found.session.lacksSecondStep(found.user.role)
      } ?? false
    case .token(let token): try await store.read { try APIToken.isGood($0, id: token.id, now: now) }
    }
  }

  /// Opens a session and sets its cookie.
  ///
  /// - Parameter secondStep: shown beside the password; nil: none.
  func open(
    _ user: User, _ secondStep: Session.SecondStep?, _ request: Request, on response: inout Response, now: Date
  ) async throws {
    let value = Secret.text()
    let csrf = Random.token(bytes: 18)
    let agent = request.header("User-Agent").map { String($0.prefix(200)) }
    let address = request.remoteAddress?.host
    try await store.write { [idle] database in
      try Session.deleteEnded(database, idle: idle, now: now)
      try Session.open(
        database, idHash: Secret.hash(value), user: user.id, csrf: csrf, lifetime: Self.lifetime,
        address: address, userAgent: agent, secondStep: secondStep, now: now)
    }
    Cookies.set(Cookies.session, value, age: Int(Self.lifetime), on: &response, request)
  }
}

extension Console {
  var authentication: Authentication { Authentication(store: store, idle: configuration.sessionIdle) }
}

extension Store {
  /// Records the use of a session or token. If the database cannot be written, the failure is ignored, so that reading
  /// still works; the next use is recorded instead.
  func noteUse(_ touch: @escaping @Sendable (Database) throws -> Void) async {
    do { try await write(touch) } catch {}
  }
}
