package import Foundation
package import JSON
internal import Model
package import SQLite

/// How people sign in with a provider of OpenID Connect. The client secret is sealed.
package struct OIDCSettings: Sendable, Hashable {
  /// Who may sign in without having done so before. Stored as text.
  package enum Admission: String, Sendable, CaseIterable {
    /// People whom an admin has invited.
    case invited
    /// In addition, everybody with an email address of ``OIDCSettings/domains``.
    case domains
  }

  /// A value of the claim, and the role that it gives.
  package struct RoleRule: Sendable, Hashable {
    package let value: String
    package let role: User.Role

    package init(value: String, role: User.Role) { (self.value, self.role) = (value, role) }

    /// As `signalbox-admins = admin`.
    package init?(_ text: String) {
      guard let sign = text.lastIndex(of: "=") else { return nil }
      let value = text[..<sign].trimmingCharacters(in: .whitespaces)
      let word = text[text.index(after: sign)...].trimmingCharacters(in: .whitespaces)
      guard !value.isEmpty, let role = User.Role(rawValue: word) else { return nil }
      self.init(value: value, role: role)
    }

    package var text: String { "\(value) = \(role.rawValue)" }
  }

  package static let usualScopes = ["openid", "email", "profile"]

  package var isOn = true
  /// As the provider's documents name it, to the last character.
  package var issuer = ""
  package var clientID = ""
  /// Nil: a public client, for which PKCE alone stands.
  package var clientSecret: String?
  /// On the button.
  package var label = ""
  package var scopes = Self.usualScopes
  package var admission = Admission.invited
  package var domains: [String] = []
  /// The role of uninvited people, and of those who match no rule. Never admin.
  package var newRole = User.Role.viewer
  /// The claim that gives roles; nil: admins give them in the console.
  package var roleClaim: String?
  package var roleRules: [RoleRule] = []
  package var allowsPasswords = true

  package init() {}

  /// Whether a new person with this address may come in.
  package func admits(_ email: String) -> Bool {
    guard admission == .domains, let domain = email.split(separator: "@").last?.lowercased() else { return false }
    return domains.contains(domain)
  }

  /// The role that values of the claim give: the highest one, or ``newRole`` if no rule fits. Nil: the role stays.
  package func role(for values: [String]) -> User.Role? {
    guard roleClaim != nil else { return nil }
    return roleRules.filter { values.contains($0.value) }.map(\.role).max() ?? newRole
  }

  /// For the activity log, without the secret.
  package func audited(hasSecret: Bool) -> JSONValue {
    var members = stored.object ?? [:]
    members["has_secret"] = .bool(hasSecret)
    return .object(members)
  }

  // MARK: Stored

  private static let key = "oidc"
  private static let secretID: Int64 = 1

  /// Nil: none are stored.
  ///
  /// - Parameter sealer: nil leaves out the client secret, and needs no key.
  /// - Throws: the sealer's error if the secret was sealed with another key.
  package static func load(_ database: Database, sealer: (any Sealer)? = nil) throws -> OIDCSettings? {
    guard let text = try Setting.find(database, key) else { return nil }
    let json = try JSONValue(parsing: Data(text.utf8))
    var settings = OIDCSettings()
    settings.isOn = json["on"]?.bool ?? false
    settings.issuer = json["issuer"]?.string ?? ""
    settings.clientID = json["client_id"]?.string ?? ""
    settings.label = json["label"]?.string ?? ""
    settings.scopes = words(json["scopes"]) ?? usualScopes
    settings.admission = json["admission"]?.string.flatMap(Admission.init) ?? .invited
    settings.domains = words(json["domains"]) ?? []
    settings.newRole = json["new_role"]?.string.flatMap(User.Role.init) ?? .viewer
    settings.roleClaim = json["role_claim"]?.string
    settings.roleRules = (words(json["role_rules"]) ?? []).compactMap { RoleRule($0) }
    settings.allowsPasswords = json["passwords"]?.bool ?? true
    guard let sealer else { return settings }
    let sealed = try database.fetchOne("SELECT sealed FROM oidc_secrets WHERE id = ?", secretID) { $0.blob(0) }
    if let sealed {
      settings.clientSecret = String(
        decoding: try sealer.open(sealed, associatedData: place("oidc_secrets", secretID)), as: UTF8.self)
    }
    return settings
  }

  /// Saves all settings with the secret.
  package func save(_ database: Database, sealer: any Sealer, now: Date) throws {
    try Setting.set(database, Self.key, stored.text())
    guard let clientSecret else {
      try database.run("DELETE FROM oidc_secrets")
      return
    }
    let id = Self.secretID
    let sealed = try Sealing.seal(database, Array(clientSecret.utf8), "oidc_secrets", id, sealer, now: now)
    try database.run(
      "INSERT INTO oidc_secrets(id, sealed) VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET sealed = excluded.sealed", id,
      sealed)
  }

  /// Saves them, and leaves the stored secret as it is: needs no key.
  package func saveWithoutSecret(_ database: Database) throws { try Setting.set(database, Self.key, stored.text()) }

  package static func remove(_ database: Database) throws {
    try Setting.set(database, key, nil)
    try database.run("DELETE FROM oidc_secrets")
  }

  /// Whether a client secret is stored; needs no key.
  package static func hasSecret(_ database: Database) throws -> Bool {
    try database.int("SELECT count(*) FROM oidc_secrets") > 0
  }

  /// Whether a client secret is stored that this key cannot open.
  package static func hasClosedSecret(_ database: Database, _ sealer: any Sealer) throws -> Bool {
    try Sealing.isClosed(database, in: "oidc_secrets", id: secretID, sealer)
  }

  /// Whether people may sign in with a password. A provider that is off excludes none.
  package static func allowsPasswords(_ database: Database) throws -> Bool {
    guard let settings = try load(database), settings.isOn else { return true }
    return settings.allowsPasswords
  }

  private var stored: JSONValue {
    [
      "on": .bool(isOn), "issuer": .string(issuer), "client_id": .string(clientID), "label": .string(label),
      "scopes": .array(scopes.map { .string($0) }), "admission": .string(admission.rawValue),
      "domains": .array(domains.map { .string($0) }), "new_role": .string(newRole.rawValue),
      "role_claim": .optional(roleClaim), "role_rules": .array(roleRules.map { .string($0.text) }),
      "passwords": .bool(allowsPasswords),
    ]
  }

  private static func words(_ value: JSONValue?) -> [String]? { value?.array?.compactMap(\.string) }
}
