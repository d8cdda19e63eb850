import HTTPServer
import Model
import Reactor
import SQLite
import Store

/// What a call of the API needs of a token that has scopes.
enum CallScope {
  case read, devices, certificates, admin
  /// `send-development` or `send-production`, by the environment of what is sent.
  case send
  /// Both: what is changed may be sent in either environment.
  case sendEverywhere
}

/// Which apps a call is about: it decides what a token sees that is limited to some apps.
enum CallReach {
  /// The whole installation: closed to such a token.
  case installation
  /// The app in the path.
  case path
  /// What the path names by its ID.
  case push, schedule, device, incident, smokeTest, certificate
  /// The handler asks ``APIContext``, or the call is about no app.
  case handler
}

/// Who may make a call of the API.
struct CallAccess: Sendable {
  /// The lowest role of a token that has a role, and of a token's owner.
  let role: User.Role
  let scope: CallScope
  let reach: CallReach

  /// - Throws: 403 that names what the token lacks; 404 for what belongs to an app that it does not see.
  func check(_ token: APIToken, _ request: Request, _ store: Store) async throws {
    if !token.addresses.isEmpty {
      let host = request.remoteAddress?.host ?? ""
      guard token.addresses.contains(where: { AddressRange($0)?.contains(host) ?? false }) else {
        throw HTTPError(.forbidden, "This token may not be used from this address (\(host)).")
      }
    }
    if let owner = token.ownerRole, owner < role {
      throw HTTPError(
        .forbidden,
        "The owner of this token has the role \(owner.rawValue), but this request requires \(role.rawValue).")
    }
    if let own = token.role {
      guard own >= role else {
        throw HTTPError(
          .forbidden, "This token has the role \(own.rawValue), but this request requires \(role.rawValue).")
      }
    } else {
      try checkScope(token)
    }
    // Most tokens are limited by nothing, and need no query.
    let isBarred = scope == .send ? try await token.isBarred(store) : false
    let asksEnvironment = isBarred || scope == .send && token.lacksEnvironment
    guard token.apps != nil || asksEnvironment else { return }
    switch reach {
    case .handler: return
    case .installation:
      guard token.apps == nil else {
        throw HTTPError(
          .forbidden, "This token is limited to some apps, but this request is about the whole installation.")
      }
    case .path:
      let bundleID = request.parameters["app"] ?? ""
      try token.check(app: try await store.read { try App.find($0, bundleID: bundleID)?.id }, bundleID)
    case .push, .schedule, .device, .incident, .smokeTest, .certificate:
      // The handler answers what has no such ID.
      guard let subject = try subject(request),
        let owners = try await store.read({ try subject.owners($0) })
      else { return }
      if let apps = token.apps, owners.apps.isEmpty || !owners.apps.isSubset(of: apps) {
        throw HTTPError(.notFound, "Not found among the apps that this token is limited to.")
      }
      if asksEnvironment, let environment = owners.environment {
        try token.check(sendingIn: environment)
        if isBarred, environment == .production { throw APIError.notPermitted }
      }
    }
  }

  private func checkScope(_ token: APIToken) throws {
    switch scope {
    case .read: try token.check(.read)
    case .devices: try token.check(.devices)
    case .certificates: try token.check(.certificates)
    case .admin: try token.check(.admin)
    case .sendEverywhere:
      for environment in Environment.allCases { try token.check(sendingIn: environment) }
    case .send:
      guard Environment.allCases.contains(where: { token.has(.send($0)) }) else {
        throw APIToken.lacking("send-development or send-production")
      }
    }
  }

  private func subject(_ request: Request) throws -> TokenSubject? {
    func id() throws -> Int64 { try request.parameter("id") }
    let uid = request.parameters["id"] ?? ""
    return switch reach {
    case .installation, .path, .handler: nil
    case .push: .push(uid)
    case .schedule: .schedule(uid)
    case .device: .device(try id())
    case .incident: .incident(try id())
    case .smokeTest: .smokeTest(try id())
    case .certificate: .certificate(try id())
    }
  }
}

extension APIToken {
  fileprivate func has(_ scope: TokenScope) -> Bool {
    role != nil || scopes.contains(scope) || scopes.contains(.admin)
  }

  /// Whether it may send in one environment alone.
  fileprivate var lacksEnvironment: Bool { !Environment.allCases.allSatisfy { has(.send($0)) } }

