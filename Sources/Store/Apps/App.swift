public import Foundation
internal import SQLite

/// An app that pushes are for.
public struct App: Sendable, Hashable, Identifiable {
  /// Row id.
  public let id: Int64
  /// As `com.example.app`: the topic at APNs, and the app's name in the API.
  public let bundleID: String
  /// The package name on Android, if it is another one.
  public let packageName: String?
  /// What people call it.
  public let name: String
  /// How an alias is derived from a user id; the text of an `AliasRule`.
  public let aliasRule: String?
  /// When it was added.
  public let createdAt: Date

  static let columns = "a.id, a.bundle_id, a.package_name, a.name, a.alias_rule, a.created_at"

  init(_ row: borrowing Row) {
    id = row.int64(0)
    bundleID = row.text(1)
    packageName = row.optionalText(2)
    name = row.text(3)
    aliasRule = row.optionalText(4)
    createdAt = row.date(5)
  }
}
