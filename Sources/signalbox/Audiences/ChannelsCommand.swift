import Arguments
import Delivery
import Foundation
import JSON
import Model
import Providers
import SQLite
import Store
import Text

/// `signalbox channels …`: the broadcast channels of an app at APNs.
enum ChannelsCommand {
  private static let app = Argument<String>("bundle-id", "The app's bundle ID, e.g. com.example.app.")
  private static let environment = Argument(
    "environment", "development or production; channels are not shared between them.", Environment.parse
  ).among(Environment.names)
  private static let channel = Argument("channel", "The channel's ID as Apple gave it (Base64).") {
    text throws(BadValue) in
    guard ChannelID.problem(with: text) == nil else { throw BadValue("is not the ID of a channel") }
    return text
  }
  private static let storage = Option(
    "storage", "storage", "Whether Apple keeps the latest message for devices that are offline: none or latest.",
    default: ChannelPolicy.Word.none, showing: "none", parseWord(or: BadValue("is not none or latest"))
  ).among(ChannelPolicy.Word.allCases.map(\.rawValue))
  private static let name = Option<String?>("name", "text", "A display name.") { text throws(BadValue) in
    guard text.count <= Channel.nameLimit else { throw BadValue("has more than \(Channel.nameLimit) characters") }
    return text
  }
  private static let known = Flag("known", "List only the channels known here, without asking Apple.")
  private static let common = [
    CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter,
    CommonOptions.data.parameter,
    CommonOptions.json.parameter,
  ]

  static let command = Command<Action>(
    "channels", "List, create, read, and delete APNs broadcast channels (iOS 18).",
    discussion: "To send to a channel, use signalbox send --channel.",
    subcommands: [
      Command(
        "list", "List an app's channels, compared with Apple's list.",
        parameters: [app.parameter, environment.parameter, known.parameter] + common, action: list),
      Command(
        "create", "Create a channel, and print its ID.",
        parameters: [app.parameter, environment.parameter, storage.parameter, name.parameter] + common,
        action: create),
      Command(
        "show", "Read a channel's storage policy at Apple.",
        parameters: [app.parameter, environment.parameter, channel.parameter] + common, action: show),
      Command(
        "remove", "Delete a channel at Apple.",
        parameters: [app.parameter, environment.parameter, channel.parameter] + common, action: remove),
    ])

  private static let list: Action = { values, io in
    let environment = values[environment]
    let channels = try await with(values, io) { keeper, app, store in
      guard !values[known] else {
        return try store.readSync { try Channel.all($0, app: app.id, environment: environment) }
      }
      return try await keeper.list(app: app, environment, now: io.now())
    }
    io.hint(ifEmpty: channels, "no channels yet; create one: signalbox channels create")
    io.print(channels, values, in: io.table("CHANNEL", "STORAGE", "NAME", "STATE")) { channel in
      let state: Message = channel.missingSince.map { "not in Apple's list since \($0.text)" } ?? "exists"
      return [channel.channel, channel.policy?.word.rawValue ?? "–", channel.name, io.text(state)]
    }
    return ExitCode.done
  }

  private static let create: Action = { values, io in
    let author = KeeperAuthor(commandActor, now: io.now())
    let made = try await with(values, io) { keeper, app, _ in
      try await keeper.create(
        values[storage].policy, name: values[name] ?? "", app: app, values[environment], by: author)
    }
    io.print(values[CommonOptions.json] ? made.prettyJSON : made.channel)
    return ExitCode.done
  }

  private static let show: Action = { values, io in
    let found = try await with(values, io) { keeper, app, _ in
      try await keeper.read(values[channel], app: app, values[environment], now: io.now())
    }
    if values[CommonOptions.json] {
      io.print(found.prettyJSON)
    } else {
      let storage = found.policy?.word.rawValue ?? io.text("not known")
      io.say("\(found.channel)  storage \(storage)  \(singleLine(found.name))")
    }
    return ExitCode.done
  }

  private static let remove: Action = { values, io in
    let author = KeeperAuthor(commandActor, now: io.now())
    try await with(values, io) { keeper, app, _ in
      try await keeper.delete(values[channel], app: app, values[environment], by: author)
    }
    io.say("Deleted \(values[channel]).")
    return ExitCode.done
  }

  private static func with<Result>(
    _ values: Parsed, _ io: CommandIO, _ body: (ChannelKeeper, App, Store) async throws -> Result
  ) async throws -> Result {
    try await routed(values, io, values[app]) { routes, app, store in
      let ask: ChannelKeeper.Ask = { request, app, environment in
        try await routes.ask(request, app: app, environment: environment)
      }
      return try await body(ChannelKeeper(store: store, ask: ask), app, store)
    }
  }

  /// Runs `body` with an app's credentials, over connections of its own.
  static func routed<Result>(
    _ values: Parsed, _ io: CommandIO, _ bundleID: String, _ body: (CredentialRoutes, App, Store) async throws -> Result
  ) async throws -> Result {
    let io = try io.proxied(values)
    let store = try DataDirectory(values, io).open(now: io.now())
    defer { store.close() }
    let named = try store.readSync { try App.named(bundleID, $0) }
    do {
      return try await withRoutes(store, io) { try await body($0, named, store) }
    } catch let error where error is ServiceRefusal || error is NoRoute || error is ProviderProblem {
      throw CommandFailure("\(error)")
    }
  }
}
