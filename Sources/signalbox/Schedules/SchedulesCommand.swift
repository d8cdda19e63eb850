import Arguments
import Foundation
import JSON
import Model
import Store
import Text

/// `signalbox schedules …`: lists and changes schedules. `send --every` creates one.
enum SchedulesCommand {
  private static let id = Argument<String>("id", "The schedule's ID, as shown by list.")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "schedules", "List, pause, resume, and end schedules.",
    subcommands: [
      Command("list", "List schedules, newest first.", parameters: common, action: list),
      Command("pause", "Pause a schedule.", parameters: [id.parameter, CommonOptions.data.parameter]) { values, io in
        try change(.pause, values, io)
      },
      Command("resume", "Resume a schedule.", parameters: [id.parameter, CommonOptions.data.parameter]) { values, io in
        try change(.resume, values, io)
      },
      Command(
        "cancel", "End a schedule.", parameters: [id.parameter, CommonOptions.data.parameter]
      ) { values, io in
        try change(.cancel, values, io)
      },
    ])

  private static let limit = 500

  private static let list: Action = { values, io in
    let now = io.now()
    let (schedules, apps) = try readStore(values, io) { database in
      (try Schedule.list(database, limit: limit).items, try App.bundleIDs(database))
    }
    io.hint(ifEmpty: schedules, "no repeating pushes yet; see: signalbox send --help")
    let table = io.table("ID", "APP", "ENVIRONMENT", "STATE", "NEXT", "SENT", "MISSED", "TEXT")
    io.print(
      schedules, as: { ScheduleSummary(schedule: $0, app: apps[$0.appID] ?? "", now: now) }, values, in: table
    ) { schedule in
      [
        schedule.uid, apps[schedule.appID] ?? "", io.word(schedule.environment),
        io.word(schedule.state.rawValue, "schedules."), schedule.nextAt?.text ?? "-", "\(schedule.sent)",
        "\(schedule.missed)", schedule.title ?? schedule.body ?? "",
      ]
    }
    return ExitCode.done
  }

  private static func change(_ change: ScheduleChange, _ values: Parsed, _ io: CommandIO) throws -> Int32 {
    let (uid, now) = (values[id], io.now())
    try writeStore(values, io) { database in
      guard let schedule = try Schedule.find(database, uid: uid) else {
        throw CommandFailure("Schedule \(uid) not found. See: signalbox schedules list")
      }
      guard try change.carryOut(database, schedule, by: commandActor, now: now) else {
        throw CommandFailure("\(uid): \(io.recorded(change.otherwise))")
      }
    }
    return ExitCode.done
  }
}

/// Members of the API's schema `Schedule`.
struct ScheduleSummary: JSONObject {
  let schedule: Schedule
  let app: String
  let now: Date

  func writeMembers(to json: inout JSONWriter) {
    json.member("id", schedule.uid)
    json.member("state", schedule.state.rawValue)
    json.member("error", schedule.error)
    json.member("app", app)
    json.member("environment", schedule.environment.rawValue)
    json.member("next_at", schedule.nextAt)
    json.member("next", schedule.occurrences(from: now, limit: 5).map(\.text))
    json.member("sent", schedule.sent)
    json.member("missed", schedule.missed)
  }
}
