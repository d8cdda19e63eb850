import Arguments
import Delivery
import Foundation
import JSON
import Model
import Providers
import SQLite
import Store
import Text

/// `signalbox topics …`: topics of FCM, and the rules that keep an app's devices subscribed.
enum TopicsCommand {
  private static let app = Argument<String>("bundle-id", "The app's bundle ID, e.g. com.example.app.")
  private static let environment = Argument("environment", "development or production.", Environment.parse)
    .among(Environment.names)
  private static let topic = Argument("topic", "The topic's name, without /topics/.") { text throws(BadValue) in
    if let problem = TopicCondition.problem(withTopic: text) { throw BadValue("is not a topic: \(problem)") }
    return text
  }
  private static let tokens = Option(
    repeated: "device", "token", "An FCM token; at most 1000. Sent to FCM at once, with a result for each.")
  private static let tags = Option(repeated: "tag", "name", "Devices with this tag, in the background.")
  private static let aliases = Option(repeated: "alias", "name", "Devices with this alias, in the background.")
  private static let registrationIDs = Option(
    repeated: "registration-id", "id", "The device with this registration ID, in the background.")
  private static let all = Flag("all", "Every active device that FCM reaches, in the background.")
  private static let number = Argument("change", "The change's number, as shown by subscribe or changes.") {
    text throws(BadValue) in
    guard let number = Int64(text), number > 0 else { throw BadValue("is not a number of at least 1") }
    return number
  }
  private static let rules = Option<[TopicRule]>(
    repeated: "rule", "rule", "A rule: common, platform, version, or time_zone.",
    parseWord(or: BadValue("is not common, platform, version, or time_zone")))
  private static let none = Flag("none", "Turn every rule off.")
  private static let common = [CommonOptions.data.parameter, CommonOptions.json.parameter]
  private static let change = [
    app.parameter, environment.parameter, topic.parameter, tokens.parameter, tags.parameter, aliases.parameter,
    registrationIDs.parameter, all.parameter,
  ]

  static let command = Command<Action>(
    "topics", "List FCM topics, subscribe devices, and set the rules.",
    discussion: """
      To send to a topic, use signalbox send --topic or --condition. The running server applies the rules and does \
      the background work.
      """,
    subcommands: [
      Command(
        "list", "List an app's topics with their numbers of devices.",
        parameters: [app.parameter, environment.parameter] + common, action: list),
      Command(
        "subscribe", "Subscribe FCM tokens or an audience to a topic.",
        parameters: change + [
          CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter,
        ] + common,
        action: { try await set($0, $1, joins: true) }),
      Command(
        "unsubscribe", "Unsubscribe FCM tokens or an audience from a topic.",
        parameters: change + [
          CommonOptions.proxy.parameter, CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter,
        ] + common,
        action: { try await set($0, $1, joins: false) }),
      Command(
        "changes", "List the audiences that were subscribed or unsubscribed.",
        parameters: [app.parameter, environment.parameter] + common, action: listChanges),
      Command(
        "change", "Show the result for each device of an audience.",
        discussion: "Exit codes: 0: every device is done. 1: some were refused or changed. 75: some are pending.",
        parameters: [app.parameter, number.parameter] + common, action: showChange),
      Command(
        "rules", "Show the rules, or set them.",
        parameters: [app.parameter, rules.parameter, none.parameter] + common, action: setRules),
    ])

  private static let list: Action = { values, io in
    let topics = try readStore(values, io) {
      try Topic.all($0, app: try App.named(values[app], $0).id, environment: values[environment])
    }
    io.hint(ifEmpty: topics, "no topics yet; subscribe devices to one: signalbox topics subscribe")
    io.print(topics, values, in: io.table("TOPIC", "SUBSCRIBED", "PENDING", "REFUSED")) { topic in
      [topic.name, "\(topic.subscribed)", "\(topic.pending)", "\(topic.refused)"]
    }
    return ExitCode.done
  }

  /// Stores that an audience joins or leaves.
  private static func queue(
    _ values: Parsed, _ io: CommandIO, _ kinds: [(String, [String])], joins: Bool
  ) throws -> Int32 {
    let members = kinds.map { ($0.0, JSONValue.array($0.1.map(JSONValue.string))) }
    let json: JSONValue = values[all] ? "all" : .object(Dictionary(uniqueKeysWithValues: members))
    let fields = JSONFields(["audience": json])
    let audience = Audience.read(fields, platforms: Set(ProviderKind.fcm.platforms))
    guard let audience, fields.problems.isEmpty else {
      let names = [
        "audience.tag": "--tag", "audience.alias": "--alias", "audience.registration_id": "--registration-id",
      ]
      throw Problems(fields.problems).failure(names, isUsage: true)
    }
    let author = KeeperAuthor(commandActor, now: io.now())
    do {
      let change = try writeStore(values, io) { database in
        try TopicKeeper.queue(
          database, topic: values[topic], joins: joins, audience, app: try App.named(values[app], database),
          values[environment], by: author)
      }
      io.print(values[CommonOptions.json] ? change.prettyJSON : "\(change.id)")
      io.note("queued for the server; see: signalbox topics change \(values[app]) \(change.id)")
      return ExitCode.done
    } catch let problems as Problems {
      throw CommandFailure("\(Problems(problems.all.map(\.withoutField)))")
    }
  }

