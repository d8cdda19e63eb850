import Arguments
import Certificates
import Foundation
import JSON
import Model
import SQLite
import Store
import Text

enum AppsCommand {
  private static let app = Argument<String>("bundle-id", "The app's bundle ID, e.g. com.example.app.")
  private static let name = Option(required: "name", "text", "The app's display name.")
  private static let package = Option<String?>("package-name", "name", "The Android package name, if it differs.")
  private static let rule = Option(
    "alias-rule", "rule", "The rule for aliases and tags: none or jpush.", default: AliasRule.none, showing: "none",
    parseWord(or: BadValue("is not none or jpush")))
  private static let force = Flag("force", "Delete the app even if it has devices, pushes, or schedules.")
  private static let removal = Flag("remove", "Remove the key pair: servers that still use it are refused.")
  private static let environment = Argument(
    "environment", "development or production.", Environment.parse
  ).among(Environment.names)
  private static let proxyURL = Argument<String>(
    "proxy",
    "The proxy's URL, e.g. http://user@proxy.example.com:3128; none: direct; default: the server's own setting.")
  private static let provider = Option(
    "provider", "provider", "The push service: apns, fcm, or jpush.", default: ProviderKind.apns, showing: "apns",
    ProviderKind.parse
  ).among(ProviderKind.names)
  private static let proxyPassword = Option<String?>(
    "proxy-password", "text", "The proxy's password, so that it is not on the command line.", onlyFromEnvironment: true)
  private static let approval = Argument<Bool>("setting", "on or off.") { text throws(BadValue) in
    guard let setting = ["on": true, "off": false][text] else { throw BadValue("is not on or off") }
    return setting
  }.among(["on", "off"])
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "apps", "List, add, and delete apps.",
    subcommands: [
      Command("list", "List apps with their number of devices.", parameters: common, action: list),
      Command("show", "Show an app.", parameters: [app.parameter] + common, action: show),
      Command(
        "add", "Add an app.",
        parameters: [app.parameter, name.parameter, package.parameter, rule.parameter] + common, action: add),
      Command(
        "remove", "Delete an app with its devices and pushes. Certificates stay.",
        parameters: [app.parameter, force.parameter, CommonOptions.data.parameter], action: remove),
      Command(
        "approval", "Set whether a push to production needs a second person's approval.",
        parameters: [app.parameter, approval.parameter, CommonOptions.data.parameter], action: setApproval),
      Command(
        "proxy", "Set the proxy of an app's credential.",
        parameters: [
          app.parameter, environment.parameter, proxyURL.parameter, provider.parameter, proxyPassword.parameter,
          CommonOptions.data.parameter,
        ], action: proxy),
      Command(
        "jpush-key", "Create the app's key pair for the JPush-compatible API, or replace its master secret.",
        parameters: [app.parameter, removal.parameter] + common, action: jpushKey),
      ClientKeysCommand.command(app),
    ])

  private static let setApproval: Action = { values, io in
    try writeStore(values, io) { database in
      let app = try App.named(values[app], database)
      _ = try App.setApproval(database, id: app.id, values[approval], by: commandEntry, now: io.now())
    }
    let setting: Message = values[approval] ? "on" : "off"
    io.say("Approval of pushes to production of \(values[app]): \(setting).")
    return ExitCode.done
  }

  private static let list: Action = { values, io in
    let apps = try readStore(values, io) { try AppOverview.all($0) }
    io.hint(ifEmpty: apps, "no apps yet; add one: signalbox apps add <bundle-id> --name <name>")
    let table = io.table("BUNDLE ID", "NAME", "ACTIVE", "QUARANTINED", "DEAD", "CREDENTIALS")
    io.print(apps, values, in: table) { app in
      [
        app.app.bundleID, app.app.name, "\(app.count(state: .active))", "\(app.count(state: .quarantined))",
        "\(app.count(state: .dead))",
        app.credentials.map { "\($0.provider.rawValue)/\($0.environment.rawValue)" }.joined(separator: " "),
      ]
    }
    return ExitCode.done
  }

  private static let show: Action = { values, io in
    let found = try readStore(values, io) { try AppOverview.find($0, id: try App.named(values[app], $0).id) }
    guard let found else { throw CommandFailure("App \(values[app]) not found.") }
    if values[CommonOptions.json] {
      io.print(found.prettyJSON)
    } else {
      show(found, io)
    }
    return ExitCode.done
  }

  private static func show(_ found: AppOverview, _ io: CommandIO) {
    func tell(_ label: Message, _ text: String) { io.print("  \(io.text(label).padded(to: 12)) \(text)") }
    io.print("\(found.app.bundleID)  \(singleLine(found.app.name))")
    tell("alias rule", found.app.aliasRule ?? AliasRule.none.rawValue)
    if let name = found.app.packageName { tell("package name", name) }
    tell("added", found.app.createdAt.text)
    for environment in Environment.allCases {
      for platform in Platform.allCases where found.count(environment: environment, platform: platform) > 0 {
        let counts = DeviceState.allCases.map { state in
          let count = found.count(environment: environment, platform: platform, state: state)
          return "\(count) \(io.word(state.name, "state."))"
        }
        tell("devices", io.text("\(io.word(environment)) \(platform.rawValue): \(io.list(counts))"))
      }
    }
    for credential in found.credentials {
      let name = credential.certificateName.map(singleLine) ?? io.text("no credential")
      let end: Message = credential.certificateNotAfter.map { ", until \($0.text)" } ?? ""
      let proxy: Message = credential.proxy.map { " through \($0.text)" } ?? ""
      let health: Message =
        switch credential.health {
        case .unused: "unused"
        case .accepted: "accepted"
        case .refused: "refused"
        }
      let place = "\(credential.provider.rawValue) \(io.word(credential.environment))"
      tell("credential", io.text("\(place): \(name)\(end), to \(credential.endpoint)\(proxy), \(health)"))
    }
  }

  private static let add: Action = { values, io in
    let now = io.now()
    var problems: [Problem] = []
    if let problem = AppName.problem(withBundleID: values[app]) { problems.append(problem.under("<bundle-id>")) }
    if let problem = AppName.problem(withName: values[name]) { problems.append(problem.under("--name")) }
    if let package = values[package], let problem = AppName.problem(withPackageName: package) {
      problems.append(problem.under("--package-name"))
    }
    guard problems.isEmpty else { throw CommandFailure.usage("\(Problems(problems))") }
    let added = try writeStore(values, io, creating: true) { database in
      let added = try App.add(
        database, bundleID: values[app], name: values[name], packageName: values[package],
        aliasRule: values[rule].rawValue, now: now)
      try audit(database, "app.create", "app \(added.bundleID)", now: now)
      return try AppOverview.find(database, id: added.id)
    }
    if values[CommonOptions.json], let added {
      io.print(added.prettyJSON)
    } else {
      io.say("Added \(values[app]).")
    }
    return ExitCode.done
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try writeStore(values, io) { database in
      let app = try App.named(values[app], database)
      let belongings = try App.belongings(database, id: app.id)
      guard
        values[force] || (belongings.devices == 0 && belongings.pushes == 0 && belongings.schedules == 0)
      else {
        let (devices, pushes, schedules) = (belongings.devices, belongings.pushes, belongings.schedules)
        let parts = (
          Message(count: devices, one: "1 device", other: "\(devices) devices"),
          Message(count: pushes, one: "1 push", other: "\(pushes) pushes"),
          Message(count: schedules, one: "1 schedule", other: "\(schedules) schedules")
        )
        throw CommandFailure(
          """
          \(app.bundleID) has \(parts.0), \(parts.1), and \(parts.2), which would be deleted too. To delete them \
          all, use --force.
          """)
      }
      let entry = NewAuditEntry(actor: commandActor, action: "app.delete", subject: "app \(app.bundleID)")
      do {
        try app.remove(database, audit: entry, now: now)
      } catch StoreError.inUse {
        throw CommandFailure(
          "\(app.bundleID) has pushes that are scheduled or being sent. Cancel them first, or wait until they end.")
      }
    }
    io.say("Removed \(values[app]).")
    return ExitCode.done
  }

  private static let proxy: Action = { values, io in
    let now = io.now()
    let text = values[proxyURL] == "default" ? "" : values[proxyURL]
    try withStore(values, io) { store in
      let sealer = store.sealer
      try store.writeSync { database in
        let app = try App.named(values[app], database)
        let (kind, environment) = (values[provider], values[environment])
        guard let credential = try Credential.find(database, app: app.id, provider: kind, environment: environment)
        else {
          throw CommandFailure(
            """
            \(app.bundleID) has no \(kind.rawValue) credential for \(environment.rawValue). Assign one first: \
            signalbox certificates add <file> --app \(app.bundleID) --use-for \(environment.rawValue)
            """)
        }
        var wanted: CredentialProxy?
        do throws(Problems) {
          wanted = try CredentialRule.proxy(text, before: credential.proxy)
        } catch { throw error.failure(["proxy": "<proxy>"], isUsage: true) }
        if let password = values[proxyPassword], let given = wanted, given.user != nil {
          wanted = CredentialProxy(address: given.address, user: given.user, password: .plain(password))
        }
        try CredentialProxy.set(database, credential: credential.id, wanted, sealer: sealer, now: now)
        let entry = NewAuditEntry(actor: commandActor, action: "credential.proxy", subject: "app \(app.bundleID)")
        let after = try Credential.find(database, id: credential.id)
        try AuditEntry.add(database, entry.changing(credential, to: after), now: now)
      }
    }
    io.say("Saved. It applies to new connections at once.")
    return ExitCode.done
  }

  private static let jpushKey: Action = { values, io in
    let now = io.now()
    let issued = try writeStore(values, io) { database -> (key: JPushKey, secret: String)? in
      let app = try App.named(values[app], database)
      guard values[removal] else { return try JPushKey.issue(database, app: app, by: commandActor, now: now) }
      guard try JPushKey.remove(database, app: app, by: commandActor, now: now) else {
        throw CommandFailure("\(app.bundleID) has no JPush keys.")
      }
      return nil
    }
    guard let issued else {
      io.say("Removed the JPush keys of \(values[app]).")
      return ExitCode.done
    }
    if values[CommonOptions.json] {
      io.print(IssuedJPushKey(key: issued.key, secret: issued.secret).prettyJSON)
    } else {
      io.print("AppKey         \(issued.key.appKey)")
      io.print("\(io.text("Master secret").padded(to: 13))  \(issued.secret)")
      io.note("Copy the master secret now: only its hash is stored. An earlier one is refused from now on.")
    }
    return ExitCode.done
  }
}

/// A key pair that was just made.
private struct IssuedJPushKey: JSONObject {
  let key: JPushKey
  let secret: String

  func writeMembers(to json: inout JSONWriter) {
    json.member("app_key", key.appKey)
    json.member("master_secret", secret)
  }
}
