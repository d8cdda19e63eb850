import Arguments
import Foundation
import Push
import Store

/// `signalbox retention …`
enum RetentionCommand {
  private static let days = RetentionPolicy.fields.map { field in
    Option<Int?>(
      String(field.name.dropLast(5)).replacing("_", with: "-"), "days", "Days, as 30d; 0: for ever.", parseDays)
  }
  private static let dryRun = Flag("dry-run", "Changes nothing: tells what would be removed.")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "retention", "Shows and sets how long deliveries, pushes and other rows are kept.",
    discussion: "The server removes what is too old, a little at a time; the audit is always kept.",
    subcommands: [
      Command("show", "Shows the times, and what is too old now.", parameters: common, action: show),
      Command(
        "set", "Sets times; what is too old by them is removed within the hour while the server runs.",
        parameters: days.map(\.parameter) + [dryRun.parameter] + common, action: set),
    ])

  private static let show: Action = { values, io in
    let now = io.now()
    let (policy, due) = try withStore(values, io) { store in
      try store.readSync { database in
        let policy = try RetentionPolicy.find(database)
        return (policy, try Trim.due(database, policy, now: now))
      }
    }
    tell(policy, due, values, io)
    return ExitCode.done
  }

  private static let set: Action = { values, io in
    let now = io.now()
    let chosen = zip(RetentionPolicy.fields, days).compactMap { field, option in
      values[option].map { (field, $0) }
    }
    guard !chosen.isEmpty else { throw CommandFailure.usage("Name at least one time, as --deliveries 30d.") }
    let (policy, due) = try withStore(values, io) { store in
      try store.writeSync { database in
        let before = try RetentionPolicy.find(database)
        var policy = before
        for (field, days) in chosen { policy[keyPath: field.value] = days }
        if let problem = policy.problems.first { throw CommandFailure(problem.description) }
        let due = try Trim.due(database, policy, now: now)
        if !values[dryRun], policy != before {
          try policy.save(database)
          try audit(database, "retention.update", "retention", policy.settings, now: now)
        }
        return (policy, due)
      }
    }
    tell(policy, due, values, io)
    return ExitCode.done
  }

  private static func tell(_ policy: RetentionPolicy, _ due: Trim.Due, _ values: Parsed, _ io: CommandIO) {
    if values[CommonOptions.json] {
      var members = policy.settings
      members["due"] = .object(
        Dictionary(uniqueKeysWithValues: Trim.Kind.allCases.map { ($0.rawValue, .integer(Int64(due[$0]))) }))
      io.print(JSONValue.object(members).text(pretty: true))
      return
    }
    var table = TextTable("ROWS", "KEPT FOR", "TOO OLD NOW")
    for kind in Trim.Kind.allCases {
      let field = RetentionPolicy.fields.first { $0.name == kind.rawValue + "_days" }
      let days = field.map { policy[keyPath: $0.value] }
      let kept = days.map { $0 == 0 ? "ever" : $0 == 1 ? "1 day" : "\($0) days" } ?? "until they end"
      table.add(kind.rawValue.replacing("_", with: "-"), kept, "\(due[kind])")
    }
    io.print(table)
  }
}

extension RetentionPolicy {
  /// Every setting by its name.
  fileprivate var settings: [String: JSONValue] {
    Dictionary(
      uniqueKeysWithValues: Self.fields.map { ($0.name, JSONValue.integer(Int64(self[keyPath: $0.value]))) })
  }
}
