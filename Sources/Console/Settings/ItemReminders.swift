import Certificates
import Foundation
import HTTPServer
import Mustache
import Push
import Reminders
import SQLite
import Store

/// What the page of a certificate or a watched host says of its reminders, and "I am on it until …".
struct ItemReminders: Sendable {
  private let item: Renewable
  private let log: ReminderLog
  private let taken: Acknowledgement?
  private let next: (step: ReminderLadder.Step, at: Date)?
  private let hasReceivers: Bool

  /// What never ends needs nobody.
  private var ends: Bool { item.notAfter != nil }

  init(_ database: Database, _ item: Renewable, now: Date) throws {
    self.item = item
    log = try ReminderLog(database, itemKey: item.subject.key, limit: 20)
    taken = try Acknowledgement.find(database, item.subject, now: now)
    hasReceivers = try Receiver.all(database).contains { $0.details.isActive }
    let settings = try ReminderSettings.load(database)
    let sent = try (Reminder.steps(database)[item.subject] ?? []).map(ReminderLadder.Step.init)
    if let end = item.notAfter, let step = settings.ladder.next(notAfter: end, now: now, sent: sent)?.step {
      next = (
        step,
        ReminderLadder.firstTime(step, notAfter: end, hour: settings.hour, zone: settings.zone)
      )
    } else {
      next = nil
    }
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
      "href": .string("/\(item.subject.key)"), "next": .string(nextText), "any_log": .bool(!log.rows.isEmpty),
      "log": log.value(
        texts, showsItems: false, showsReceivers: page.may(.admin), itemKey: item.subject.key),
      "nobody": .bool(ends && !hasReceivers),
      "can_take": .bool(ends && page.may(.operator)),
      "taken": .string(taken.map { Self.words($0, texts) } ?? ""),
      "until": .string(
        page.form.has("until") ? page.form["until"] : page.now.addingTimeInterval(7 * 86_400).dayText),
      "error": .string(errors["until"]),
    ]
  }

  /// As “lin is on it until 2026-12-01.”
  static func words(_ taken: Acknowledgement, _ texts: Texts) -> String {
    // The last day on which it is quiet; a browser's form gives the end of that day.
    texts("reminders.taken", ["name": taken.by, "date": taken.until.addingTimeInterval(-1).dayText])
  }

  /// The end of a day that was typed as `2026-12-01`, UTC; nil if it is none, past, or too far away.
  static func until(_ text: String, now: Date) -> Date? {
    guard text.utf8.count == 10, let day = Timestamp.parse("\(text)T00:00:00Z") else { return nil }
    let end = day.addingTimeInterval(86_400)
    return Renewable.isPossible(end, now: now) ? end : nil
  }

  // MARK: Forms

  /// The buttons of a noun's page.
  ///
  /// - Parameter show: the page, with what is wrong with what was typed.
  static func add(
    _ noun: Renewable.Noun, to routes: inout ConsoleRouter,
    show: @escaping @Sendable (PageContext, FieldErrors) async throws -> Response
  ) {
    routes.page(.post, "/\(noun.path)/:id/acknowledge", role: .operator) { page in
      guard let until = until(page.form["until"], now: page.now) else {
        var errors = FieldErrors()
        errors.add("until", page.texts("reminders.until_wrong", ["limit": String(Renewable.longest)]))
        return try await show(page, errors)
      }
      let (id, now) = (try page.id(), page.now)
      let audit = page.audit(noun.taking, "\(noun.rawValue) \(id)", ["until": .time(until)])
      let taken = try await page.store.write { database in
        try Renewable.take(database, noun, id: id, until: until, audit: audit, now: now)
      }
      // Its page has no such form.
      guard taken != nil else { throw PageError(.conflict, "refused") }
      return page.redirect(to: "/\(noun.path)/\(id)", flash: "taken_on")
    }
    routes.page(.post, "/\(noun.path)/:id/unacknowledge", role: .operator) { page in
      let (id, now) = (try page.id(), page.now)
      let audit = page.audit(noun.givingBack, "\(noun.rawValue) \(id)")
      _ = try await page.store.write { database in
        try Renewable.giveBack(database, noun, id: id, audit: audit, now: now)
      }
      return page.redirect(to: "/\(noun.path)/\(id)", flash: "given_back")
    }
  }
}
