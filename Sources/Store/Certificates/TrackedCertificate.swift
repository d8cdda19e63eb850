package import Foundation
package import JSON
package import Model
internal import SQLite
import Text

/// An uploaded certificate, key or profile. Its secrets are sealed.
package struct TrackedCertificate: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  package let details: Details
  package let uploadedBy: String
  package let createdAt: Date
  /// Nil: not replaced, or the replacement was deleted.
  package let replacement: Replacement?

  /// Whether it was replaced. It then needs no attention, unless a credential still uses it.
  package var isReplaced: Bool { replacement != nil }

  /// A replacement by a successor.
  package struct Replacement: Sendable, Hashable {
    package let by: Int64
    package let at: Date
    /// The end of the undo time.
    package let keptUntil: Date
    /// The switched credentials.
    package let credentials: [Int64]
  }

  /// Information from the file and from people.
  package struct Details: Sendable, Hashable {
    /// The Certificates room's kinds, such as `apns-certificate`, `apns-key`.
    package var kind: String
    /// The display name.
    package var name: String
    /// The app it was uploaded for.
    package var appID: Int64?
    package var subject: String?
    package var issuer: String?
    /// Hexadecimal.
    package var serial: String?
    /// Hexadecimal with colons.
    package var sha256: String?
    /// Ten characters.
    package var teamID: String?
    /// Ten characters, of a `.p8`.
    package var keyID: String?
    package var environments: [Environment] = []
    package var topics: [String] = []
    package var notBefore: Date?
    /// Nil: no end.
    package var notAfter: Date?
    package var hasPrivateKey = false
    /// Without any key.
    package var publicPEM: String?
    /// As uploaded.
    package var fileName: String

    package init(kind: String, name: String, fileName: String) {
      (self.kind, self.name, self.fileName) = (kind, name, fileName)
    }
  }

  static let columns = """
    t.id, t.kind, t.name, t.app_id, t.subject, t.issuer, t.serial, t.sha256, t.team_id, t.key_id, t.environments,
    t.topics, t.not_before, t.not_after, t.has_private_key, t.public_pem, t.file_name, t.uploaded_by, t.created_at,
    t.replaced_by, t.replaced_at, t.kept_until, t.moved
    """

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    // Names come from untrusted files; rows written by older versions are not filtered yet.
    var details = Details(kind: row.text(1), name: row.text(2).singleLine, fileName: row.text(16).singleLine)
    details.appID = row.optionalInt64(3)
    details.subject = row.optionalText(4)?.singleLine
    details.issuer = row.optionalText(5)?.singleLine
    details.serial = row.optionalText(6)
    details.sha256 = row.optionalText(7)
    details.teamID = row.optionalText(8)
    details.keyID = row.optionalText(9)
    details.environments = try texts(row.text(10), "certificates.environments").map { text in
      guard let environment = Environment(rawValue: text) else {
        throw StoreError.unreadable(column: "certificates.environments", value: text)
      }
      return environment
    }
    details.topics = try texts(row.text(11), "certificates.topics").map(\.singleLine)
    details.notBefore = row.optionalDate(12)
    details.notAfter = row.optionalDate(13)
    details.hasPrivateKey = row.bool(14)
    details.publicPEM = row.optionalText(15)
    self.details = details
    uploadedBy = row.text(17)
    createdAt = row.date(18)
    if let by = row.optionalInt64(19), let at = row.optionalDate(20), let until = row.optionalDate(21) {
      let moved = try json(row.text(22), "certificates.moved")?.array ?? []
      replacement = Replacement(by: by, at: at, keptUntil: until, credentials: moved.compactMap(\.integer))
    } else {
      replacement = nil
    }
  }
}

extension TrackedCertificate {
  /// The values written to the audit log.
  package var audited: JSONValue {
    [
      "kind": .string(details.kind), "name": .string(details.name), "sha256": .optional(details.sha256),
      "file_name": .string(details.fileName), "not_after": .optional(details.notAfter),
    ]
  }
}
