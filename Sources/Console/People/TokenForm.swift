package import Foundation
package import JSON
package import Model
package import SQLite
package import Store

/// An API token from the form, the API, or the command line, validated.
package struct TokenForm: Sendable {
  private static let nameLimit = 100
  private static let addressLimit = 50
  /// The longest lifetime: ten years.
  package static let mostDays = 3650
  private static let words = TokenScope.allCases.map(\.rawValue)

  package var name = ""
  /// Scopes, or a role.
  package var words: [String] = []
  /// Bundle IDs; nil: all apps.
  package var apps: [String]?
  package var addresses: [String] = []
  /// The lifetime in days; nil: no end.
  package var days: Int? = APIToken.usualDays

  package init() {}

  package var problems: [Problem] {
    var problems = [AppName.problem(withRequiredName: name, limit: Self.nameLimit)?.under("name")].compactMap(\.self)
    let known = Self.words + User.Role.allCases.map(\.rawValue)
    if words.isEmpty || words.contains(where: { !known.contains($0) }) {
      problems.append(
        Problem(
          "scopes", code: "token.scopes", "Choose at least one permission: {scopes}.",
          ["scopes": Self.words.joined(separator: ", ")]))
    } else if words.count > 1, words.contains(where: { $0 != "admin" && User.Role(rawValue: $0) != nil }) {
      problems.append(Problem("scopes", code: "token.one_role", "A token has either one role or scopes, not both."))
    }
    if apps?.isEmpty == true {
      problems.append(Problem("apps", code: "token.apps", "Choose at least one app, or all apps."))
    }
    for address in addresses.prefix(Self.addressLimit) where AddressRange(address) == nil {
      problems.append(
        Problem(
          "addresses", code: "token.address",
          "“{address}” is not an IP address or a range such as 10.0.0.0/8 or 2001:db8::/32.",
          ["address": String(address.prefix(60))]))
    }
    if addresses.count > Self.addressLimit {
      problems.append(
        Problem(
          "addresses", code: "token.addresses", "There can be at most {limit} addresses.",
          ["limit": "\(Self.addressLimit)"]))
    }
    if let days, !(1...Self.mostDays).contains(days) { problems.append(Self.badLifetime) }
    return problems
  }

  private static var badLifetime: Problem {
    Problem("expires", code: "token.expires", "Must be 1d to {limit}d, or never.", ["limit": "\(mostDays)"])
  }

  /// Reads `90d` or `never`.
  package static func days(_ text: String) throws(Problem) -> Int? {
    if text == "never" { return nil }
    guard text.hasSuffix("d"), let days = Int(text.dropLast()), (1...mostDays).contains(days) else {
      throw badLifetime
    }
    return days
  }

  /// Adds the token, with its audit entry.
  ///
  /// - Parameter audit: without action and subject.
  /// - Returns: the token and its secret, which is stored nowhere.
  /// - Throws: `Problems` for an unknown app.
  package func add(
    _ database: Database, user: Int64?, audit: NewAuditEntry, now: Date
  ) throws -> (token: APIToken, secret: String) {
    let ids = try apps?.map { bundleID in
      guard let app = try App.find(database, bundleID: bundleID) else {
        throw Problems([Problem("apps", DraftMessage.noApp, ["app": bundleID])])
      }
      return app.id
    }
    let secret = Secret.apiToken()
    let token = try APIToken.add(
      database, name: name, hash: Secret.hash(secret), scopes: words, user: user, apps: ids, addresses: addresses,
      expiresAt: days.map { now.addingTimeInterval(Double($0) * 86_400) }, now: now)
    var entry = audit
    (entry.action, entry.subject) = ("token.create", "token \(name)")
    entry.detail = [
      "scopes": .array(words.map { .string($0) }), "apps": apps.map { .array($0.map { .string($0) }) } ?? "all",
      "addresses": .array(addresses.map { .string($0) }),
      "expires": .string(days.map { "\($0)d" } ?? "never"),
    ]
    try AuditEntry.add(database, entry, now: now)
    return (token, secret)
  }
}

extension APIToken {
  package enum State: String, CaseIterable { case active, expired, revoked }

  package func state(_ now: Date) -> State {
    revokedAt != nil ? .revoked : expiresAt.map { $0 <= now } == true ? .expired : .active
  }

  /// The bundle IDs of its apps; nil: all. An app that was deleted is left out.
  func bundleIDs(_ apps: [Int64: String]) -> [String]? { self.apps.map { $0.compactMap { apps[$0] }.sorted() } }
}

/// The schema `Token`.
package struct TokenAnswer: JSONObject, Sendable {
  package let token: APIToken
  /// Bundle IDs; nil: all.
  package let apps: [String]?
  private let now: Date
  /// Present only when the token was just created.
  private let secret: String?

  package init(_ database: Database, _ token: APIToken, now: Date, secret: String? = nil) throws {
    self.init(token, try App.bundleIDs(database), now: now, secret: secret)
  }

  private init(_ token: APIToken, _ apps: [Int64: String], now: Date, secret: String?) {
    (self.token, self.now, self.secret) = (token, now, secret)
    self.apps = token.bundleIDs(apps)
  }

  package static func all(_ database: Database, now: Date) throws -> [TokenAnswer] {
    let apps = try App.bundleIDs(database)
    return try APIToken.all(database).map { TokenAnswer($0, apps, now: now, secret: nil) }
  }

  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", token.id)
    json.member("name", token.name)
    json.member("scopes", token.words)
    json.member("apps", apps)
    json.member("addresses", token.addresses)
    json.member("state", token.state(now).rawValue)
    json.member("created_at", token.createdAt)
    json.member("last_used_at", token.lastUsedAt)
    json.member("expires_at", token.expiresAt)
    json.member("revoked_at", token.revokedAt)
    if let secret { json.member("token", secret) }
  }
}
