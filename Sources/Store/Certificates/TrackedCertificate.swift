package import Foundation
import JSON
package import Model
internal import SQLite
import Text

/// Something that was uploaded and can end: a certificate, a key, a profile. What is secret in it stands sealed.
package struct TrackedCertificate: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// What it is.
  package let details: Details
  /// Who uploaded it.
  package let uploadedBy: String
  /// When.
  package let createdAt: Date
  /// What stands in its place; nil: nothing, or what did was removed.
  package let replacement: Replacement?

  /// Whether a successor is in its place. It raises no alarms then, unless something still sends with it.
  package var isReplaced: Bool { replacement != nil }

  /// How a successor took its place.
  package struct Replacement: Sendable, Hashable {
    /// The successor.
    package let by: Int64
    /// When.
    package let at: Date
    /// Until when it can be undone.
    package let keptUntil: Date
    /// The credentials that went over.
    package let credentials: [Int64]
  }

  /// What a file says about itself, and what people said about it.
  package struct Details: Sendable, Hashable {
    /// As `apns-certificate`, `apns-key`; the Certificates room's kinds.
    package var kind: String
    /// What people call it.
    package var name: String
    /// The app it is for, if that is said.
    package var appID: Int64?
    /// Distinguished name.
    package var subject: String?
    /// Distinguished name.
    package var issuer: String?
    /// Hexadecimal.
    package var serial: String?
    /// Fingerprint, hexadecimal with colons.
    package var sha256: String?
    /// Ten characters.
    package var teamID: String?
    /// Ten characters, of a `.p8`.
    package var keyID: String?
    /// Where it may send.
    package var environments: [Environment] = []
    /// For which topics.
    package var topics: [String] = []
    /// Not valid before.
    package var notBefore: Date?
    /// Not valid after; nil: never ends.
    package var notAfter: Date?
    /// Whether the private key is in it.
    package var hasPrivateKey = false
    /// The certificates, without any key.
    package var publicPEM: String?
    /// As uploaded.
    package var fileName: String

    /// Creates details; the rest is set one by one.
    package init(kind: String, name: String, fileName: String) {
      self.kind = kind
      self.name = name
      self.fileName = fileName
    }
  }

  /// Whole days from `now` until the end, rounded down; negative after it; nil: never ends.
  package func daysLeft(_ now: Date) -> Int? {
    details.notAfter.map { Int(($0.timeIntervalSince(now) / 86_400).rounded(.down)) }
  }

  static let columns = """
    t.id, t.kind, t.name, t.app_id, t.subject, t.issuer, t.serial, t.sha256, t.team_id, t.key_id, t.environments,
    t.topics, t.not_before, t.not_after, t.has_private_key, t.public_pem, t.file_name, t.uploaded_by, t.created_at,
    t.replaced_by, t.replaced_at, t.kept_until, t.moved
    """

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    // Names come from strangers' files, and were kept as they stood there before ``Swift/String/singleLine`` was.
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
