import Foundation
import JSON
import Mail
import Model
import SQLite
import Store

/// Settings of sign-in with a provider, from the form or the API, validated.
struct OIDCForm: Sendable {
  static let labelLimit = 40
  static let listLimit = 100

  var isOn = true
  var issuer = ""
  var clientID = ""
  /// Nil: keep the stored secret, if it belongs to this provider.
  var clientSecret: String?
  var label = ""
  var scopes = OIDCSettings.usualScopes
  var admission = OIDCSettings.Admission.invited
  var domains: [String] = []
  var newRole = User.Role.viewer
  var roleClaim: String?
  /// As `signalbox-admins = admin`.
  var roleRules: [String] = []
  var allowsPasswords = true

  /// The settings to store.
  ///
  /// A stored secret is kept only for the same issuer. Otherwise somebody who may change the settings could have it sent
  /// to a server that they control.
  ///
  /// - Parameter known: the stored settings with their secret.
  /// - Throws: all problems, each at its field.
  func settings(_ known: OIDCSettings?) throws(Problems) -> OIDCSettings {
    var problems: [Problem] = []
    func check(_ isGood: Bool, _ field: String, _ message: OIDCMessage, _ arguments: [String: String] = [:]) {
      if !isGood { problems.append(Problem(field, message, arguments)) }
    }
    check(WebAddress.isUsable(issuer) && !issuer.contains("?"), "issuer", .issuer)
    check(!clientID.isEmpty, "client_id", .clientID)
    check((1...Self.labelLimit).contains(label.count), "label", .label)
    check(scopes.contains("openid") && scopes.allSatisfy(Self.isScope), "scopes", .scopes)
    check(admission == .invited || !domains.isEmpty, "domains", .domains)
    for domain in domains { check(Self.isDomain(domain), "domains", .domain, ["domain": String(domain.prefix(60))]) }
    check(newRole != .admin, "new_role", .newRole)
    let rules = roleRules.map { OIDCSettings.RoleRule($0) }
    for (text, rule) in zip(roleRules, rules) {
      check(rule != nil, "role_rules", .rule, ["rule": String(text.prefix(60))])
    }
    check(roleClaim == nil || !rules.isEmpty, "role_rules", .rules)
    check(rules.isEmpty || roleClaim != nil, "role_claim", .claim)
    let isSame = known?.issuer == issuer
    check(
      clientSecret != nil || isSame || known?.clientSecret == nil, "client_secret", .secretElsewhere,
      ["issuer": known?.issuer ?? ""])
    guard problems.isEmpty else { throw Problems(problems) }
    var settings = OIDCSettings()
    (settings.isOn, settings.issuer, settings.clientID) = (isOn, issuer, clientID)
    settings.clientSecret = clientSecret ?? known?.clientSecret
    (settings.label, settings.scopes) = (label, scopes)
    (settings.admission, settings.domains) = (admission, domains.map { $0.lowercased() })
    (settings.newRole, settings.roleClaim, settings.roleRules) = (newRole, roleClaim, rules.compactMap { $0 })
    settings.allowsPasswords = allowsPasswords
    return settings
  }

  /// RFC 6749 §3.3.
  private static func isScope(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
  }

  private static func isDomain(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && text.utf8.count <= 253
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count)
          && label.unicodeScalars.allSatisfy { $0 == "-" || $0.properties.isAlphabetic || ("0"..."9").contains($0) }
      }
  }
}

extension OIDCSettings {
  /// Saves the settings with their entry of the activity log.
  ///
  /// - Parameter audit: its subject and detail are filled in.
  /// - Throws: `Problems` if nobody could get in any more.
  func keep(_ database: Database, sealer: any Sealer, audit: NewAuditEntry, now: Date) throws {
    if isOn, !allowsPasswords, try !Identity.hasAdmin(database, issuer: issuer) {
      throw Problems([Problem("passwords", OIDCMessage.lockOut)])
    }
    let before = try OIDCSettings.load(database)
    let hadSecret = try OIDCSettings.hasSecret(database)
    try save(database, sealer: sealer, now: now)
    var entry = audit
    entry.detail = [
      "before": before.map { $0.audited(hasSecret: hadSecret) } ?? .null,
      "after": audited(hasSecret: clientSecret != nil),
    ]
    try AuditEntry.add(database, entry, now: now)
  }
}
