import Arguments
import Foundation
import JSON
import Model
import SQLite
import Store
import Text

/// `signalbox incidents …`: lists, shows and changes incidents, also for cron: `list` says by its exit code whether one
/// is open.
enum IncidentsCommand {
  private static let id = Argument<Int64>("id", "The incident's ID, as shown by list.", parseID)
  private static let state = Option<IncidentState?>(
    "state", "state", "Only in this state: open, snoozed, or closed.",
    parseWord(or: BadValue("is not open, snoozed, or closed"))
  ).among(IncidentState.allCases.map(\.rawValue))
  private static let remark = Option(required: "remark", "text", "Why it is closed.")
  private static let days = Option<Int>("for", "days", "How long, e.g. 7d.", default: 1, showing: "1d", parseDays)
  private static let person = Option<String?>("to", "email", "The person to assign it to (default: no one).")
  private static let common = [id.parameter, CommonOptions.data.parameter, CommonOptions.json.parameter]

  /// More are for the API, which pages.
  private static let limit = 500

  static let command = Command<Action>(
    "incidents", "List incidents, and assign, close, snooze, or reopen them.",
    subcommands: [
      Command(
        "list", "List incidents, the most recently opened first.",
        discussion: "Exit code 1 if one of the listed incidents is open.",
        parameters: [
          state.parameter, CommonOptions.app.parameter, CommonOptions.data.parameter, CommonOptions.json.parameter,
        ], action: list),
      Command("show", "Show an incident with its cause, remedy, and pushes.", parameters: common, action: show),
      Command("close", "Close an incident.", parameters: common + [remark.parameter]) { values, io in
        try change(IncidentChange(event: .close, remark: values[remark]), values, io)
      },
      Command("snooze", "Snooze an incident.", parameters: common + [days.parameter]) { values, io in
        let until = io.now().addingTimeInterval(Double(values[days]) * 86_400)
        return try change(IncidentChange(event: .snooze(until: until)), values, io)
      },
      Command("assign", "Assign an incident to a person.", parameters: common + [person.parameter]) { values, io in
        try change(IncidentChange(assignee: .some(values[person])), values, io)
      },
      Command("reopen", "Reopen an incident.", parameters: common) { values, io in
        try change(IncidentChange(event: .reopen), values, io)
      },
    ])

  private static let list: Action = { values, io in
    let now = io.now()
    let found = try readStore(values, io) { database in
      let app = try values[CommonOptions.app].map { try App.named($0, database) }
      return try IncidentAnswer.list(
        database, IncidentFilter(state: values[state], app: app?.id, now: now), limit: limit
      ).items
    }
    let isOpen = found.contains { $0.incident.state(at: now) == .open }
    let table = io.table("ID", "STATE", "APP", "ENVIRONMENT", "PROVIDER", "REASON", "DEVICES", "PUSHES", "LAST SEEN")
    io.print(found, values, in: table) { one in
      let incident = one.incident
      return [
        "\(incident.id)", io.word(incident.state(at: now).rawValue, "incidents.states."), one.app,
        io.word(incident.place.environment), incident.place.provider.rawValue, incident.cause.reason,
        "\(incident.devices)", "\(incident.pushes)", incident.lastAt.text,
      ]
    }
    return isOpen ? ExitCode.failed : ExitCode.done
  }

  private static let show: Action = { values, io in
    let now = io.now()
    let found = try readStore(values, io) { try answer($0, values[id], now: now) }
    print(found, values, io)
    return ExitCode.done
  }

  private static func change(_ change: IncidentChange, _ values: Parsed, _ io: CommandIO) throws -> Int32 {
    let now = io.now()
    let found = try writeStore(values, io) { database in
      let before = try answer(database, values[id], now: now)
      do {
        try change.carryOut(database, id: before.incident.id, by: commandEntry, now: now)
      } catch let problems as Problems {
        throw CommandFailure.usage("\(io.sentences(problems.all.map { io.text("\($0.withoutField)") }))")
      }
      return try answer(database, values[id], now: now)
    }
    print(found, values, io)
    return ExitCode.done
  }

  private static func answer(_ database: Database, _ id: Int64, now: Date) throws -> IncidentAnswer {
    guard try Incident.find(database, id: id) != nil else {
      throw CommandFailure("Incident \(id) not found. See: signalbox incidents list")
    }
    return try IncidentAnswer(database, id: id, now: now)
  }

  private static func print(_ found: IncidentAnswer, _ values: Parsed, _ io: CommandIO) {
    guard !values[CommonOptions.json] else { return io.print(found.prettyJSON) }
    let (incident, reason) = (found.incident, Reason.of(found.incident.cause.reason))
    io.say("Incident \(incident.id): \(io.word(incident.state(at: io.now()).rawValue, "incidents.states."))")
    io.say("\(found.app), \(io.word(incident.place.environment)), \(incident.place.provider.name): \(reason.code)")
    let devices = Message(count: incident.devices, one: "1 device", other: "\(incident.devices) devices")
    let pushes = Message(count: incident.pushes, one: "1 push", other: "\(incident.pushes) pushes")
    io.say("\(devices) in \(pushes), last seen \(incident.lastAt.text)")
    if let assignee = incident.assignee { io.say("Assigned to \(assignee)") }
    io.print(io.sentences([io.cause(reason), io.remedy(reason)]))
  }
}
