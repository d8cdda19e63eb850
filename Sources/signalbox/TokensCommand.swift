import Arguments
import Foundation
import Push
import Store

/// `signalbox tokens …`
enum TokensCommand {
  private static let name = Argument<String>("name", "What it is for.")
  private static let id = Argument<Int64>("id", "The token's number, as list shows it.", parseID)
  private static let role = Option(
    "role", "role", "What it may do: viewer reads, operator sends, admin does everything.",
    default: User.Role.operator, showing: "operator"
  ) { text throws(BadValue) in
    guard let role = User.Role(rawValue: text) else { throw BadValue("is neither admin, operator nor viewer") }
    return role
  }.among(User.Role.allCases.map(\.rawValue))
  private static let expires = Option<Int?>("expires-in", "days", "Ends after so many days, as 90d.", parseDays)
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "tokens", "Lists, adds and revokes tokens of the JSON API.",
    subcommands: [
      Command("list", "Lists the tokens, newest first.", parameters: common, action: list),
      Command(
        "add", "Makes a token and prints it: this is the only time that it is shown.",
        parameters: [name.parameter, role.parameter, expires.parameter] + common, action: add),
      Command(
        "remove", "Revokes a token.", parameters: [id.parameter, CommonOptions.data.parameter], action: remove),
    ])

  private static let list: Action = { values, io in
    let now = io.now()
    let tokens = try withStore(values, io) { store in try store.readSync { try APIToken.all($0) } }
    if values[CommonOptions.json] {
      io.print(JSONValue.array(tokens.map { $0.json(now) }).text(pretty: true))
    } else {
      var table = TextTable("ID", "NAME", "SCOPES", "STATE", "ADDED", "LAST USED", "EXPIRES")
      for token in tokens {
        table.add(
          "\(token.id)", token.name, token.scopes.joined(separator: " "), token.state(now), token.createdAt.text,
          token.lastUsedAt?.text ?? "never", token.expiresAt?.text ?? "never")
      }
      io.print(table)
    }
    return ExitCode.done
  }

  private static let add: Action = { values, io in
    let now = io.now()
    if let problem = AppName.problem(withName: values[name]) {
      throw CommandFailure(problem.under("name").description)
    }
    let text = Secret.apiToken()
    let added = try withStore(values, io, creating: true) { store in
      try store.writeSync { database in
        let token = try APIToken.add(
          database, name: values[name], hash: Secret.hash(text), scopes: [values[role].rawValue],
          user: nil, expiresAt: values[expires].map { now.addingTimeInterval(Double($0) * 86_400) }, now: now)
        try audit(
          database, "token.create", "token \(token.name)", ["scopes": .string(values[role].rawValue)], now: now)
        return token
      }
    }
    if values[CommonOptions.json] {
      var json = added.json(now).object ?? [:]
      json["token"] = .string(text)
      io.print(JSONValue.object(json).text(pretty: true))
    } else {
      io.print(text)
      io.note("Keep it now: only its hash is stored. Use: Authorization: Bearer <token>")
    }
    return ExitCode.done
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try withStore(values, io) { store in
      try store.writeSync { database in
        guard let token = try APIToken.find(database, id: values[id]) else {
          throw CommandFailure("There is no token \(values[id]). See: signalbox tokens list")
        }
        guard try APIToken.revoke(database, id: token.id, now: now) else {
          throw CommandFailure("Token \(token.id) was revoked before.")
        }
        try audit(database, "token.revoke", "token \(token.name)", now: now)
      }
    }
    io.print("Revoked token \(values[id]).")
    return ExitCode.done
  }
}

extension APIToken {
  fileprivate func state(_ now: Date) -> String {
    revokedAt != nil ? "revoked" : expiresAt.map { $0 <= now } == true ? "expired" : "active"
  }

  fileprivate func json(_ now: Date) -> JSONValue {
    [
      "id": .integer(id), "name": .string(name), "scopes": .array(scopes.map { .string($0) }),
      "state": .string(state(now)), "created_at": .string(createdAt.text), "last_used_at": .optional(lastUsedAt),
      "expires_at": .optional(expiresAt), "revoked_at": .optional(revokedAt),
    ]
  }
}
