package import Foundation
internal import SQLite

package struct User: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  /// For signing in; ASCII case is ignored.
  package let name: String
  /// PHC string; nil: without a password. Never shown.
  package let passwordHash: String?
  package let role: Role
  /// The chosen language tag; nil: the browser's.
  package let language: String?
  package let createdAt: Date
  package let disabledAt: Date?
  /// Nil: never.
  package let signedInAt: Date?
  /// Whether the person has signed in with a provider of OpenID Connect.
  package let isLinked: Bool
  /// Whether the person, with a role that may send, and the person's tokens may send to production.
  package let sendsToProduction: Bool

  /// Stored as text.
  package enum Role: String, Sendable, CaseIterable {
    case admin
    /// Sends and edits devices; no people, credentials or settings.
    case `operator`
    /// Reads only.
    case viewer
  }

  static let columns = """
    u.id, u.name, u.password_hash, u.role, u.language, u.created_at, u.disabled_at, u.signed_in_at, u.sends_production,
    EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id)
    """
  static let columnCount = 10

  init(_ row: borrowing Row, from first: Int = 0) throws {
    id = row.int64(first)
    name = row.text(first + 1)
    passwordHash = row.optionalText(first + 2)
    role = try row.value(first + 3, as: Role.self)
    language = row.optionalText(first + 4)
    createdAt = row.date(first + 5)
    disabledAt = row.optionalDate(first + 6)
    signedInAt = row.optionalDate(first + 7)
    sendsToProduction = row.bool(first + 8)
    isLinked = row.int64(first + 9) != 0
  }

  package enum State: String, Sendable, CaseIterable {
    case active, invited, disabled
  }

  package var state: State {
    disabledAt != nil ? .disabled : passwordHash == nil && !isLinked ? .invited : .active
  }
}

extension User.Role: Comparable {
  private var rank: Int { self == .viewer ? 0 : self == .operator ? 1 : 2 }

  /// A viewer is less than an operator, an operator less than an administrator.
  package static func < (one: User.Role, other: User.Role) -> Bool { one.rank < other.rank }
}
