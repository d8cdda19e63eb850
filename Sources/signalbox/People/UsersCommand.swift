import Arguments
import Foundation
package import JSON
import Model
import SQLite
package import Store

enum UsersCommand {
  private static let name = Argument<String>("name", "The email address to sign in with.")
  private static let role = Option<User.Role>(required: "role", "role", "The role: admin, operator, or viewer.") {
    text throws(BadValue) in
    guard let role = User.Role(rawValue: text) else { throw BadValue("is not admin, operator, or viewer") }
    return role
  }.among(User.Role.allCases.map(\.rawValue))
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]
  /// Seconds that an invitation is valid.
  private static let lifetime: TimeInterval = 86_400

  static let command = Command<Action>(
    "users", "List, add, and delete users, and create sign-in links.",
    subcommands: [
      Command("list", "List users.", parameters: common, action: list),
      Command(
        "add", "Add a user and print a one-time link for setting a password. It is valid for 24 hours.",
        parameters: [name.parameter, role.parameter] + common, action: add),
      Command(
        "link", "Print a new one-time link for a user who cannot sign in.",
        parameters: [name.parameter] + common, action: link),
      Command(
        "remove", "Delete a user.", parameters: [name.parameter, CommonOptions.data.parameter], action: remove),
    ])

  private static let list: Action = { values, io in
    let users = try withStore(values, io) { store in try store.readSync { try User.all($0) } }
    if values[CommonOptions.json] {
      io.print(users.prettyJSON)
    } else {
      var table = TextTable("NAME", "ROLE", "STATE", "ADDED")
      for user in users { table.add(user.name, user.role.rawValue, user.state, user.createdAt.text) }
      io.print(table)
    }
    return ExitCode.done
  }

  private static let add: Action = { values, io in
    let now = io.now()
    // The console's sign-in form accepts only email addresses.
    let parts = values[name].split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), !values[name].contains(where: \.isWhitespace),
      AppName.problem(withName: values[name], limit: 254) == nil
    else { throw CommandFailure("name: Enter a valid email address, e.g. lin@example.com.") }
    let path = try withStore(values, io, creating: true) { store in
      try store.writeSync { database in
        let user = try User.add(database, name: values[name], role: values[role], now: now)
        try audit(database, "user.create", "user \(user.name)", ["role": .string(user.role.rawValue)], now: now)
        return try makeLink(database, user, .invitation, now: now)
      }
    }
    tell(path, values, io)
    return ExitCode.done
  }

  private static let link: Action = { values, io in
    let now = io.now()
    let path = try withStore(values, io) { store in
      try store.writeSync { database in
        let user = try named(values[name], database)
        guard user.disabledAt == nil else {
          throw CommandFailure("\(user.name) is disabled. Enable the user in the console's settings first.")
        }
        try audit(database, "user.link", "user \(user.name)", now: now)
        return try makeLink(database, user, user.passwordHash == nil ? .invitation : .reset, now: now)
      }
    }
    tell(path, values, io)
    return ExitCode.done
  }

  private static let remove: Action = { values, io in
    let now = io.now()
    try withStore(values, io) { store in
      try store.writeSync { database in
        let user = try named(values[name], database)
        let isLast = user.role == .admin && user.disabledAt == nil && user.passwordHash != nil
        if isLast, try User.activeCount(database, role: .admin) == 1 {
          throw CommandFailure("\(user.name) is the only admin. Add another admin first.")
        }
        try User.delete(database, id: user.id)
        try audit(database, "user.delete", "user \(user.name)", now: now)
      }
    }
    io.print("Removed \(values[name]).")
    return ExitCode.done
  }

  /// Creates a one-time link; only its hash is stored.
  private static func makeLink(
    _ database: Database, _ user: User, _ purpose: SignInLink.Purpose, now: Date
  ) throws -> String {
    let token = Secret.text()
    try SignInLink.add(
      database, hash: Secret.hash(token), purpose: purpose, user: user.id, lifetime: lifetime, now: now)
    return "/session/setup?token=\(token)"
  }

  private static func tell(_ path: String, _ values: Parsed, _ io: CommandIO) {
    if values[CommonOptions.json] {
      io.print(JSONValue.object(["name": .string(values[name]), "path": .string(path)]).prettyJSON)
    } else {
      io.print(path)
      io.note("Open this path at the console's address within 24 hours. It works once.")
    }
  }

  private static func named(_ name: String, _ database: Database) throws -> User {
    guard let user = try User.find(database, name: name) else {
      throw CommandFailure("User \(name) not found. See: signalbox users list")
    }
    return user
  }
}

extension User: JSONWritable {
  fileprivate var state: String { disabledAt != nil ? "disabled" : passwordHash == nil ? "invited" : "active" }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("role", role.rawValue)
      json.member("state", state)
      json.member("created_at", createdAt.text)
      json.member("disabled_at", disabledAt)
    }
  }
}
