package import Foundation
internal import SQLite

/// A person who may sign in.
package struct User: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// For signing in; case does not count for ASCII letters.
  package let name: String
  /// PHC string; nil: invited, no password yet. Never shown.
  package let passwordHash: String?
  /// What the person may do.
  package let role: Role
  /// Language tag, as chosen; nil: the browser's.
  package let language: String?
  /// When added.
  package let createdAt: Date
  /// Since when the person may not sign in any more.
  package let disabledAt: Date?

  /// What a person may do. Stored as the text.
  package enum Role: String, Sendable, CaseIterable {
    /// Everything.
    case admin
    /// Sends, edits devices; no people, credentials or settings.
    case `operator`
    /// Looks.
    case viewer
  }

  static let columns = "u.id, u.name, u.password_hash, u.role, u.language, u.created_at, u.disabled_at"
  static let columnCount = 7

  init(_ row: borrowing Row, from first: Int = 0) throws {
    id = row.int64(first)
    name = row.text(first + 1)
    passwordHash = row.optionalText(first + 2)
    role = try row.value(first + 3, as: Role.self)
    language = row.optionalText(first + 4)
    createdAt = row.date(first + 5)
    disabledAt = row.optionalDate(first + 6)
  }
}

extension User.Role: Comparable {
  private var rank: Int { self == .viewer ? 0 : self == .operator ? 1 : 2 }

  /// By what one may do: a viewer less than an operator, an operator less than an administrator.
  package static func < (one: User.Role, other: User.Role) -> Bool { one.rank < other.rank }
}
