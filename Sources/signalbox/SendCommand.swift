import Arguments
import Certificates
import Delivery
import Foundation
import Push
import Store

/// `signalbox send`: one push from a script.
enum SendCommand {
  private static let app = Option(required: "app", "bundle-id", "The app.")
  private static let environment = Option(
    required: "environment", "environment", "development or production; never preselected.", Environment.parse
  ).among(Environment.names)
  private static let platforms = Option(
    repeated: "platform", "platform", "ios or android; left out: both.", Platform.parse
  ).among(Platform.names)
  private static let devices = Option(repeated: "device", "token", "To the device with this token.")
  private static let tags = Option(repeated: "tag", "name", "To devices with this tag, or another one given.")
  private static let aliases = Option(repeated: "alias", "name", "To the devices of this user.")
  private static let registrationIDs = Option(repeated: "registration-id", "id", "To the device with this id.")
  private static let broadcast = Flag("broadcast", "To every device of the app in this environment.")
  private static let title = Option<String?>("title", "text", "Its title.")
  private static let subtitle = Option<String?>("subtitle", "text", "Its subtitle.")
  private static let body = Option<String?>("body", "text", "What it says.")
  private static let badge = Option<Int?>("badge", "number", "On the app's icon; 0 takes it away.", parseNumber)
  private static let sound = Option<String?>("sound", "name", "As default.")
  private static let payload = Option<String?>(
    "payload", "file", "The whole APNs payload as JSON, in place of the texts; - is standard input.")
  private static let timeToLive = Option<Int?>(
    "time-to-live", "seconds", "How long it is kept for a device that is off.", parseNumber)
  private static let priority = Option<String?>("priority", "priority", "high, normal or low.").among([
    "high", "normal", "low",
  ])
  private static let collapseID = Option<String?>("collapse-id", "id", "Replaces what was sent with the same id.")
  private static let pushType = Option<String?>("push-type", "type", "As alert or background.")
  private static let at = Option<String?>(
    "at", "time", "When, as 2026-12-01T09:00:00Z; left out: at once. With --every: not before.")
  private static let rate = Option<Int?>("rate", "number", "At most so many devices a second.", parseNumber)
  private static let spread = Option<Int?>(
    "spread-minutes", "number", "Spreads it evenly over so many minutes.", parseNumber)
  private static let atMostOnce = Flag("at-most-once", "Never sends again what was sent and not answered.")
  private static let dryRun = Flag("dry-run", "Checks everything, and sends nothing.")
  private static let wait = Flag(
    "wait", "Waits until every device has its outcome, also those that are to be sent to again.")
  private static let timeout = Option<Int?>(
    "timeout", "seconds", "How long it may take, with or without --wait (default: 600 with --wait, else no limit).",
    parseNumber)

  static let command = Command<Action>(
    "send", "Sends one push.",
    discussion: """
      Kinds of audience narrow each other down; one that is repeated widens. Without a running server it is delivered \
      here, otherwise by the server; what is for later, or repeats, is the server's. Why nothing goes out is said at \
      once on standard error. Without --wait and a server, each device is sent to once, and a push service that is out \
      of reach for 30 seconds is given up.
      Exit 0: every device accepted it; or, without --wait, a server has it. 1: it has ended, and not every device \
      accepted it; or it could not begin. 75: it has not ended; standard error says how many devices are left, and who \
      goes on with them: the running server, or the next one that is started with this data folder. 64: wrong usage.
      """,
    parameters: [
      app.parameter, environment.parameter, platforms.parameter, devices.parameter, tags.parameter,
      aliases.parameter, registrationIDs.parameter, broadcast.parameter, title.parameter, subtitle.parameter,
      body.parameter, badge.parameter, sound.parameter, payload.parameter, timeToLive.parameter, priority.parameter,
      collapseID.parameter, pushType.parameter, at.parameter, rate.parameter, spread.parameter,
      atMostOnce.parameter, dryRun.parameter, wait.parameter,
      timeout.parameter,
      CommonOptions.data.parameter, CommonOptions.json.parameter,
    ] + RepeatOptions.parameters
  ) { values, io in
    let draft = try PushDraft(json: try json(values, io))
    let directory = DataDirectory(values, io)
    let store = try directory.open(readers: 2, now: io.now())
    defer { store.close() }
    if draft.recurrence != nil, !draft.options.dryRun {
      let report = try ScheduleReport(draft, store, io)
      if values[CommonOptions.json] {
        io.print(report.json.text(pretty: true))
      } else {
        for line in report.lines { io.print(line) }
      }
      return ExitCode.done
    }
    let (push, count) = try create(draft, store, io)
    let limit = values[timeout] ?? (values[wait] ? 600 : nil)
    let sending = Sending(
      directory: directory, store: store, io: io, isWaiting: values[wait], limit: limit.map { .seconds($0) })
    let left = try await sending.carryOut(push.id, expected: count)
    let report = try SendReportText(store, left, expected: count, data: directory.path)
    if values[CommonOptions.json] {
      io.print(report.json.text(pretty: true))
    } else {
      for line in report.lines { io.print(line) }
    }
    if let rest = report.rest(now: io.now()) { io.note(rest) }
    return report.exitCode(isDryRun: draft.options.dryRun, isWaited: values[wait], now: io.now())
  }

