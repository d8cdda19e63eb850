import Arguments
import Delivery
import Foundation
import JSON
import Model
import Providers
import SQLite
import Store
import Text

/// `signalbox jpush …`: what JPush itself keeps of an app.
enum JPushCommand {
  private static let app = Argument<String>("bundle-id", "The app's bundle ID, e.g. com.example.app.")
  private static let environment = Argument("environment", "development or production.", Environment.parse)
    .among(Environment.names)
  private static let registrationID = Argument<String>("registration-id", "The device's registration ID.")
  private static let name = Argument<String>("name", "The tag or alias.")
  private static let schedule = Argument<String>("schedule-id", "The schedule's ID, as shown by schedules.")
  private static let align = Flag("align", "Copy the device's alias and tags to JPush.")
  private static let place = [app.parameter, environment.parameter]
  private static let common = [
    CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter,
    CommonOptions.data.parameter,
    CommonOptions.json.parameter,
  ]

  static let command = Command<Action>(
    "jpush", "Show and change what JPush itself stores: devices, aliases, tags, and schedules.",
    subcommands: [
      Command(
        "device", "Compare a device's alias and tags at JPush with those here.",
        discussion: "Exit code 1 if they differ.",
        parameters: place + [registrationID.parameter, align.parameter] + common, action: showDevice),
      Command("schedules", "List the schedules at JPush.", parameters: place + common, action: listSchedules),
      Command("tags", "List the tags at JPush.", parameters: place + common, action: listTags),
      Command(
        "alias", "List the registration IDs of an alias at JPush.", parameters: place + [name.parameter] + common,
        action: showAlias),
      Command(
        "remove-schedule", "Delete a schedule at JPush.", parameters: place + [schedule.parameter] + common,
        action: { try await remove($0, $1, .schedule, $0[schedule]) }),
      Command(
        "remove-tag", "Delete a tag at JPush. All devices lose it there.",
        parameters: place + [name.parameter] + common, action: { try await remove($0, $1, .tag, $0[name]) }),
      Command(
        "remove-alias", "Delete an alias at JPush. All devices lose it there.",
        parameters: place + [name.parameter] + common, action: { try await remove($0, $1, .alias, $0[name]) }),
    ])

  private static func asking<Result>(
    _ values: Parsed, _ io: CommandIO, _ body: (JPushKeeper, App, Store) async throws -> Result
  ) async throws -> Result {
    try await ChannelsCommand.routed(values, io, values[app]) { routes, app, store in
      try await body(JPushKeeper(store: store, routes: routes), app, store)
    }
  }

  private static let showDevice: Action = { values, io in
    let (id, environment) = (values[registrationID], values[environment])
    let known = try await asking(values, io) { keeper, app, store in
      let found = try store.readSync { try Device.find($0, app: app.id, token: DeviceToken(text: id)) }
      guard let device = found, device.provider == .jpush, device.environment == environment else {
        throw CommandFailure("No device is registered with JPush as \(id) in \(io.word(environment)).")
      }
      guard values[align] else { return try await keeper.device(device) }
      do {
        return try await keeper.align(device, by: KeeperAuthor(commandActor, now: io.now()))
      } catch let problems as Problems {
        throw CommandFailure("\(problems)")
      }
    }
    if values[CommonOptions.json] {
      io.print(known.prettyJSON)
    } else {
      var table = io.table("", "SIGNALBOX", "JPUSH")
      table.add(io.text("alias"), known.ownAlias ?? "–", known.alias ?? "–")
      table.add(io.text("tags"), io.list(known.ownTags), io.list(known.tags))
      if let mobile = known.mobile { table.add(io.text("mobile"), "–", mobile) }
      io.print(table)
    }
    return known.isSame ? ExitCode.done : ExitCode.failed
  }

  private static let listSchedules: Action = { values, io in
    let schedules = try await asking(values, io) { keeper, app, _ in
      try await keeper.schedules(app: app, values[environment])
    }
    io.print(schedules, values, in: io.table("SCHEDULE", "NAME", "STATE", "TRIGGER")) { schedule in
      [schedule.id, schedule.name, io.text(schedule.isEnabled ? "on" : "off"), schedule.trigger.text()]
    }
    return ExitCode.done
  }

  private static let listTags: Action = { values, io in
    print(
      try await asking(values, io) { keeper, app, _ in try await keeper.tags(app: app, values[environment]) },
      values, io)
  }

  private static let showAlias: Action = { values, io in
    print(
      try await asking(values, io) { keeper, app, _ in
        try await keeper.devices(alias: values[name], app: app, values[environment])
      }, values, io)
  }

  private static func print(_ lines: [String], _ values: Parsed, _ io: CommandIO) -> Int32 {
    if values[CommonOptions.json] {
      io.print(JSONValue.array(lines.map(JSONValue.string)).text(pretty: true))
    } else {
      for line in lines { io.print(singleLine(line)) }
    }
    return ExitCode.done
  }

  private static func remove(
    _ values: Parsed, _ io: CommandIO, _ kind: JPushKeeper.Removable, _ name: String
  ) async throws -> Int32 {
    try await asking(values, io) { keeper, app, _ in
      try await keeper.remove(kind, name, app: app, values[environment], by: KeeperAuthor(commandActor, now: io.now()))
    }
    return ExitCode.done
  }
}
