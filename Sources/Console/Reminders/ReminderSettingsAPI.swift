import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import Reminders
import SQLite
import Store

enum ReminderSettingsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/settings/reminders", role: .admin, scope: .admin) { call in
      let now = call.now
      return try await call.read { try answer($0, try ReminderSettings.load($0), now: now) }
    }
    routes.call(.put, "/settings/reminders", role: .admin, scope: .admin, change)
    routes.call(.delete, "/settings/reminders/checks/cron", role: .admin, scope: .admin) { call in
      try await call.store.write { database in
        guard try CheckRun.all(database).contains(where: { $0.source == .cron }) else {
          throw StoreError.notFound(noun: "check", id: CheckRun.Source.cron.rawValue)
        }
        try CheckRun.forget(database, .cron)
        try call.record(database, "settings.forget_cron", "settings reminders")
      }
      return APIContext.nothing
    }
  }

  private struct Answer: JSONObject, Sendable {
    let settings: ReminderSettings
    let runs: [CheckRun]
    let now: Date

    func writeMembers(to json: inout JSONWriter) {
      let late = Set(Watchman.late(runs, now: now))
      json.member("days", settings.ladder.days)
      json.member("hour", settings.hour)
      json.member("zone", settings.zoneName)
      json.objects("checks", runs) { json, run in
        json.member("source", run.source.rawValue)
        json.member("at", run.at)
        json.member("exit_code", run.exitCode)
        json.member("late", late.contains(run))
      }
    }
  }

  private static func answer(_ database: Database, _ settings: ReminderSettings, now: Date) throws -> Answer {
    Answer(settings: settings, runs: try CheckRun.all(database), now: now)
  }

  /// Absent members stay unchanged.
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
    let wanted = days
    return try await call.write { database in
      let known = try ReminderSettings.load(database)
      let form = ReminderForm(
        days: wanted ?? known.ladder.days, hour: hour ?? known.hour, zone: zone ?? known.zone.identifier)
      let settings = try form.settings()
      try settings.save(database)
      let audit = call.audit("settings.reminders", "settings reminders")
      try call.record(database, audit.changing(known.json, to: settings.json))
      return try answer(database, settings, now: call.now)
    }
  }
}
