import Arguments
import Delivery
import Foundation
import JSON
import Model
import Store
import Text

/// `signalbox send`: sends one push from a script.
enum SendCommand {
  private static let app = Option(required: "app", "bundle-id", "The app's bundle ID.")
  private static let environment = Option(
    required: "environment", "environment",
    "The environment: development or production. There is no default.", Environment.parse
  ).among(Environment.names)
  private static let platforms = Option(
    repeated: "platform", "platform", "The platform: ios or android (default: both).", Platform.parse
  ).among(Platform.names)
  private static let devices = Option(repeated: "device", "token", "Send to the device with this token.")
  private static let tags = Option(
    repeated: "tag", "name",
    "Send to devices with this tag. Repeat for any of several tags.")
  private static let aliases = Option(repeated: "alias", "name", "Send to devices with this alias.")
  private static let registrationIDs = Option(
    repeated: "registration-id", "id",
    "Send to the device with this registration ID.")
  private static let segments = Option(
    repeated: "segment", "name", "Send to devices of this segment. Repeat for any of several segments.")
  private static let channel = Option<String?>(
    "channel", "id", "Send a Live Activity update to the subscribers of this APNs broadcast channel.")
  private static let topic = Option<String?>("topic", "name", "Send to the subscribers of this FCM topic.")
  private static let condition = Option<String?>(
    "condition", "condition",
    "Send to the subscribers that match this FCM condition, e.g. \"'news' in topics && 'en' in topics\".")
  private static let broadcast = Flag("broadcast", "Send to every device of the app in this environment.")
  private static let template = Option<String?>("template", "name", "Send the saved template with this name.")
  private static let values = Option(
    repeated: "value", "name=text", "With --template: the value of one of its placeholders, e.g. order=48213."
  ) { text throws(BadValue) in
    guard let mark = text.firstIndex(of: "="), mark > text.startIndex else { throw BadValue("is not name=text") }
    return (place: String(text[..<mark]), text: String(text[text.index(after: mark)...]))
  }
  private static let title = Option<String?>("title", "text", "The title.")
  private static let subtitle = Option<String?>("subtitle", "text", "The subtitle.")
  private static let body = Option<String?>("body", "text", "The message.")
  private static let badge = Option<Badge?>(
    "badge", "number", "The badge on the app's icon; 0 removes it. +1 or -1 changes each device's own number.",
    parseBadge)
  private static let sound = Option<String?>("sound", "name", "The sound, e.g. default.")
  private static let payload = Option<String?>(
    "payload", "file", "A file with the full APNs payload as JSON, instead of the texts; - for standard input.")
  private static let android = Option<String?>(
    "android", "file",
    "A file with JSON that is merged over the android block of FCM's message (AndroidConfig), e.g. "
      + "{\"notification\": {\"channel_id\": \"news\"}}; - for standard input.")
  private static let timeToLive = Option<Int?>(
    "time-to-live", "seconds", "How long the push is stored for devices that are off.", parseNumber)
  private static let priority = Option<String?>("priority", "priority", "The priority: high, normal, or low.").among([
    "high", "normal", "low",
  ])
  private static let collapseID = Option<String?>(
    "collapse-id", "id", "The collapse ID. Replaces an earlier push with the same ID.")
  private static let pushType = Option<String?>("push-type", "type", "The push type, e.g. alert or background.")
  private static let at = Option<String?>(
    "at", "time", "When to send, e.g. 2026-12-01T09:00:00Z (default: now). With --every: the start.")
  private static let rate = Option<Int?>("rate", "number", "The maximum number of devices per second.", parseNumber)
  private static let spread = Option<Int?>(
    "spread-minutes", "number", "Spread the push evenly over this many minutes.", parseNumber)
  private static let atMostOnce = Flag("at-most-once", "Never retry a device that gave no answer.")
  private static let allowEmptyAudience = Flag(
    "allow-empty-audience", "Accept an audience that has no active device now.")
  private static let dryRun = Flag("dry-run", "Check everything but send nothing.")
  private static let wait = Flag("wait", "Wait until every device has an outcome, including retries.")
  private static let timeout = Option<Int?>(
    "timeout", "seconds",
    "The maximum time in seconds, with or without --wait (default: 600 with --wait, otherwise no limit).", parseNumber)

