import Certificates
import Foundation
import HTTPServer
import Mustache
import Push
import Reminders
import SQLite
import Store

/// What a certificate's page says of its reminders, and "I am on it until …".
struct CertificateReminders: Sendable {
  /// Nobody can put it off for longer, in days.
  static let longest = 90

  private let log: ReminderLog
  private let taken: Acknowledgement?
  private let next: (step: ReminderLadder.Step, at: Date)?
  private let hasReceivers: Bool
  private let key: String
  /// What never ends needs nobody.
  private let ends: Bool

  init(_ database: Database, _ certificate: TrackedCertificate, now: Date) throws {
    let subject = Self.subject(certificate)
    key = subject.key
    ends = certificate.details.notAfter != nil
    log = try ReminderLog(database, itemKey: subject.key, limit: 20)
    taken = try Acknowledgement.find(database, subject, now: now)
    hasReceivers = try Receiver.all(database).contains { $0.details.isActive }
    let settings = try ReminderSettings.load(database)
    let sent = try (Reminder.steps(database)[subject] ?? []).map(ReminderLadder.Step.init)
    if let end = certificate.details.notAfter,
      let step = settings.ladder.next(notAfter: end, now: now, sent: sent)?.step
    {
      next = (
        step,
        ReminderLadder.firstTime(step, notAfter: end, hour: settings.hour, zone: settings.zone)
      )
    } else {
      next = nil
    }
  }

  static func subject(_ certificate: TrackedCertificate) -> Acknowledgement.Subject {
    Acknowledgement.Subject(key: "certificates/\(certificate.id)", fingerprint: certificate.details.sha256)
  }

  func value(_ page: PageContext, _ errors: FieldErrors) -> Value {
    let texts = page.texts
    var nextText = texts("reminders.none")
    if let next {
      let at = max(next.at, taken?.until ?? next.at)
      nextText = texts(
        at <= page.now ? "reminders.next_now" : "reminders.next",
        ["step": ReminderLog.step(next.step.rawValue, texts), "date": at.utcText])
    }
    return [
      "next": .string(nextText), "any_log": .bool(!log.rows.isEmpty),
      "log": log.value(texts, showsItems: false, itemKey: key), "nobody": .bool(ends && !hasReceivers),
      "can_take": .bool(ends && page.may(.operator)),
      "taken": .string(
        taken.map { texts("reminders.taken", ["name": $0.by, "date": $0.until.dayText]) } ?? ""),
      "until": .string(
        page.form.has("until") ? page.form["until"] : page.now.addingTimeInterval(7 * 86_400).dayText),
      "error": .string(errors["until"]),
    ]
  }

  /// The end of a day that was typed as `2026-12-01`, UTC; nil if it is none, past, or too far away.
  static func until(_ text: String, now: Date) -> Date? {
    guard text.utf8.count == 10, let day = Timestamp.parse("\(text)T00:00:00Z") else { return nil }
    let end = day.addingTimeInterval(86_400)
    return end > now && end <= now.addingTimeInterval(Double(longest + 1) * 86_400) ? end : nil
  }
}

extension CertificatePage {
  /// Takes a renewal on.
  static func take(_ page: PageContext) async throws -> Response {
    guard let until = CertificateReminders.until(page.form["until"], now: page.now) else {
      var errors = FieldErrors()
      errors.add("until", page.texts("reminders.until_wrong", ["limit": String(CertificateReminders.longest)]))
      return try await show(page, errors: errors)
    }
    let (id, actor, now) = (try page.id(), page.actor, page.now)
    let audit = page.audit("certificate.acknowledge", "certificate \(id)", ["until": .time(until)])
    try await page.store.write { database in
      let subject = CertificateReminders.subject(try TrackedCertificate.get(database, id: id))
      try Acknowledgement.set(database, subject, by: actor, until: until, now: now)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/certificates/\(id)", flash: "taken_on")
  }

  /// Gives it back.
  static func giveBack(_ page: PageContext) async throws -> Response {
    let (id, now) = (try page.id(), page.now)
    let audit = page.audit("certificate.unacknowledge", "certificate \(id)")
    try await page.store.write { database in
      try Acknowledgement.remove(database, CertificateReminders.subject(try TrackedCertificate.get(database, id: id)))
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/certificates/\(id)", flash: "given_back")
  }
}
