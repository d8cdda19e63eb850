import Arguments
import Foundation
import JSON
import Model
import Store

enum TokensCommand {
  private static let name = Argument<String>("name", "What the token is for.")
  private static let id = Argument<Int64>("id", "The token's ID, as shown by list.", parseID)
  private static let role = Option(
    "role", "role", "The permissions: viewer (read only), operator (can send), or admin (full access).",
    default: User.Role.operator, showing: "operator"
  ) { text throws(BadValue) in
    guard let role = User.Role(rawValue: text) else { throw BadValue("is not admin, operator, or viewer") }
    return role
  }.among(User.Role.allCases.map(\.rawValue))
  private static let expires = Option<Int?>(
    "expires-in", "days",
    "The lifetime, e.g. 90d (default: never expires).", parseDays)
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]

  static let command = Command<Action>(
    "tokens", "List, create, and revoke API tokens.",
    subcommands: [
      Command("list", "List API tokens, newest first.", parameters: common, action: list),
      Command(
        "add", "Create a token and print it. It is shown only once.",
        parameters: [name.parameter, role.parameter, expires.parameter] + common, action: add),
      Command(
        "remove", "Revoke a token.", parameters: [id.parameter, CommonOptions.data.parameter], action: remove),
    ])

  private static let list: Action = { values, io in
    let now = io.now()
    let tokens = try withStore(values, io) { store in try store.readSync { try APIToken.all($0) } }
    if values[CommonOptions.json] {
      io.print(tokens.map { TokenSummary(token: $0, now: now) }.prettyJSON)
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
      io.print(TokenSummary(token: added, now: now, text: text).prettyJSON)
    } else {
      io.print(text)
      io.note("Copy it now: only its hash is stored. To use it: Authorization: Bearer <token>")
    }
    return ExitCode.done
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try withStore(values, io) { store in
      try store.writeSync { database in
        guard let token = try APIToken.find(database, id: values[id]) else {
          throw CommandFailure("Token \(values[id]) not found. See: signalbox tokens list")
        }
        guard try APIToken.revoke(database, id: token.id, now: now) else {
          throw CommandFailure("Token \(token.id) was already revoked.")
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
}

/// An API token.
private struct TokenSummary: JSONWritable {
  let token: APIToken
  let now: Date
  /// The secret; present only when the token was just created.
  var text: String?

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("id", token.id)
      json.member("name", token.name)
      json.member("scopes", token.scopes)
      json.member("state", token.state(now))
      json.member("created_at", token.createdAt.text)
      json.member("last_used_at", token.lastUsedAt)
      json.member("expires_at", token.expiresAt)
      json.member("revoked_at", token.revokedAt)
      if let text { json.member("token", text) }
    }
  }
}
