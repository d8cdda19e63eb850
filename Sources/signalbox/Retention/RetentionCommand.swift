import Arguments
import Foundation
import JSON
import Model
import Store
import Text

enum RetentionCommand {
  private static let days = RetentionPolicy.fields.map { field in
    Option<Int?>(
      String(field.name.dropLast(5)).replacing("_", with: "-"), "days",
      "The number of days, e.g. 30d; 0 keeps data forever.", parseDays)
  }
  /// The options by the fields of the API.
  private static let options = Dictionary(
    uniqueKeysWithValues: RetentionPolicy.fields.map { field in
      (field.name, "--" + String(field.name.dropLast(5)).replacing("_", with: "-"))
    })
  private static let dryRun = Flag("dry-run", "Change nothing; only show what would be deleted.")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "retention", "Show or set how long deliveries, pushes, and other data are kept.",
    discussion:
      "The server deletes old data in small batches. The activity log is kept, except failed sign-ins, which are deleted "
      + "from it after 90 days.",
    subcommands: [
      Command("show", "Show the retention settings and the data due for deletion.", parameters: common, action: show),
      Command(
        "set", "Set retention periods. A running server deletes older data within an hour.",
        parameters: days.map(\.parameter) + [dryRun.parameter] + common, action: set),
    ])

  private static let show: Action = { values, io in
    let now = io.now()
    let (policy, due) = try readStore(values, io) { database in
      let policy = try RetentionPolicy.find(database)
      return (policy, try Trim.due(database, policy, now: now))
    }
    tell(policy, due, values, io)
    return ExitCode.done
  }

  private static let set: Action = { values, io in
    let now = io.now()
    let chosen = zip(RetentionPolicy.fields, days).compactMap { field, option in values[option].map { (field, $0) } }
    guard !chosen.isEmpty else { throw CommandFailure.usage("Set at least one period, e.g. --deliveries 30d.") }
    let (policy, due) = try writeStore(values, io) { database in
      let before = try RetentionPolicy.find(database)
      var policy = before
      for (field, days) in chosen { policy[keyPath: field.value] = days }
      if let problem = policy.problems.first { throw Problems([problem]).failure(options) }
      let due = try Trim.due(database, policy, now: now)
      if !values[dryRun], policy != before {
        try policy.save(database)
        try audit(
          database, "retention.update", "retention",
          ["before": .object(before.settings), "after": .object(policy.settings)], now: now)
      }
      return (policy, due)
    }
    tell(policy, due, values, io)
    return ExitCode.done
  }

  private static func tell(_ policy: RetentionPolicy, _ due: Trim.Due, _ values: Parsed, _ io: CommandIO) {
    if values[CommonOptions.json] {
      io.print(RetentionAnswer(policy: policy, due: due).prettyJSON)
      return
    }
    var table = io.table("ROWS", "KEPT FOR", "DUE NOW")
    for kind in Trim.Kind.allCases {
      let field = RetentionPolicy.fields.first { $0.name == kind.rawValue + "_days" }
      let days = field.map { policy[keyPath: $0.value] }
      let kept: Message =
        days.map { $0 == 0 ? "forever" : Message(count: $0, one: "1 day", other: "\($0) days") } ?? "until they expire"
      table.add(kind.rawValue.replacing("_", with: "-"), io.text(kept), "\(due[kind])")
    }
    io.print(table)
  }
}

extension RetentionPolicy {
  fileprivate var settings: [String: JSONValue] {
    Dictionary(uniqueKeysWithValues: Self.fields.map { ($0.name, JSONValue.integer(Int64(self[keyPath: $0.value]))) })
  }
}
