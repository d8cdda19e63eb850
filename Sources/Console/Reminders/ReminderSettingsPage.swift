import Calendar
import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import Reminders
import SQLite
import Store

/// `/settings/reminders`: the steps, the hour, the daily checks, and the messages sent.
enum ReminderSettingsPage {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/settings/reminders", role: .admin) { page in
      let settings = try await page.store.read { try ReminderSettings.load($0) }
      let form = Form([
        ("days", settings.ladder.days.map(String.init).joined(separator: ", ")), ("hour", String(settings.hour)),
        ("zone", settings.zoneName),
      ])
      return try await show(page, form.with(settings.revision), FieldErrors())
    }
    routes.page(.post, "/settings/reminders", role: .admin, save)
    routes.page(.post, "/settings/reminders/forget-cron", role: .admin) { page in
      try await page.store.write { database in
        try CheckRun.forget(database, .cron)
        try page.record(database, "settings.forget_cron", "settings reminders")
      }
      return page.redirect(to: "/settings/reminders", flash: "settings_saved")
    }
  }

  private static func show(_ page: PageContext, _ form: Form, _ errors: FieldErrors) async throws -> Response {
    let texts = page.texts
    let pager = Pager(page.request, path: "/settings/reminders")
    let (runs, log, settings) = try await page.store.read { database in
      (
        try CheckRun.all(database), try ReminderLog(database, cursor: pager.cursor, limit: 20),
        try ReminderSettings.load(database)
      )
    }
    let late = Set(Watchman.late(runs, now: page.now).map(\.source))
    return page.answer(
      ReminderSettingsView(
        form: form, errors: errors, ladder: LadderView(settings.ladder, texts),
        zones: TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") },
        checks: CheckRun.Source.allCases.map { source in
          let run = runs.first { $0.source == source }
          let isLate = late.contains(source)
          return CheckRow(
            name: texts("settings.checks.\(source.rawValue)"), at: run?.at, isLate: isLate,
            state: texts(
              run == nil ? "settings.checks.unused" : isLate ? "settings.checks.late" : "settings.checks.good"),
            isForgettable: source == .cron && run != nil)
        },
        command: "0 8 * * *  signalbox check-certificates --notify --data \(dataFolder(page)) "
          + "--address \(page.address)",
        messages: log.messages(texts, showsItems: true, showsReceivers: true), pager: PagerView(pager, next: log.next)),
      status: errors.status)
  }

  /// For a POSIX shell.
  private static func dataFolder(_ page: PageContext) -> String {
    let folder = URL(filePath: page.store.pool.path).deletingLastPathComponent().absoluteURL.path
    return "'\(folder.replacing("'", with: "'\\''"))'"
  }

  private static func save(_ page: PageContext) async throws -> Response {
    let (form, texts) = (page.form, page.texts)
    let words = form.words("days")
    let days = words.compactMap { Int($0) }
    let settings: ReminderSettings
    do {
      settings = try ReminderForm(
        days: days.count == words.count ? days : nil, hour: Int(form["hour"]) ?? -1, zone: form["zone"]
      ).settings()
    } catch { return try await show(page, form, FieldErrors(error, texts)) }
    let audit = page.audit("settings.reminders", "settings reminders")
    let late = try await page.save(
      settings.json, over: { try ReminderSettings.load($0).json }, audit: audit
    ) { try settings.save($0) }
    if let late { return try await show(page, late.form, late.errors) }
    return page.redirect(to: "/settings/reminders", flash: "settings_saved")
  }
}

/// The messages sent: to whom, when, and the answer.
struct ReminderLog: Sendable {
  struct Row: Sendable {
    let message: ReminderMessage
    let reminders: [Reminder]
  }

  let rows: [Row]
  let next: String?

  init(_ database: Database, itemKey: String? = nil, cursor: String? = nil, limit: Int) throws {
    let page = try ReminderMessage.list(database, itemKey: itemKey, cursor: cursor, limit: limit)
    rows = try page.items.map { Row(message: $0, reminders: try Reminder.of(database, message: $0.id)) }
    next = page.next
  }

  /// As “30 days”, “expired”.
  static func step(_ step: Int, _ texts: Texts) -> String {
    switch step {
    case ..<0: texts("reminders.expired")
    case 0: texts("reminders.today")
    default: texts("reminders.step", count: step)
    }
  }
}
