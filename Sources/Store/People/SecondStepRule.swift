package import Foundation
internal import JSON
package import SQLite

/// Who must sign in with a second step: a setting of the installation.
package struct SecondStepRule: Sendable, Hashable {
  /// Stored as text.
  package enum Reach: String, Sendable, CaseIterable {
    case nobody, admins, everybody
  }

  package var reach: Reach
  /// Whether a sign-in with the provider of OpenID Connect is enough: the provider asks for the second step.
  package var trustsProvider: Bool

  package init(reach: Reach, trustsProvider: Bool) { (self.reach, self.trustsProvider) = (reach, trustsProvider) }

  // MARK: Stored

  static let key = "second_step"
  private static let provider = "provider"

  /// - Parameter stored: nil without a setting. What cannot be read requires it of everybody.
  init(_ stored: String?) {
    let words = (stored ?? Reach.nobody.rawValue).split(separator: " ").map(String.init)
    reach = words.first.flatMap(Reach.init) ?? .everybody
    trustsProvider = words.dropFirst().contains(Self.provider)
  }

  private var stored: String { trustsProvider ? "\(reach.rawValue) \(Self.provider)" : reach.rawValue }

  package static func find(_ database: Database) throws -> SecondStepRule {
    SecondStepRule(try Setting.find(database, key))
  }

  /// Saves it, with an entry of the activity log if it changes.
  ///
  /// - Parameter audit: actor and address.
  package func save(_ database: Database, audit: NewAuditEntry, now: Date) throws {
    let before = try Self.find(database)
    guard self != before else { return }
    try Setting.set(database, Self.key, stored)
    var entry = audit
    (entry.action, entry.subject) = ("settings.second_step", "settings second_step")
    entry.detail = ["before": before.audited, "after": audited]
    try AuditEntry.add(database, entry, now: now)
  }

  private var audited: JSONValue {
    ["required": .string(reach.rawValue), "provider": .bool(trustsProvider)]
  }

  /// Whether a person with this role needs a second step.
  package func isRequired(of role: User.Role) -> Bool {
    switch reach {
    case .nobody: false
    case .admins: role == .admin
    case .everybody: true
    }
  }

  /// Whether this is a second step that counts.
  package func accepts(_ step: Session.SecondStep?) -> Bool {
    switch step {
    case .own: true
    case .provider: trustsProvider
    case nil: false
    }
  }
}
