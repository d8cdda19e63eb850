import Calendar
import Foundation
import JSON
import Model
import SQLite
import Store

/// An item that expires and that a person can take on: a stored file or a watched host.
struct Renewable: Sendable {
  /// The kind of item. The raw values are stored in the audit log.
  enum Noun: String, Sendable, CaseIterable {
    case certificate, host

    /// The path of its pages and API calls, and the prefix of its key.
    var path: String { "\(rawValue)s" }

    /// The actions in the audit log.
    var taking: String { "\(rawValue).acknowledge" }
    var givingBack: String { "\(rawValue).unacknowledge" }
  }

  let noun: Noun
  /// The subject of its reminders. For a host it includes the certificate seen last: a new one is a new subject.
  let subject: Acknowledgement.Subject
  /// Nil if it never expires or nothing is known about it yet; then nobody is reminded.
  let notAfter: Date?

  /// A stored file without an end; a host without one was not reached yet.
  var neverEnds: Bool { noun == .certificate && notAfter == nil }

  init(_ certificate: TrackedCertificate) {
    (noun, notAfter) = (.certificate, certificate.details.notAfter)
    subject = .init(key: "certificates/\(certificate.id)", fingerprint: certificate.details.sha256)
  }

  init(_ host: WatchedHost) {
    (noun, notAfter) = (.host, host.seen?.notAfter)
    subject = .init(key: "hosts/\(host.id)", fingerprint: host.seen?.sha256)
  }

  /// - Throws: `StoreError.notFound`.
  static func get(_ database: Database, _ noun: Noun, id: Int64) throws -> Renewable {
    switch noun {
    case .certificate: Renewable(try TrackedCertificate.get(database, id: id))
    case .host: Renewable(try WatchedHost.get(database, id: id))
    }
  }

  /// The longest snooze, in days.
  static let longest = 90

  /// The longest snooze that the form suggests, in days.
  private static let usual = 7

  /// The latest date to snooze until; nil if the item has no end or expires within a day.
  func limit(now: Date) -> Date? {
    guard let notAfter else { return nil }
    let limit = min(
      Acknowledgement.limit(notAfter: notAfter), now.addingTimeInterval(Double(Self.longest + 1) * 86_400))
    return limit > now ? limit : nil
  }

  /// The date that the form suggests: half of the remaining time, within the limits.
  func suggestion(now: Date) -> Date? {
    guard let notAfter, let limit = limit(now: now) else { return nil }
    let half = min(notAfter.timeIntervalSince(now) / 2, Double(Self.usual) * 86_400)
    return min(now.addingTimeInterval(half), limit)
  }

  /// Why reminders cannot be snoozed until then; nil if they can.
  func problem(_ until: Date, now: Date) -> Problem? {
    guard let limit = limit(now: now) else {
      return Problem(
        "until", code: "acknowledgement.last_day",
        "It has expired or expires within a day, so reminders cannot be snoozed.")
    }
    guard until > now, until <= limit else {
      return Problem(
        "until", code: "acknowledgement.until",
        "Must be in the future, at most {limit} days ahead and at least a day before expiry ({date} at the latest).",
        ["limit": String(Self.longest), "date": Timestamp.text(limit)])
    }
    return nil
  }

  /// Assigns the item to the actor and snoozes its reminders, with an audit entry.
  ///
  /// - Returns: nil if the item has no expiry date and so no reminders; then nothing is stored.
  /// - Throws: `Problems` at `until`.
  static func take(
    _ database: Database, _ noun: Noun, id: Int64, until: Date, for context: some ActorContext
  ) throws -> Acknowledgement? {
    let now = context.now
    let item = try get(database, noun, id: id)
    guard item.notAfter != nil else { return nil }
    if let problem = item.problem(until, now: now) { throw Problems([problem]) }
    try Acknowledgement.set(database, item.subject, by: context.actor, until: until, now: now)
    try context.record(database, noun.taking, "\(noun.rawValue) \(id)", ["until": .time(until)])
    return try Acknowledgement.find(database, item.subject, now: now)
  }

  /// Ends the snooze, with an audit entry.
  ///
  /// - Returns: false if nobody had taken the item; then nothing is stored.
  static func giveBack(
    _ database: Database, _ noun: Noun, id: Int64, for context: some ActorContext
  ) throws -> Bool {
    let item = try get(database, noun, id: id)
    guard try Acknowledgement.find(database, item.subject, now: context.now) != nil else { return false }
    try Acknowledgement.remove(database, item.subject)
    try context.record(database, noun.givingBack, "\(noun.rawValue) \(id)")
    return true
  }
}

extension TrackedCertificate {
  /// What tells it from others with the same name, as “serial …4F2A01”; nil if its name does, or it has no serial number.
  func mark(among others: some Sequence<TrackedCertificate>, _ texts: Texts) -> String? {
    guard others.contains(where: { $0.id != id && $0.details.name == details.name }) else { return nil }
    return details.serial.map { texts("certificates.serial_end", ["end": String($0.suffix(6))]) }
  }
}
