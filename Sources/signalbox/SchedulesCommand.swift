import Arguments
import Foundation
import Push
import SQLite
import Store

/// `signalbox schedules …`: what repeats. `send --every` makes one.
enum SchedulesCommand {
  private static let id = Argument<String>("id", "The schedule, as list shows it.")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "schedules", "Lists, pauses, resumes and ends what repeats.",
    subcommands: [
      Command("list", "Lists the schedules, newest first.", parameters: common, action: list),
      Command("pause", "Lets one rest.", parameters: [id.parameter, CommonOptions.data.parameter]) { values, io in
        try change(values, io, "schedule.pause", "is not active") { try Schedule.pause($0, id: $1) }
      },
      Command("resume", "Lets one go on.", parameters: [id.parameter, CommonOptions.data.parameter]) { values, io in
        let now = io.now()
        return try change(values, io, "schedule.resume", "is not paused") {
          try Schedule.resume($0, id: $1, now: now)
        }
      },
      Command("cancel", "Ends one for good.", parameters: [id.parameter, CommonOptions.data.parameter]) { values, io in
        let now = io.now()
        return try change(values, io, "schedule.cancel", "has ended already") {
          try Schedule.end($0, id: $1, now: now)
        }
      },
    ])

  private static let limit = 500

  private static let list: Action = { values, io in
    let now = io.now()
    let (schedules, apps) = try withStore(values, io) { store in
      try store.readSync { database in
        (
          try Schedule.list(database, limit: limit).items,
          Dictionary(uniqueKeysWithValues: try App.all(database).map { ($0.id, $0.bundleID) })
        )
      }
    }
    if values[CommonOptions.json] {
      io.print(JSONValue.array(schedules.map { json($0, apps[$0.appID] ?? "", now) }).text(pretty: true))
      return ExitCode.done
    }
    var table = TextTable("ID", "APP", "ENVIRONMENT", "STATE", "NEXT", "SENT", "MISSED", "TEXT")
    for schedule in schedules {
      table.add(
        schedule.uid, apps[schedule.appID] ?? "", schedule.environment.rawValue, schedule.state.rawValue,
        schedule.nextAt?.text ?? "-", "\(schedule.sent)", "\(schedule.missed)", schedule.title ?? schedule.body ?? "")
    }
    io.print(table)
    return ExitCode.done
  }

  /// Members of the API's schema `Schedule`.
  static func json(_ schedule: Schedule, _ app: String, _ now: Date) -> JSONValue {
    [
      "id": .string(schedule.uid), "state": .string(schedule.state.rawValue), "error": .optional(schedule.error),
      "app": .string(app), "environment": .string(schedule.environment.rawValue),
      "next_at": .optional(schedule.nextAt),
      "next": .array(schedule.occurrences(from: now, limit: 5).map { .string($0.text) }),
      "sent": .number(schedule.sent), "missed": .number(schedule.missed),
    ]
  }

  private static func change(
    _ values: Parsed, _ io: CommandIO, _ action: String, _ otherwise: String,
    _ change: @escaping (Database, Int64) throws -> Bool
  ) throws -> Int32 {
    let (uid, now) = (values[id], io.now())
    try withStore(values, io) { store in
      try store.writeSync { database in
        guard let schedule = try Schedule.find(database, uid: uid) else {
          throw CommandFailure("There is no schedule \(uid). See: signalbox schedules list")
        }
        guard try change(database, schedule.id) else { throw CommandFailure("The schedule \(uid) \(otherwise).") }
        try audit(database, action, "schedule \(uid)", now: now)
      }
    }
    return ExitCode.done
  }
}