  static func parseNumber(_ text: String) throws(BadValue) -> Int {
    guard let number = Int(text), number >= 0 else { throw BadValue("is not a number from 0 on") }
    return number
  }

  /// The body of `POST /api/v1/pushes` that asks for the same, so that everything is checked as there.
  private static func json(_ values: Parsed, _ io: CommandIO) throws -> JSONValue {
    var notification: [String: JSONValue] = [:]
    for (name, text) in [
      ("title", values[title]), ("subtitle", values[subtitle]), ("body", values[body]), ("sound", values[sound]),
    ] { if let text { notification[name] = .string(text) } }
    if let badge = values[badge] { notification["badge"] = .number(badge) }
    var options: [String: JSONValue] = ["dry_run": .bool(values[dryRun])]
    if let seconds = values[timeToLive] { options["time_to_live"] = .number(seconds) }
    for (name, text) in [
      ("priority", values[priority]), ("collapse_id", values[collapseID]), ("push_type", values[pushType]),
    ] { if let text { options[name] = .string(text) } }
    if let rate = values[rate] { options["rate"] = .number(rate) }
    if let minutes = values[spread] { options["spread_minutes"] = .number(minutes) }
    if values[atMostOnce] { options["at_most_once"] = true }
    var json: [String: JSONValue] = [
      "app": .string(values[app]), "environment": .string(values[environment].rawValue),
      "audience": try audience(values), "options": .object(options),
    ]
    if !notification.isEmpty { json["notification"] = .object(notification) }
    if !values[platforms].isEmpty { json["platforms"] = .array(values[platforms].map { .string($0.rawValue) }) }
    if let time = values[at] { json["send_at"] = .string(time) }
    if let rule = try RepeatOptions.rule(values) { json["repeat"] = rule }
    if let path = values[payload] { json["apns"] = ["payload": try read(path, io)] }
    return .object(json)
  }

  private static func audience(_ values: Parsed) throws -> JSONValue {
    let kinds = [
      ("device_token", values[devices]), ("tag", values[tags]), ("alias", values[aliases]),
      ("registration_id", values[registrationIDs]),
    ].filter { !$0.1.isEmpty }
    guard values[broadcast] == kinds.isEmpty else {
      throw CommandFailure.usage(
        kinds.isEmpty
          ? "Say to whom: --device, --tag, --alias or --registration-id; or --broadcast for everybody."
          : "--broadcast is for everybody: leave out --device, --tag, --alias and --registration-id.")
    }
    if values[broadcast] { return "all" }
    return .object(Dictionary(uniqueKeysWithValues: kinds.map { ($0.0, .array($0.1.map { .string($0) })) }))
  }

  /// No payload is as large; one byte more shows that a file is.
  private static let largest = 64 * 1024

  private static func read(_ path: String, _ io: CommandIO) throws -> JSONValue {
    let data: Data
    do {
      data =
        path == "-"
        ? try io.readAll(limit: largest + 1)
        : try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: largest + 1) ?? Data()
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(path): \(error.localizedDescription)")
    }
    guard data.count <= largest else { throw CommandFailure("\(path) is too large to be a payload.") }
    do { return try JSONValue(parsing: data) } catch { throw CommandFailure("\(path): \(error)") }
  }

  /// Checks the draft against the app, and keeps the push.
  ///
  /// - Returns: also how many devices it reaches now.
  private static func create(
    _ draft: PushDraft, _ store: Store, _ io: CommandIO
  ) throws -> (push: PushRecord, count: Int) {
    let now = io.now()
    // Not in the write: a large audience takes seconds to count, and everybody else's writes would wait for that.
    let (app, reachable) = try store.readSync { database in
      let app = try App.named(draft.app, database)
      let query = AudienceQuery(
        app: app.id, environment: draft.environment, platforms: draft.platforms, audience: draft.audience)
      let unknown = try Device.unknownTokens(database, app: app.id, audience: draft.audience).count
      return (app, try query.count(database).reachable + unknown)
    }
    return try store.writeSync { database in
      let credential = try CredentialScope.find(database, app: app.id, environment: draft.environment)
      try Lint.check(draft, Lint.Context(app, credential: credential, now: now))
      try Device.registerUnknown(database, of: draft, app: app.id, by: "cli", now: now)
      guard reachable > 0 else {
        throw CommandFailure(
          "No active device of \(app.bundleID) in \(draft.environment.rawValue) fits. See: signalbox devices list")
      }
      let new = NewPush(draft, app: app, source: "cli", by: "cli").held(draft, now: now)
      let push = try PushRecord.create(
        database, new,
        audit: NewAuditEntry(
          actor: "cli", action: "push.create", subject: "push \(new.uid)", detail: ["app": .string(app.bundleID)]),
        now: now)
      return (push, reachable)
    }
  }
}
