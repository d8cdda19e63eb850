import Arguments
import Foundation
import Push
import SQLite
import Store

/// `signalbox apps …`
enum AppsCommand {
  private static let app = Argument<String>("bundle-id", "The app, as com.example.app.")
  private static let name = Option(required: "name", "text", "What people call it.")
  private static let package = Option<String?>("package-name", "name", "Its name on Android, if that is another one.")
  private static let rule = Option(
    "alias-rule", "rule", "What aliases and tags may look like: none or jpush.", default: AliasRule.none,
    showing: "none"
  ) { text throws(BadValue) in
    guard let rule = AliasRule(rawValue: text) else { throw BadValue("is neither none nor jpush") }
    return rule
  }
  private static let force = Flag("force", "Also if devices and pushes go with it.")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "apps", "Lists, adds and removes apps.",
    subcommands: [
      Command("list", "Lists the apps with the number of their devices.", parameters: common, action: list),
      Command("show", "Shows an app.", parameters: [app.parameter] + common, action: show),
      Command(
        "add", "Adds an app.",
        parameters: [app.parameter, name.parameter, package.parameter, rule.parameter] + common, action: add),
      Command(
        "remove", "Removes an app with its devices and pushes; certificates stay.",
        parameters: [app.parameter, force.parameter, CommonOptions.data.parameter], action: remove),
    ])

  private static let list: Action = { values, io in
    let apps = try withStore(values, io) { store in try store.readSync { try AppOverview.all($0) } }
    if values[CommonOptions.json] {
      io.print(JSONValue.array(apps.map(\.json)).text(pretty: true))
    } else {
      var table = TextTable("BUNDLE ID", "NAME", "ACTIVE", "QUARANTINED", "DEAD", "CREDENTIALS")
      for app in apps {
        table.add(
          app.app.bundleID, app.app.name, "\(app.count(state: .active))", "\(app.count(state: .quarantined))",
          "\(app.count(state: .dead))",
          app.credentials.map { "\($0.provider.rawValue)/\($0.environment.rawValue)" }.joined(separator: " "))
      }
      io.print(table)
    }
    return ExitCode.done
  }

  private static let show: Action = { values, io in
    let found = try withStore(values, io) { store in
      try store.readSync { try AppOverview.find($0, id: try App.named(values[app], $0).id) }
    }
    guard let found else { throw CommandFailure("There is no app \(values[app]).") }
    if values[CommonOptions.json] {
      io.print(found.json.text(pretty: true))
    } else {
      show(found, io)
    }
    return ExitCode.done
  }

  private static func show(_ found: AppOverview, _ io: CommandIO) {
    io.print("\(found.app.bundleID)  \(singleLine(found.app.name))")
    io.print("  alias rule   \(found.app.aliasRule ?? AliasRule.none.rawValue)")
    if let name = found.app.packageName { io.print("  package name \(name)") }
    io.print("  added        \(found.app.createdAt.text)")
    for environment in Environment.allCases {
      for platform in Platform.allCases where found.count(environment: environment, platform: platform) > 0 {
        let counts = DeviceState.allCases.map { state in
          "\(found.count(environment: environment, platform: platform, state: state)) \(state.name)"
        }
        io.print("  devices      \(environment.rawValue) \(platform.rawValue): \(counts.joined(separator: ", "))")
      }
    }
    for credential in found.credentials {
      let name = credential.certificateName.map(singleLine) ?? "no certificate or key"
      let end = credential.certificateNotAfter.map { ", until \($0.text)" } ?? ""
      io.print(
        "  credential   \(credential.provider.rawValue) \(credential.environment.rawValue): \(name)\(end), "
          + "to \(credential.endpoint), \(credential.health.rawValue)")
    }
  }

  private static let add: Action = { values, io in
    let now = io.now()
    var problems: [Problem] = []
    if let problem = AppName.problem(withBundleID: values[app]) { problems.append(problem.under("bundle id")) }
    if let problem = AppName.problem(withName: values[name]) { problems.append(problem.under("name")) }
    if let package = values[package], let problem = AppName.problem(withPackageName: package) {
      problems.append(problem.under("package name"))
    }
    guard problems.isEmpty else { throw CommandFailure(Problems(problems).description) }
    let added = try withStore(values, io, creating: true) { store in
      try store.writeSync { database in
        let added = try App.add(
          database, bundleID: values[app], name: values[name], packageName: values[package],
          aliasRule: values[rule].rawValue, now: now)
        try audit(database, "app.create", "app \(added.bundleID)", now: now)
        return try AppOverview.find(database, id: added.id)
      }
    }
    if values[CommonOptions.json], let added {
      io.print(added.json.text(pretty: true))
    } else {
      io.print("Added \(values[app]).")
    }
    return ExitCode.done
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try withStore(values, io) { store in
      try store.writeSync { database in
        let app = try App.named(values[app], database)
        let belongings = try App.belongings(database, id: app.id)
        guard
          values[force] || (belongings.devices == 0 && belongings.pushes == 0 && belongings.schedules == 0)
        else {
          throw CommandFailure(
            "\(app.bundleID) has \(belongings.devices) devices, \(belongings.pushes) pushes and "
              + "\(belongings.schedules) schedules, which would go with it. Say --force if that is meant.")
        }
        try App.delete(database, id: app.id)
        try audit(
          database, "app.delete", "app \(app.bundleID)",
          ["devices": .number(belongings.devices), "pushes": .number(belongings.pushes)], now: now)
      }
    }
    io.print("Removed \(values[app]).")
    return ExitCode.done
  }
}
