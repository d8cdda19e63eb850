import Calendar
import Foundation
import Model
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

  /// What stands in the form at first: never longer than so many days.
  private static let usual = 7

  /// Until when it can be put off; nil: not at all, because it has no end, or ends within a day.
  func limit(now: Date) -> Date? {
    guard let notAfter else { return nil }
    let limit = min(
      Acknowledgement.limit(notAfter: notAfter), now.addingTimeInterval(Double(Self.longest + 1) * 86_400))
    return limit > now ? limit : nil
  }

  /// The day that stands in the form at first: half of what is left.
  func suggestion(now: Date) -> Date? {
    guard let notAfter, let limit = limit(now: now) else { return nil }
    let half = min(notAfter.timeIntervalSince(now) / 2, Double(Self.usual) * 86_400)
    return min(now.addingTimeInterval(half), limit)
  }

  /// Why it cannot be put off until then; nil if it can.
  func problem(_ until: Date, now: Date) -> Problem? {
    guard let limit = limit(now: now) else {
      return Problem(
        "until", code: "acknowledgement.last_day",
        "It has expired or expires within a day, so reminders cannot be "
          + "snoozed.")
    }
    guard until > now, until <= limit else {
      return Problem(
        "until", code: "acknowledgement.until",
        "Must be in the future, at most {limit} days ahead and at least a day before expiry ({date} at the latest).",
        ["limit": String(Self.longest), "date": Timestamp.text(limit)])
    }
    return nil
  }

  /// Somebody takes it on, with the line of the audit.
  ///
  /// - Returns: nil if nobody is reminded of it anyway; then nothing is kept.
  /// - Throws: `Problems` at `until`.
  static func take(
    _ database: Database, _ noun: Noun, id: Int64, until: Date, audit: NewAuditEntry, now: Date
  ) throws -> Acknowledgement? {
    let item = try get(database, noun, id: id)
    guard item.notAfter != nil else { return nil }
    if let problem = item.problem(until, now: now) { throw Problems([problem]) }
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
