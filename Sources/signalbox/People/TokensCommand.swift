import Arguments
import Console
import Foundation
import JSON
import Model
import SQLite
import Store
import Text

enum TokensCommand {
  private static let name = Argument<String>("name", "What the token is for.")
  private static let id = Argument<Int64>("id", "The token's ID, as shown by list.", parseID)
  private static let role = Option<User.Role?>(
    "role", "role",
    "The permissions of a person's role instead of scopes: viewer (read only), operator (can send), or admin (full "
      + "access). Default without --scope: operator.", User.Role.parse
  ).among(User.Role.names)
  private static let scopes = Option<[TokenScope]>(
    repeated: "scope", "scope",
    "What the token may do: read, send-development, send-production, devices, certificates, or admin. Repeat for "
      + "several.",
    parseWord(or: BadValue("is not one of \(TokenScope.allCases.map(\.rawValue).joined(separator: ", "))"))
  ).among(TokenScope.allCases.map(\.rawValue))
  private static let apps = Option(
    repeated: "app", "bundle-id", "Only for this app. Repeat for several (default: all apps).")
  private static let addresses = Option(
    repeated: "from", "cidr",
    "Only from this address or range, e.g. 10.0.0.0/8. Repeat for several (default: from anywhere)."
  ) { text throws(BadValue) in
    guard AddressRange(text) != nil else { throw BadValue("is not an address or a range, e.g. 10.0.0.0/8") }
    return text
  }
  private static let user = Option<String?>(
    "user", "name",
    "The person who owns the token. The token may do no more than this person, and stops working when the person is "
      + "disabled (default: nobody).")
  private static let expires = Option<Int?>(
    "expires-in", "days", "The lifetime, e.g. 30d, or never.", default: APIToken.usualDays, showing: "90d"
  ) { text throws(BadValue) in
    if text == "never" { return nil }
    // Nil for a text that is no number of days, too.
    guard let days = try? parseDays(text), (1...TokenForm.mostDays).contains(days) else {
      throw BadValue("is not a number of days from 1 to \(TokenForm.mostDays), e.g. 30d, or never")
    }
    return days
  }
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "tokens", "List, create, and revoke API tokens.",
    subcommands: [
      Command("list", "List API tokens, newest first.", parameters: common, action: list),
      Command(
        "add", "Create a token and print it. It is shown only once.",
        parameters: [
          name.parameter, role.parameter, scopes.parameter, apps.parameter, addresses.parameter, user.parameter,
          expires.parameter,
        ] + common, action: add),
      Command("remove", "Revoke a token.", parameters: [id.parameter, CommonOptions.data.parameter], action: remove),
    ])

  private static let list: Action = { values, io in
    let now = io.now()
    let tokens = try readStore(values, io) { try TokenAnswer.all($0, now: now) }
    io.hint(ifEmpty: tokens, "no tokens yet; create one: signalbox tokens add <name> --role viewer")
    let table = io.table("ID", "NAME", "SCOPES", "APPS", "FROM", "STATE", "ADDED", "LAST USED", "EXPIRES")
    io.print(tokens, values, in: table) { answer in
      let token = answer.token
      return [
        "\(token.id)", token.name, token.words.joined(separator: " "),
        answer.apps?.joined(separator: " ") ?? io.text("all"),
        token.addresses.isEmpty ? io.text("anywhere") : token.addresses.joined(separator: " "),
        io.word(token.state(now).rawValue, "tokens.states."), token.createdAt.text,
        token.lastUsedAt?.text ?? io.text("never"), token.expiresAt?.text ?? io.text("never"),
      ]
    }
    return ExitCode.done
  }

  private static let add: Action = { values, io in
    let now = io.now()
    guard values[role] == nil || values[scopes].isEmpty else {
      throw CommandFailure.usage("Use either --role or --scope.")
    }
    var typed = TokenForm()
    typed.name = values[name]
    typed.words = values[scopes].map(\.rawValue)
    if let role = values[role] { typed.words.append(role.rawValue) }
    if typed.words.isEmpty { typed.words = [User.Role.operator.rawValue] }
    typed.apps = values[apps].isEmpty ? nil : values[apps]
    typed.addresses = values[addresses]
    typed.days = values[expires]
    let form = typed
    guard form.problems.isEmpty else {
      let names = [
        "name": "<name>", "scopes": "--scope", "apps": "--app", "addresses": "--from", "expires": "--expires-in",
      ]
      throw Problems(form.problems).failure(names, isUsage: true)
    }
    let (answer, secret) = try writeStore(values, io, creating: true) { database in
      for app in form.apps ?? [] { _ = try App.named(app, database) }
      let owner = try values[user].map { try active($0, database).id }
      let added = try form.add(database, user: owner, audit: commandEntry, now: now)
      return (try TokenAnswer(database, added.token, now: now, secret: added.secret), added.secret)
    }
    if values[CommonOptions.json] {
      io.print(answer.prettyJSON)
    } else {
      io.print(secret)
      io.note("Copy it now: only its hash is stored. To use it: Authorization: Bearer <token>")
    }
    return ExitCode.done
  }

  /// A person who can sign in.
  private static func active(_ name: String, _ database: Database) throws -> User {
    let user = try UsersCommand.named(name, database)
    guard user.state != .disabled else { throw CommandFailure("User \(name) is disabled. See: signalbox users enable") }
    return user
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try writeStore(values, io) { database in
      guard let token = try APIToken.find(database, id: values[id]) else {
        throw CommandFailure("Token \(values[id]) not found. See: signalbox tokens list")
      }
      guard try APIToken.revoke(database, id: token.id, now: now) else {
        throw CommandFailure("Token \(token.id) was already revoked.")
      }
      try audit(database, "token.revoke", "token \(token.name)", now: now)
    }
    io.say("Revoked token \(values[id]).")
    return ExitCode.done
  }
}
