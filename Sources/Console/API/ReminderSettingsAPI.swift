import Certificates
import Foundation
import HTTPServer
import Push
import Reminders
import SQLite
import Store

/// `/api/v1/settings/reminders`: on which days, at which hour, and who looks.
enum ReminderSettingsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/settings/reminders", role: .admin) { call in
      let now = call.now
      return APIContext.answer(
        try await call.store.read { try json($0, try ReminderSettings.load($0), now: now) })
    }
    routes.call(.put, "/settings/reminders", role: .admin) { call in try await change(call) }
    routes.call(.delete, "/settings/reminders/checks/cron", role: .admin) { call in
      let (audit, now) = (call.audit("settings.forget_cron", "settings reminders"), call.now)
      try await call.store.write { database in
        guard try CheckRun.all(database).contains(where: { $0.source == .cron }) else {
          throw StoreError.notFound(noun: "check", id: CheckRun.Source.cron.rawValue)
        }
        try CheckRun.forget(database, .cron)
        try AuditEntry.add(database, audit, now: now)
      }
      return APIContext.nothing
    }
  }

  /// The schema `ReminderSettings`.
  private static func json(_ database: Database, _ settings: ReminderSettings, now: Date) throws -> JSONValue {
    let runs = try CheckRun.all(database)
    let late = Set(Watchman.late(runs, now: now))
    return settings.json.merging([
      "checks": .array(
        runs.map { run in
          [
            "source": .string(run.source.rawValue), "at": .time(run.at), "exit_code": .number(run.exitCode),
            "late": .bool(late.contains(run)),
          ]
        })
    ])
  }

  /// What is not named stays as it is.
  private static func change(_ call: APIContext) async throws -> Response {
    let fields = JSONFields(try await call.body())
    var days: [Int]?
    if let list = fields.value("days") {
      days = list.array?.compactMap { $0.integer.flatMap { Int(exactly: $0) } }
      if days == nil || days?.count != list.array?.count || (days?.count ?? 0) > ReminderLadder.longest + 1 {
        days = []
      }
    }
    let hour = fields.integer("hour", in: 0...23)
    let zone = fields.string("zone")
    try fields.finish()
    let (wanted, now) = (days, call.now)
    return APIContext.answer(
      try await call.store.write { database in
        let known = try ReminderSettings.load(database)
        let form = ReminderForm(
          days: wanted ?? known.ladder.days, hour: hour ?? known.hour, zone: zone ?? known.zone.identifier)
        let settings = try form.settings()
        try settings.save(database)
        try AuditEntry.add(
          database, call.audit("settings.reminders", "settings reminders", settings.json), now: now)
        return try json(database, settings, now: now)
      })
  }
}
