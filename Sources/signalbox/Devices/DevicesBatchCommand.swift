import Arguments
import Console
import JSON
import Model
import SQLite
import Store
import Text

/// `signalbox devices tag`, `alias`, `reactivate`, `move` and `merge`: as `POST /api/v1/devices/batch`, all or none.
enum DevicesBatchCommand {
  private static let added = Option<[String]>(repeated: "add", "tag", "A tag to add. Repeatable.")
  private static let removed = Option<[String]>(
    repeated: "remove", "tag", "A tag to remove. Repeatable.", CommonOptions.filled)
  private static let alias = Option<String?>("alias", "name", "The alias to set.")
  private static let none = Flag("none", "Remove the aliases.")
  private static let environment = Option<Environment>(
    required: "to", "environment", "The environment to move to: development or production.", Environment.parse
  ).among(Environment.names)
  private static let kept = Argument<String>("id", "The ID of the device that stays.")
  private static let gone = Argument<String>("other", "The ID of the device to merge into it. This one is deleted.")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let commands = [
    Command<Action>(
      "tag", "Add tags to devices, or remove them.",
      parameters: [DevicesCommand.ids.parameter, added.parameter, removed.parameter] + common
    ) { values, io in
      guard !values[added].isEmpty || !values[removed].isEmpty else {
        throw CommandFailure.usage("Use --add or --remove.")
      }
      var changes: [Change] = []
      if !values[added].isEmpty { changes.append(Change(action: .addTags, tags: values[added])) }
      if !values[removed].isEmpty { changes.append(Change(action: .removeTags, tags: values[removed])) }
      return try run(changes, try ids(values), values, io)
    },
    Command<Action>(
      "alias", "Set one alias for devices, or remove their aliases.",
      parameters: [DevicesCommand.ids.parameter, alias.parameter, none.parameter] + common
    ) { values, io in
      guard (values[alias] != nil) != values[none] else { throw CommandFailure.usage("Use --alias or --none.") }
      return try run([Change(action: .setAlias, alias: values[alias])], try ids(values), values, io)
    },
    Command<Action>(
      "reactivate", "Reactivate parked devices.", parameters: [DevicesCommand.ids.parameter] + common
    ) { values, io in try run([Change(action: .reactivate)], try ids(values), values, io) },
    Command<Action>(
      "move", "Move devices of one app to another environment, where they become active.",
      discussion: "Devices that are moved to production get the pushes that are sent there.",
      parameters: [DevicesCommand.ids.parameter, environment.parameter] + common
    ) { values, io in
      let action: DeviceBatchAction = values[environment] == .production ? .toProduction : .toDevelopment
      return try run([Change(action: action)], try ids(values), values, io)
    },
    Command<Action>(
      "merge", "Merge two devices that are the same installation.",
      discussion:
        "The device that stays keeps its token. It gets the tags and history of the other device, and any alias, "
        + "registration ID, or name that it lacks. The other device is deleted.",
      parameters: [kept.parameter, gone.parameter] + common
    ) { values, io in
      let (stays, other) = (try DevicesCommand.id(values[kept]), try DevicesCommand.id(values[gone]))
      return try run([Change(action: .merge, kept: stays)], [stays, other], values, io)
    },
  ]

  private struct Change {
    let action: DeviceBatchAction
    var tags: [String] = []
    var alias: String?
    var kept: Int64?
  }

  /// Each once, in the given order.
  private static func ids(_ values: Parsed) throws -> [Int64] {
    var seen: Set<Int64> = []
    return try values[DevicesCommand.ids].map(DevicesCommand.id).filter { seen.insert($0).inserted }
  }

  private static func run(_ changes: [Change], _ ids: [Int64], _ values: Parsed, _ io: CommandIO) throws -> Int32 {
    let now = io.now()
    let answers: [DeviceBatchAnswer] = try writeStore(values, io) { database in
      try changes.map { change in
        var batch = try DeviceBatch(database, change.action, ids)
        (batch.tags, batch.alias, batch.kept) = (change.tags, change.alias, change.kept)
        do throws(Problems) { try batch.check() } catch {
          throw error.failure(["alias": "--alias", "tags": change.action == .addTags ? "--add" : "--remove"])
        }
        let changed = try batch.carryOut(database, by: commandActor, now: now) {
          NewAuditEntry(actor: commandActor, action: $0, subject: "device \($1)", detail: $2)
        }
        return DeviceBatchAnswer(batch, of: ids, changed: changed)
      }
    }
    let missing = answers.first?.missing ?? []
    for id in missing { io.complain("Device \(id) not found.") }
    if values[CommonOptions.json] {
      io.print(answers.prettyJSON)
    } else {
      for answer in answers {
        let action = io.word(answer.action.rawValue, "devices.batch.actions.").replacing("_", with: " ")
        io.say(
          Message(
            count: ids.count, one: "\(action): changed \(answer.changed) of 1 device.",
            other: "\(action): changed \(answer.changed) of \(ids.count) devices."))
      }
    }
    return missing.isEmpty ? ExitCode.done : ExitCode.failed
  }
}
