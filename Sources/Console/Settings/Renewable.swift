import Foundation
import SQLite
import Store

/// Something that ends and that somebody can take on: a file that is kept, or a host that is watched.
struct Renewable: Sendable {
  /// What it is. The raw values stand in the audit.
  enum Noun: String, Sendable, CaseIterable {
    case certificate, host

    /// Where its pages and its calls stand, and what its key begins with.
    var path: String { "\(rawValue)s" }

    /// The actions in the audit.
    var taking: String { "\(rawValue).acknowledge" }
    var givingBack: String { "\(rawValue).unacknowledge" }
  }

  let noun: Noun
  let id: Int64
  /// Under which its reminders stand: of a host, what it showed last. A new certificate there is a new subject.
  let subject: Acknowledgement.Subject
  /// Nil: it has no end, or nothing is known of it yet; nobody is reminded of it.
  let notAfter: Date?

  init(_ certificate: TrackedCertificate) {
    (noun, id, notAfter) = (.certificate, certificate.id, certificate.details.notAfter)
    subject = .init(key: "certificates/\(certificate.id)", fingerprint: certificate.details.sha256)
  }

  init(_ host: WatchedHost) {
    (noun, id, notAfter) = (.host, host.id, host.seen?.notAfter)
    subject = .init(key: "hosts/\(host.id)", fingerprint: host.seen?.sha256)
  }

  /// - Throws: `StoreError.notFound`.
  static func get(_ database: Database, _ noun: Noun, id: Int64) throws -> Renewable {
    switch noun {
    case .certificate: Renewable(try TrackedCertificate.get(database, id: id))
    case .host: Renewable(try WatchedHost.get(database, id: id))
    }
  }

  /// Nobody can put it off for longer, in days.
  static let longest = 90

  /// Whether it can be put off until then.
  static func isPossible(_ until: Date, now: Date) -> Bool {
    until > now && until <= now.addingTimeInterval(Double(longest + 1) * 86_400)
  }

  /// Somebody takes it on, with the line of the audit.
  ///
  /// - Returns: nil if nobody is reminded of it anyway; then nothing is kept.
  static func take(
    _ database: Database, _ noun: Noun, id: Int64, until: Date, audit: NewAuditEntry, now: Date
  ) throws -> Acknowledgement? {
    let item = try get(database, noun, id: id)
    guard item.notAfter != nil else { return nil }
    try Acknowledgement.set(database, item.subject, by: audit.actor, until: until, now: now)
    try AuditEntry.add(database, audit, now: now)
    return try Acknowledgement.find(database, item.subject, now: now)
  }

  /// Somebody gives it back, with the line of the audit.
  ///
  /// - Returns: whether anybody had it; else nothing is kept.
  static func giveBack(
    _ database: Database, _ noun: Noun, id: Int64, audit: NewAuditEntry, now: Date
  ) throws -> Bool {
    let item = try get(database, noun, id: id)
    guard try Acknowledgement.find(database, item.subject, now: now) != nil else { return false }
    try Acknowledgement.remove(database, item.subject)
    try AuditEntry.add(database, audit, now: now)
    return true
  }
}