  /// Whether its owner may not send to production. A token without an owner is limited by its scopes alone.
  fileprivate func isBarred(_ store: Store) async throws -> Bool {
    guard let userID else { return false }
    return try await store.read { try !Approval.maySend($0, person: userID) }
  }

  /// - Throws: 403 with the challenge of RFC 6750 §3.1.
  fileprivate func check(_ scope: TokenScope) throws {
    if !has(scope) { throw Self.lacking(scope.rawValue) }
  }

  /// What a token with a role may send was decided by its role.
  func check(sendingIn environment: Environment) throws { try check(TokenScope.send(environment)) }

  fileprivate static func lacking(_ scope: String) -> HTTPError {
    HTTPError(
      .forbidden, "This token lacks the scope \(scope), which this request requires.",
      headers: ["WWW-Authenticate": "Bearer realm=\"Signalbox\", error=\"insufficient_scope\""])
  }

  /// - Parameters:
  ///   - id: nil: there is no such app.
  ///   - bundleID: for the message.
  /// - Throws: 403 unless the token sees the app. It does not tell whether there is one.
  func check(app id: Int64?, _ bundleID: String) throws {
    guard let apps else { return }
    guard let id, apps.contains(id) else {
      throw HTTPError(
        .forbidden,
        "This token is limited to some apps, and \(bundleID.prefix(AppName.bundleIDLimit)) is not one of them.")
    }
  }
}

extension APIContext {
  /// Nil: a person, who is limited to no app.
  private var token: APIToken? { if case .token(let token) = principal { token } else { nil } }

  /// The apps that the token is limited to; nil: all.
  var apps: Set<Int64>? { token?.apps }

  /// Whether the token sees what belongs to an app.
  func sees(app id: Int64) -> Bool { apps?.contains(id) ?? true }

  /// - Throws: 403 if the token may not use an app that a body names.
  func check(app bundleID: String) async throws {
    guard let token, token.apps != nil else { return }
    try token.check(app: try await store.read { try App.find($0, bundleID: bundleID)?.id }, bundleID)
  }

  /// - Throws: 403 if the token may not use a draft's app, or may not send where it reaches phones.
  func check(sending draft: PushDraft) async throws {
    guard let token else { return }
    try await check(app: draft.app)
    let reached = try await store.read { try ProductionGuard.environment($0, of: draft) }
    try token.check(sendingIn: reached)
    try await check(owner: token, sendingIn: reached)
  }

  /// - Throws: 403 if it is the token of a person who may not send there, whatever its scopes.
  func check(ownerSendingIn environment: Environment) async throws {
    if let token { try await check(owner: token, sendingIn: environment) }
  }

  private func check(owner token: APIToken, sendingIn environment: Environment) async throws {
    if environment == .production, try await token.isBarred(store) { throw APIError.notPermitted }
  }

  func leaving(_ database: Database) throws -> LeavingProduction {
    LeavingProduction(
      maySend: try token?.has(.sendProduction) ?? true && Approval.maySend(database, person: principal.person))
  }

  /// The app that a body or a filter names.
  ///
  /// - Throws: `Problems` at `app` for an unknown one: an empty list would hide a misspelled bundle ID. 403 if the token
  ///   does not see it.
  func filter(_ database: Database, app bundleID: String?) throws -> App? {
    guard let bundleID else { return nil }
    let app = try App.find(database, bundleID: bundleID)
    try token?.check(app: app?.id, bundleID)
    guard let app else { throw Problems([Problem("app", DraftMessage.noApp, ["app": bundleID])]) }
    return app
  }

  /// A page of a list of several apps, without what the token does not see.
  ///
  /// - Parameters:
  ///   - app: the app of an item; nil: it belongs to none.
  ///   - list: reads a page from a cursor on, with at most so many items.
  func seen<Item>(
    cursor: String?, limit: Int, app: (Item) throws -> Int64?, _ list: (String?, Int) throws -> Page<Item>
  ) throws -> Page<Item> {
    var page = try list(cursor, limit)
    guard let apps else { return page }
    func isSeen(_ item: Item) throws -> Bool { try app(item).map(apps.contains) ?? false }
    var items = try page.items.filter(isSeen)
    // A page may stay short: the next one continues there.
    for _ in 0..<Self.mostReads {
      guard items.count < limit, let next = page.next else { break }
      page = try list(next, limit - items.count)
      items += try page.items.filter(isSeen)
    }
    return Page(items: items, next: page.next)
  }

  /// Reads of a list for one page, so that other apps' items cannot hold the database.
  private static var mostReads: Int { 20 }
}