  static let command = Command<Action>(
    "send", "Send a push.",
    discussion: """
      Different audience options narrow the audience; repeating one option widens it. If a server is running, it \
      delivers the push; otherwise, this command does. Scheduled and repeating pushes are always sent by the server. \
      If sending is blocked, the cause is printed on standard error at once. Without --wait and without a server, each \
      device is tried once, and sending stops when the push service has been unreachable for 30 seconds.
      Exit codes: 0: accepted for every device, or, without --wait, handed to a server. 1: finished but not accepted \
      for every device, or not started, e.g. because no active device matches the audience. 75: not finished; standard error says how many devices are left and what \
      continues with them: the running server or the next one started with this data folder. 64: wrong usage.
      """,
    parameters: [
      app.parameter, environment.parameter, platforms.parameter, devices.parameter, tags.parameter, aliases.parameter,
      registrationIDs.parameter, segments.parameter, channel.parameter, topic.parameter, condition.parameter,
      broadcast.parameter, template.parameter, values.parameter, title.parameter, subtitle.parameter, body.parameter,
      LocalizeOption.option.parameter, LocalizeOption.file.parameter, badge.parameter, sound.parameter,
      payload.parameter, android.parameter, timeToLive.parameter, priority.parameter, collapseID.parameter,
      pushType.parameter, at.parameter, rate.parameter, spread.parameter, atMostOnce.parameter,
      allowEmptyAudience.parameter, dryRun.parameter, wait.parameter, timeout.parameter, CommonOptions.proxy.parameter,
      CommonOptions.allowTarget.parameter, CommonOptions.trust.parameter, CommonOptions.data.parameter,
      CommonOptions.json.parameter,
    ] + RepeatOptions.parameters
  ) { values, io in
    let io = try io.proxied(values)
    let body = try json(values, io)
    // Without a template it is checked before anything is opened.
    let isTemplate = body["template"] != nil
    var draft = isTemplate ? nil : try read(body, values)
    let directory = DataDirectory(values, io)
    let store = try directory.open(readers: 2, now: io.now())
    defer { store.close() }
    if isTemplate {
      let resolved: JSONValue
      do { resolved = try store.readSync { try PushTemplate.resolved($0, body) } } catch let problems as Problems {
        throw problems.failure(names(values))
      }
      draft = try read(resolved, values)
    }
    guard let draft else { return ExitCode.failed }
    let (kept, check) = try await take(draft, store, values, io)
    for finding in check.findings {
      let text: Message = "\(finding.problem.withoutField)"
      io.note(finding.severity == .warning ? "warning: \(text)" : "hint: \(text)")
    }
    guard case .push(let push) = kept else {
      if case .schedule(let schedule) = kept { ScheduleReport(schedule, check.app).tell(values, io) }
      return ExitCode.done
    }
    let count = check.reachable ?? 0
    let limit = values[timeout] ?? (values[wait] ? 600 : nil)
    let sending = Sending(
      directory: directory, store: store, io: io, isWaiting: values[wait], limit: limit.map { .seconds($0) })
    let left = try await sending.carryOut(push.id, expected: count)
    let report = try SendReportText(store, left, expected: count, data: directory.path, isDryRun: draft.options.dryRun)
    if values[CommonOptions.json] {
      io.print(report.prettyJSON)
    } else {
      for line in report.lines(io) { io.print(line) }
    }
    if let rest = report.rest(now: io.now()) { io.note(rest) }
    return report.exitCode(isWaited: values[wait], now: io.now())
  }

  /// - Throws: ``CommandFailure``, which names the options.
  private static func read(_ json: JSONValue, _ values: Parsed) throws -> PushDraft {
    do throws(Problems) { return try PushDraft(json: json) } catch {
      throw error.failure(names(values), isUsage: true)
    }
  }

