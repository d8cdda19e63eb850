import Foundation
import JSON
import Mail
import Model
import Reactor
import SQLite
import Store

/// Settings of sign-in with a provider, from the form or the API, validated.
struct OIDCForm: Sendable {
  static let labelLimit = 40
  static let listLimit = 100

  var isOn = true
  var issuer = ""
  var clientID = ""
  /// Nil: keep the stored secret, if there is one and it belongs to this provider.
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

  /// The settings to store; their secret is the entered one, or nil.
  ///
  /// A stored secret is kept only for the same issuer. Otherwise somebody who may change the settings could have it sent
  /// to a server that they control.
  ///
  /// - Parameters:
  ///   - known: the stored settings.
  ///   - hasSecret: whether a secret is stored with them, readable or not.
  /// - Throws: all problems, each at its field.
  private func settings(replacing known: OIDCSettings?, hasSecret: Bool) throws(Problems) -> OIDCSettings {
    var problems: [Problem] = []
    func check(_ isGood: Bool, _ field: String, _ message: OIDCMessage, _ arguments: [String: String] = [:]) {
      if !isGood { problems.append(Problem(field, message, arguments)) }
    }
    let scheme = Problem("issuer", OIDCMessage.issuer)
    if let problem = Problem.address("issuer", issuer, plain: .any, else: scheme) { problems.append(problem) }
    check(!issuer.contains("?"), "issuer", .issuer)
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
      clientSecret != nil || isSame || !hasSecret, "client_secret", .secretElsewhere, ["issuer": known?.issuer ?? ""])
    guard problems.isEmpty else { throw Problems(problems) }
    var settings = OIDCSettings()
    (settings.isOn, settings.issuer, settings.clientID) = (isOn, issuer, clientID)
    settings.clientSecret = clientSecret
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

extension OIDCForm {
  /// Saves the settings with their entry of the activity log. A stored secret that is kept is not opened, so that it
  /// stays also while the key file is missing.
  ///
  /// - Parameter check: gets what is stored and what is to be saved; what it throws prevents it.
  /// - Throws: `Problems`, also if nobody could get in any more; `SealingMismatch` if a new secret cannot be sealed.
  func save(
    _ database: Database, for context: some ActorContext,
    check: (_ stored: OIDCSettings?, _ new: OIDCSettings) throws -> Void = { _, _ in }
  ) throws -> (settings: OIDCSettings, hasSecret: Bool) {
    let (before, hadSecret) = (try OIDCSettings.load(database), try OIDCSettings.hasSecret(database))
    let settings = try settings(replacing: before, hasSecret: hadSecret)
    try check(before, settings)
    if settings.isOn, !settings.allowsPasswords, try !Identity.hasAdmin(database, issuer: settings.issuer) {
      throw Problems([Problem("passwords", OIDCMessage.lockOut)])
    }
    if clientSecret == nil {
      try settings.saveWithoutSecret(database)
    } else {
      try settings.save(database, sealer: context.store.sealer, now: context.now)
    }
    let hasSecret = hadSecret || clientSecret != nil
    let audit = context.audit("settings.oidc", "settings oidc")
    try context.record(
      database, audit.changing(before?.audited(hasSecret: hadSecret), to: settings.audited(hasSecret: hasSecret)))
    return (settings, hasSecret)
  }
}