  private static let listChanges: Action = { values, io in
    let changes = try readStore(values, io) {
      try TopicChange.all($0, app: try App.named(values[app], $0).id, environment: values[environment])
    }
    let table = io.table("CHANGE", "ACTION", "TOPIC", "DEVICES", "DONE", "PENDING", "REFUSED", "STATE")
    io.print(changes, values, in: table) { change in
      [
        "\(change.id)", io.text(change.joins ? "subscribe" : "unsubscribe"), change.topic, "\(change.devices)",
        "\(change.done)", "\(change.pending)", "\(change.refused)",
        io.text(change.endedAt == nil ? "in progress" : "ended"),
      ]
    }
    return ExitCode.done
  }

  private static let showChange: Action = { values, io in
    let (bundleID, id) = (values[app], values[number])
    let (change, members) = try readStore(values, io) { database in
      guard let change = try TopicChange.find(database, app: try App.named(bundleID, database).id, id: id) else {
        throw CommandFailure("Change \(id) of \(bundleID) not found. See: signalbox topics changes")
      }
      return (change, try TopicChange.members(database, of: change, limit: .max - 1).items)
    }
    io.print(members, values, in: io.table("DEVICE", "TOKEN", "STATE", "REASON")) { member in
      [
        "\(member.deviceID)", member.token?.abbreviated ?? "–", io.word(member.state.name, "topics.state_"),
        member.reason.map { line($0, io) } ?? "",
      ]
    }
    if change.endedAt == nil { return ExitCode.unfinished }
    return change.done == change.devices ? ExitCode.done : ExitCode.failed
  }

  private static func set(_ values: Parsed, _ io: CommandIO, joins: Bool) async throws -> Int32 {
    let kinds = [
      ("tag", values[tags]), ("alias", values[aliases]), ("registration_id", values[registrationIDs]),
    ].filter { !$0.1.isEmpty }
    if !kinds.isEmpty || values[all] {
      guard values[tokens].isEmpty, kinds.isEmpty || !values[all] else {
        throw CommandFailure.usage("Choose --device, --all, or any of --tag, --alias, and --registration-id.")
      }
      return try queue(values, io, kinds, joins: joins)
    }
    var devices: [DeviceToken] = []
    for text in values[tokens] {
      do throws(Problem) {
        devices.append(try DeviceToken(parsing: text, platform: .android))
      } catch {
        throw CommandFailure.usage("--device: \(error)")
      }
    }
    guard (1...TopicBatch.limit).contains(devices.count) else {
      throw CommandFailure.usage(
        """
        Name 1 to \(TopicBatch.limit) tokens with --device, or an audience with --tag, --alias, --registration-id, \
        or --all.
        """)
    }
    let batch = TopicBatch(topic: values[topic], joins: joins, tokens: devices)
    let author = KeeperAuthor(commandActor, now: io.now())
    let results = try await ChannelsCommand.routed(values, io, values[app]) { routes, app, store in
      try await TopicKeeper(store: store, routes: routes, clock: io.now)
        .change(batch, app: app, values[environment], by: author)
    }
    for (token, result) in zip(devices, results) {
      let words: Message =
        switch result {
        case .done: "done"
        case .refused(let reason): "refused: \(line(reason, io))"
        case .later(let reason, _): "not possible now: \(line(reason, io))"
        }
      io.print("\(token.abbreviated)  \(io.text(words))")
    }
    return results.allSatisfy { $0 == .done } ? ExitCode.done : ExitCode.failed
  }

  private static let setRules: Action = { values, io in
    let (bundleID, chosen) = (values[app], Set(values[rules]))
    guard chosen.isEmpty || !values[none] else { throw CommandFailure.usage("--none cannot be combined with --rule.") }
    let isChange = values[none] || !chosen.isEmpty
    let now = io.now()
    let found = try writeStore(values, io) { database -> TopicRules in
      let app = try App.named(bundleID, database)
      if isChange {
        let before = try TopicRules.find(database, app: app.id).rules
        try TopicRules.set(database, app: app.id, chosen)
        let entry = NewAuditEntry(actor: commandActor, action: "topic.rules", subject: "app \(bundleID)")
        try AuditEntry.add(
          database, entry.changing(TopicRules.audited(before), to: TopicRules.audited(chosen)), now: now)
      }
      return try TopicRules.find(database, app: app.id)
    }
    let names = TopicRule.allCases.filter(found.rules.contains).map(\.rawValue).joined(separator: ", ")
    io.print(values[CommonOptions.json] ? found.prettyJSON : names.isEmpty ? io.text("none") : names)
    return ExitCode.done
  }

  private static func line(_ code: String, _ io: CommandIO) -> String {
    let known = Reason.of(code)
    return known.isKnown ? io.text("\(code): \(io.cause(known))") : code
  }
}
