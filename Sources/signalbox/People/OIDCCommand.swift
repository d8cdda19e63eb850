import Arguments
import JSON
import SQLite
import Store
import Text

/// The way back if the provider fails, and what is set.
enum OIDCCommand {
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]
  private static let data = [CommonOptions.data.parameter]

  static let command = Command<Action>(
    "oidc", "Show single sign-on (OpenID Connect), or turn it off if the provider fails.",
    discussion: "Set it up in the console under Settings → Single sign-on, or with the API.",
    subcommands: [
      Command("show", "Show the settings, without the client secret.", parameters: common, action: show),
      Command(
        "allow-passwords", "Allow sign-in with passwords again.", parameters: data,
        action: { values, io in
          try change(values, io, "People can sign in with passwords.") { $0.allowsPasswords = true }
        }),
      Command(
        "off", "Turn it off. People sign in with passwords and passkeys.", parameters: data,
        action: { values, io in try change(values, io, "Single sign-on is off.") { $0.isOn = false } }),
      Command(
        "on", "Turn it back on with the saved settings.", parameters: data,
        action: { values, io in try change(values, io, "Single sign-on is on.") { $0.isOn = true } }),
    ])

  private static let show: Action = { values, io in
    let (settings, hasSecret) = try readStore(values, io) { database in
      (try stored(database), try OIDCSettings.hasSecret(database))
    }
    if values[CommonOptions.json] {
      io.print(settings.audited(hasSecret: hasSecret).prettyJSON)
    } else {
      var table = io.table("SETTING", "VALUE")
      func add(_ name: Message, _ value: Message) { table.add(io.text(name), io.text(value)) }
      add("state", settings.isOn ? "on" : "off")
      add("issuer", "\(settings.issuer)")
      add("client ID", "\(settings.clientID)")
      add("client secret", hasSecret ? "saved" : "none")
      add("scopes", "\(settings.scopes.joined(separator: " "))")
      add("who may sign in", settings.admission == .invited ? "invited people" : "\(io.list(settings.domains))")
      add("role of new people", "\(io.word(settings.newRole.rawValue, "roles."))")
      add("claim for roles", settings.roleClaim.map { "\($0)" } ?? "none")
      for rule in settings.roleRules { table.add("", rule.text) }
      add("passwords", settings.allowsPasswords ? "allowed" : "off")
      io.print(table)
    }
    return ExitCode.done
  }

  private static func change(
    _ values: Parsed, _ io: CommandIO, _ done: Message, _ body: (inout OIDCSettings) -> Void
  ) throws -> Int32 {
    try writeStore(values, io) { database in
      let before = try stored(database)
      var settings = before
      body(&settings)
      guard settings != before else { return }
      let hasSecret = try OIDCSettings.hasSecret(database)
      try settings.saveWithoutSecret(database)
      try audit(
        database, "settings.oidc", "settings oidc",
        ["before": before.audited(hasSecret: hasSecret), "after": settings.audited(hasSecret: hasSecret)],
        now: io.now())
    }
    io.say(done)
    return ExitCode.done
  }

  private static func stored(_ database: Database) throws -> OIDCSettings {
    guard let settings = try OIDCSettings.load(database) else {
      throw CommandFailure("Single sign-on is not set up. Passwords are allowed.")
    }
    return settings
  }
}
