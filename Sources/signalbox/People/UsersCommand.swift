import Arguments
import Console
import Foundation
import JSON
import Model
import SQLite
import Store
import Text

enum UsersCommand {
  private static let name = Argument<String>("name", "The email address to sign in with.")
  private static let role = Option<User.Role>(
    required: "role", "role", "The role: admin, operator, or viewer.", User.Role.parse
  ).among(User.Role.names)
  private static let answer = Argument<Bool>("answer", "yes or no.") { text throws(BadValue) in
    guard let answer = ["yes": true, "no": false][text] else { throw BadValue("is not yes or no") }
    return answer
  }.among(["yes", "no"])
  private static let who = Argument<SecondStepRule.Reach>(
    "who", "nobody, admins, or everybody.", parseWord(or: BadValue("is not nobody, admins, or everybody"))
  ).among(SecondStepRule.Reach.allCases.map(\.rawValue))
  private static let provider = Flag(
    "trust-provider", "Single sign-on is enough, because the provider has its own two-step verification.")
  private static let address = Option<String?>(
    "address", "url", "The console's public URL, e.g. https://push.example.com. The whole link is printed.",
    parseAddress
  ).configuration
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]
  private static let one = [name.parameter, CommonOptions.data.parameter]

  static let command = Command<Action>(
    "users", "List, add, change, and delete users, and create sign-in links.",
    subcommands: [
      Command("list", "List users.", parameters: common, action: list),
      Command(
        "add", "Add a user and print a one-time link for setting a password. It is valid for 24 hours.",
        parameters: [name.parameter, role.parameter, address.parameter] + common, action: add),
      Command(
        "link", "Print a new one-time link for a user who cannot sign in.",
        parameters: [name.parameter, address.parameter] + common, action: link),
      Command(
        "role", "Change a user's role.", parameters: [name.parameter, role.parameter, CommonOptions.data.parameter],
        action: { values, io in
          try change(.role(values[role]), values, io) {
            "Changed the role of \($0): \(PageWord(values[role].rawValue, "roles."))."
          }
        }),
      Command(
        "production", "Set whether a user, and the user's tokens, may send to production.",
        parameters: [name.parameter, answer.parameter, CommonOptions.data.parameter],
        action: { values, io in
          try change(.production(values[answer]), values, io) { name in
            values[answer]
              ? "\(name) may send to production, and so may the user's tokens."
              : "\(name) may not send to production, and neither may the user's tokens."
          }
        }),
      Command(
        "disable", "Disable a user: ends all sessions and links, and revokes all tokens.", parameters: one,
        action: { values, io in try change(.disable, values, io) { "Disabled \($0)." } }),
      Command(
        "enable", "Enable a disabled user.", parameters: one,
        action: { values, io in try change(.enable, values, io) { "Enabled \($0)." } }),
      Command(
        "sign-out", "End all sessions of a user.", parameters: one,
        action: { values, io in try change(.endSessions, values, io) { "Ended the sessions of \($0)." } }),
      Command(
        "reset-second-step",
        "Remove a user's authenticator app, recovery codes, and passkeys, so that the password is enough to sign in.",
        parameters: one,
        action: { values, io in
          try change(.resetSecondStep, values, io) { "Reset the two-step verification of \($0)." }
        }),
      Command(
        "require-second-step", "Set who must use two-step verification: an authenticator app or a passkey.",
        parameters: [who.parameter, provider.parameter, CommonOptions.data.parameter], action: require),
      Command(
        "remove", "Delete a user.", parameters: one,
        action: { values, io in try change(.delete, values, io) { "Removed \($0)." } }),
    ])

  private static let list: Action = { values, io in
    let people = try readStore(values, io) { try Person.all($0) }
    io.hint(ifEmpty: people, "no users yet; add one: signalbox users add <email> --role admin")
    let table = io.table("NAME", "ROLE", "STATE", "TWO-STEP", "LAST SIGN-IN", "ADDED")
    io.print(people, values, in: table) { person in
      let user = person.user
      return [
        user.name, io.word(user.role.rawValue, "roles."), io.word(user.state.rawValue, "people.states."),
        io.text(person.hasSecondStep ? "yes" : "no"), user.signedInAt?.text ?? io.text("never"), user.createdAt.text,
      ]
    }
    return ExitCode.done
  }

  private static let require: Action = { values, io in
    let rule = SecondStepRule(reach: values[who], trustsProvider: values[provider])
    try writeStore(values, io) { try rule.save($0, audit: commandEntry, now: io.now()) }
    io.say("Two-step verification is required of \(io.word(rule.reach.rawValue, "people.required_of.")).")
    return ExitCode.done
  }

  private static let add: Action = { values, io in
    let token = try writeStore(values, io, creating: true) { database in
      try telling {
        try Person.invite(database, name: values[name], role: values[role], audit: commandEntry, now: io.now()).token
      }
    }
    tell(token, values, io)
    return ExitCode.done
  }

  private static let link: Action = { values, io in
    let token = try writeStore(values, io) { database in
      let person = try Person.get(database, id: try named(values[name], database).id)
      return try telling { try person.link(database, audit: commandEntry, now: io.now()) }
    }
    tell(token, values, io)
    return ExitCode.done
  }

  /// Makes a change, and prints what was done.
  private static func change(
    _ change: PersonChange, _ values: Parsed, _ io: CommandIO, _ done: (String) -> Message
  ) throws -> Int32 {
    try writeStore(values, io) { database in
      let user = try named(values[name], database)
      try telling { try change.apply(database, to: user.id, by: nil, audit: commandEntry, now: io.now()) }
    }
    io.say(done(values[name]))
    return ExitCode.done
  }

  /// Reports what a rule refuses as a failure of the command.
  private static func telling<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let problems as Problems {
      let isBadName = problems.all.allSatisfy { $0.code == PersonMessage.name.code }
      throw problems.failure(["name": isBadName ? "<name>" : ""], isUsage: isBadName)
    }
  }

  private static func tell(_ token: String, _ values: Parsed, _ io: CommandIO) {
    let path = SetupLink.hidingPath(token)
    let link = values[address].map { SetupLink.url(token, at: $0) }
    if values[CommonOptions.json] {
      let members = ["name": values[name], link == nil ? "path" : "link": link ?? path]
      io.print(JSONValue.object(members.mapValues(JSONValue.string)).prettyJSON)
    } else {
      io.print(link ?? path)
      io.note(
        link == nil
          ? "Open this path at the console's address within 24 hours. It works once."
          : "Open this link within 24 hours. It works once.")
    }
  }

  static func named(_ name: String, _ database: Database) throws -> User {
    guard let user = try User.find(database, name: name) else {
      throw CommandFailure("User \(name) not found. See: signalbox users list")
    }
    return user
  }
}