  /// What was typed, by the fields of the API. What a file or a template has keeps its path.
  private static func names(_ values: Parsed) -> OptionNames {
    var names = [
      "app": "--app", "environment": "--environment", "platforms": "--platform", "send_at": "--at", "audience": "",
      "template.name": "--template", "template.values": "--value", "notification.localizations": "--localize",
      "notification": "", "apns.payload": "",
    ]
    for name in ["tag", "alias", "registration-id", "segment", "channel", "topic", "condition"] {
      names["audience." + name.replacing("-", with: "_")] = "--" + name
    }
    names["audience.device_token"] = "--device"
    for name in ["time-to-live", "priority", "collapse-id", "push-type", "rate", "spread-minutes", "at-most-once"] {
      names["options." + name.replacing("-", with: "_")] = "--" + name
    }
    for name in ["title", "subtitle", "body", "badge", "sound"] { names["notification." + name] = "--" + name }
    for (field, option) in RepeatOptions.names { names[field] = option }
    guard values[template] == nil else {
      return OptionNames(options: names.filter { !$0.key.hasPrefix("notification") && !$0.key.hasPrefix("apns") })
    }
    let files = [
      ("apns.payload", values[payload], "--payload"), ("android", values[android], "--android"),
      ("notification.localizations", values[LocalizeOption.file], "--localizations"),
    ].filter { $0.1 != nil }
    return OptionNames(options: names, files: Dictionary(uniqueKeysWithValues: files.map { ($0.0, $0.2) }))
  }

  static func parseNumber(_ text: String) throws(BadValue) -> Int {
    guard let number = Int(text), number >= 0 else { throw BadValue("is not a number of at least 0") }
    return number
  }

  private static func parseBadge(_ text: String) throws(BadValue) -> Badge {
    let isRelative = text.hasPrefix("+") || text.hasPrefix("-")
    guard let number = Int64(text), let badge = Badge(json: isRelative ? .string(text) : .integer(number)) else {
      throw BadValue("is not a number from 0 to 99999, +1 or -1")
    }
    return badge
  }

  /// The equivalent body of `POST /api/v1/pushes`, so that both run the same checks.
  private static func json(_ values: Parsed, _ io: CommandIO) throws -> JSONValue {
    var notification: [String: JSONValue] = [:]
    for (name, text) in [
      ("title", values[title]), ("subtitle", values[subtitle]), ("body", values[body]), ("sound", values[sound]),
    ] { if let text { notification[name] = .string(text) } }
    if let badge = values[badge] { notification["badge"] = badge.json }
    guard [values[payload], values[android], values[LocalizeOption.file]].count(where: { $0 == "-" }) < 2 else {
      throw CommandFailure.usage("Only one of --payload, --android, and --localizations can read standard input.")
    }
    notification[Localization.key] = try LocalizeOption.json(values) { try read($0, io) }
    var options: [String: JSONValue] = ["dry_run": .bool(values[dryRun])]
    if let seconds = values[timeToLive] { options["time_to_live"] = .number(seconds) }
    for (name, text) in [
      ("priority", values[priority]), ("collapse_id", values[collapseID]), ("push_type", values[pushType]),
    ] { if let text { options[name] = .string(text) } }
    if let rate = values[rate] { options["rate"] = .number(rate) }
    if let minutes = values[spread] { options["spread_minutes"] = .number(minutes) }
    if values[allowEmptyAudience] { options["allow_empty_audience"] = true }
    if values[atMostOnce] { options["at_most_once"] = true }
    var json: [String: JSONValue] = [
      "app": .string(values[app]), "environment": .string(values[environment].rawValue),
      "audience": try audience(values), "options": .object(options),
    ]
    if let name = values[template] {
      let given = Dictionary(values[Self.values].map { ($0.place, JSONValue.string($0.text)) }) { $1 }
      json["template"] = ["name": .string(name), "values": .object(given)]
    } else if !values[Self.values].isEmpty {
      throw CommandFailure.usage("--value needs --template.")
    }
    if !notification.isEmpty { json["notification"] = .object(notification) }
    guard
      !notification.isEmpty || json["template"] != nil || values[payload] != nil || values[android] != nil
        || AppName.isPassType(values[app])
    else {
      throw CommandFailure.usage(
        "Choose what to send with --title, --body, --badge, --sound, --payload, --android, or --template.")
    }
    if !values[platforms].isEmpty { json["platforms"] = .array(values[platforms].map { .string($0.rawValue) }) }
    if let time = values[at] { json["send_at"] = .string(time) }
    if let rule = try RepeatOptions.rule(values) { json["repeat"] = rule }
    if let path = values[payload] { json["apns"] = ["payload": try read(path, io)] }
    if let path = values[android] { json["android"] = try read(path, io) }
    return .object(json)
  }

  private static func audience(_ values: Parsed) throws -> JSONValue {
    let kinds = [
      ("device_token", values[devices]), ("tag", values[tags]), ("alias", values[aliases]),
      ("registration_id", values[registrationIDs]), ("segment", values[segments]),
    ].filter { !$0.1.isEmpty }
    let singles = [("channel", values[channel]), ("topic", values[topic]), ("condition", values[condition])]
      .compactMap { name, value in value.map { (name, $0) } }
    if let (name, value) = singles.first {
      guard singles.count == 1, kinds.isEmpty, !values[broadcast] else {
        throw CommandFailure.usage("--\(name) cannot be combined with another audience.")
      }
      return .object([name: .string(value)])
    }
    guard values[broadcast] == kinds.isEmpty else {
      throw CommandFailure.usage(
        kinds.isEmpty
          ? """
          Choose an audience with --device, --tag, --alias, --registration-id, --segment, --topic, --condition, or \
          --channel, or use --broadcast for all devices.
          """
          : "--broadcast cannot be combined with --device, --tag, --alias, --registration-id, or --segment.")
    }
    if values[broadcast] { return "all" }
    return .object(Dictionary(uniqueKeysWithValues: kinds.map { ($0.0, .array($0.1.map { .string($0) })) }))
  }

  /// Larger than any payload; one more byte is read to detect a file that is too large.
  private static let largest = 64 * 1024

  private static func read(_ path: String, _ io: CommandIO) throws -> JSONValue {
    let data: Data
    do {
      data =
        path == "-"
        ? try io.readAll(limit: largest + 1)
        : try NamedFile.open(path).read(upToCount: largest + 1) ?? Data()
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(path) cannot be read.")
    }
    guard data.count <= largest else { throw CommandFailure("\(path) is too large for a payload.") }
    do { return try JSONValue(checking: Array(data)) } catch { throw CommandFailure("\(path): \(error)") }
  }

  private static func take(
    _ draft: PushDraft, _ store: Store, _ values: Parsed, _ io: CommandIO
  ) async throws -> (kept: PushIntake.Kept, check: PushCheck) {
    do {
      // Counting has no time limit, because only this process waits for it.
      let intake = PushIntake(store: store, patience: nil)
      let order = PushIntake.Order(draft, source: .cli, by: commandActor, now: io.now())
      let check = try await intake.accept(order)
      return (try await intake.take(order, accepted: check), check)
    } catch let error as PushIntake.NoApp {
      let known = try store.readSync { try App.all($0).map(\.bundleID) }
      throw App.missing(error.bundleID, known: known)
    } catch let problems as Problems where problems.all.first.map({ DraftMessage.empty.contains($0.code) }) == true {
      // Beside the reason, a misspelt name with the nearest one.
      let why = io.sentences(problems.all.prefix(2).map { io.text("\($0.withoutField)") })
      throw CommandFailure("\(why) See: signalbox devices list. To send anyway, use --allow-empty-audience.")
    } catch let problems as Problems {
      var known = names(values)
      // It is about what the app has, not about its name.
      known.options["app"] = ""
      throw problems.failure(known)
    }
  }
}
