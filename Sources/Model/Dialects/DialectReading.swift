package import Foundation
package import JSON

/// A push that was read from any of the dialects. It is not complete: most dialects do not say everything that a push in
/// Signalbox says, and what they leave open is left for a person to choose.
package struct DialectReading: Sendable, Hashable {
  package let dialect: Dialect
  /// Required fields that the text leaves open: `app`, `environment`, `audience`. ``draft`` holds stand-ins there.
  package let missing: [String]
  /// What was not taken over, or not as it was; paths are the draft's, or the dialect's own.
  package let losses: [Problem]
  package let draft: PushDraft

  /// What a push cannot be without.
  package static let required = ["app", "environment", "audience"]

  /// Reads a text of any dialect; which one is decided by the text itself. What cannot be taken over is left out and
  /// named, and the rest is read without it.
  ///
  /// - Parameter now: turns an expiration into a time to live.
  /// - Throws: all problems, if nothing can be taken over.
  package init(_ text: String, now: Date) throws(Problems) {
    var source: DialectSource
    do throws(Problem) {
      source = try DialectSource(text)
    } catch {
      throw Problems([error])
    }
    dialect = source.dialect
    var left = source.unread.map { [$0] } ?? []
    var reader = DialectReader(source, now: now)
    while true {
      do throws(Problems) {
        try reader.read()
        break
      } catch {
        source.json = try error.without(source.json, &left)
        reader = DialectReader(source, now: now)
      }
    }
    // A draft is kept as JSON: what cannot be read back is left out, too.
    var json = reader.draft.json
    while true {
      do throws(Problems) {
        draft = try PushDraft(json: json)
        break
      } catch {
        json = reader.completed(try error.without(json, &left))
      }
    }
    missing = Self.required.filter(reader.missing.contains)
    losses = left + reader.losses
    var said = draft
    // Without a time to live, JPush keeps a push for a day: nobody said so.
    if dialect == .jpush { said.options.timeToLive = nil }
    if !losses.isEmpty, missing == Self.required, said.isBlank { throw Problems(losses) }
  }

  /// The body of `POST /api/v1/pushes`, without what is ``missing``.
  package var json: JSONValue { .object((draft.json.object ?? [:]).filter { !missing.contains($0.key) }) }
}

/// The state of reading one text.
struct DialectReader {
  /// Where the text names no app.
  static let noApp = "app"

  let dialect: Dialect
  var draft = PushDraft(
    app: noApp, environment: .development, platforms: Set(Platform.allCases), audience: .all,
    notification: Notification())
  var missing = Set(DialectReading.required)
  private(set) var losses: [Problem] = []
  let json: JSONValue
  private let command: CurlCommand?
  private let now: Date

  init(_ source: DialectSource, now: Date) {
    (dialect, command, json, self.now) = (source.dialect, source.command, source.json, now)
  }

  /// A body of our own API with stand-ins for what it lacks, which is ``missing`` from now on.
  mutating func completed(_ json: JSONValue) -> JSONValue {
    var members = json.object ?? [:]
    let standIns: [String: JSONValue] = ["app": .string(Self.noApp), "environment": "development", "audience": "all"]
    for name in DialectReading.required where (members[name] ?? .null) == .null {
      missing.insert(name)
      members[name] = standIns[name]
    }
    if members["notification"] == nil { members["notification"] = [:] }
    return .object(members)
  }

  mutating func read() throws(Problems) {
    if command?.hasCredential == true || command?.header("authorization") != nil { lose("authorization", .ours) }
    switch dialect {
    case .apns:
      draft.platforms = [.ios]
      if json != [:] { take(payload: json) }
      readRequest()
    case .simulator:
      draft.platforms = [.ios]
      var members = json.object ?? [:]
      if let app = members.removeValue(forKey: Dialect.bundleKey)?.string { take(app: app) }
      take(payload: .object(members))
    case .signalbox: try readOwn()
    case .jpush: try readJPush()
    case .fcm: try readFCM()
    case .legacy: try readLegacy()
    }
  }

  mutating func lose(_ field: String, _ message: DialectMessage = .notTaken) { lose(Problem(field, message)) }

  mutating func lose(_ problem: Problem) { losses.append(problem) }

  mutating func take(app: String) {
    draft.app = app
    missing.remove("app")
  }

  mutating func take(token: String) { take(tokens: [token]) }

  /// The receivers; placeholders leave the choice open.
  mutating func take(tokens texts: [String]) {
    let texts = texts.filter { !$0.hasPrefix("$") && (!$0.hasPrefix("<") || $0.count > 40) }
    let tokens = texts.compactMap { try? DeviceToken(parsing: $0, platforms: draft.platforms) }
    // Not a token of this service: which receiver is meant is unknown.
    guard tokens.count == texts.count else { return lose("audience.device_token", .token) }
    if tokens.isEmpty { return }
    var rule = Audience.Rule()
    rule.deviceToken = tokens
    draft.audience = .rule(rule)
    missing.remove("audience")
  }

  // MARK: APNs

  /// A placeholder leaves the choice open.
  private mutating func take(channel id: String) {
    guard ChannelID.problem(with: id) == nil else { return }
    draft.audience = .channel(id)
    missing.remove("audience")
  }

  private mutating func readRequest() {
    guard let command else { return }
    let path = command.path.split(separator: "/").map(String.init)
    if path.count == 4, path.starts(with: ["4", "broadcasts", "apps"]) {
      take(app: path[3])
      take(channel: command.header(APNsHeader.channelID) ?? "")
    } else {
      take(token: path.last ?? "")
    }
    if let environment = Environment.allCases.first(where: { command.host == $0.apnsHost }) {
      draft.environment = environment
      missing.remove("environment")
    } else if command.host == "api.development.push.apple.com" {
      missing.remove("environment")
    }
    let known = command.headers.filter { APNsHeader.all.contains($0.name) }
    for (name, _) in command.headers where ["apns-id", "apns-request-id"].contains(name) { lose(name, .ours) }
    take(headers: Dictionary(known.map { ($0.name, $0.value) }) { $1 })
  }

  /// Takes APNs' headers as options, and those that no option gives as they are.
  mutating func take(headers: [String: String]) {
    let derived = APNsPayload.pushType(of: APNsPayload(draft).json)
    let type = headers[APNsHeader.pushType].flatMap(PushType.init)
    if draft.options.pushType == nil, let type, type != derived { draft.options.pushType = type }
    if let topic = headers[APNsHeader.topic] {
      let meant = PushType.meant(byTopic: topic)
      take(app: String(topic.dropLast(meant?.topicSuffix.count ?? 0)))
      if let type {
        // A command that contradicts itself stays as it is: the checks say so.
        let isOther = type != .mdm && type.topicSuffix != meant?.topicSuffix ?? ""
        if isOther { draft.apns.headers[APNsHeader.topic] = topic }
      } else if let meant, meant != derived {
        draft.options.pushType = meant
      }
    }
    // These options change what Android gets, too: beside Android, a header of its own says the same.
    let isAlone = draft.platforms == [.ios]
    if isAlone { draft.options.collapseID = headers[APNsHeader.collapseID] }
    if isAlone, let text = headers[APNsHeader.priority], let number = Int(text), number != APNsPayload(draft).priority {
      draft.options.priority = PushDraft.Priority.allCases.first { $0.apns == number }
    }
    // A channel has the expiration 0 unless the draft says otherwise.
    let isUsual = draft.audience.subscribers == .channel && headers[APNsHeader.expiration] == "0"
    if !isUsual { take(expiration: headers[APNsHeader.expiration]) }
    let sent = APNsPayload(draft).headers(sentAt: now)
    for (name, value) in headers where name != APNsHeader.expiration && name != APNsHeader.topic {
      if !sent.contains(where: { $0.name == name && $0.value == value }) { draft.apns.headers[name] = value }
    }
  }

  /// An expiration is a moment; a push has a time to live, and is sent now.
  private mutating func take(expiration: String?) {
    guard let expiration, draft.options.timeToLive == nil else { return }
    guard draft.platforms == [.ios] else { return lose(APNsHeader.expiration) }
    // No moment is before 1970; the difference to the least number would not fit.
    let moment = max(-1, Int(expiration) ?? -1)
    let seconds = moment == 0 ? 0 : moment - Int(now.timeIntervalSince1970)
    if seconds >= 0, PushLimits.timeToLive.contains(seconds), moment == 0 || seconds > 0 {
      draft.options.timeToLive = seconds
    } else {
      lose(APNsHeader.expiration)
    }
  }

  /// Takes a payload as a notification if one gives the same payload, and as raw JSON if none does.
  mutating func take(payload: JSONValue) {
    let payload = withoutID(payload)
    if let notification = Self.notification(giving: payload, from: Notification(payload: payload)) {
      draft.notification = notification
    } else {
      draft.apns.payload = payload
      lose("apns.payload", .rawPayload)
    }
  }

  /// A payload in the form in which ``APNsPayload`` writes it, and without the ID and the signature of the push
  /// that it was copied from.
  private mutating func withoutID(_ payload: JSONValue) -> JSONValue {
    var members = payload.object ?? [:]
    for key in APNsPayload.ownKeys where members.removeValue(forKey: key) != nil { lose(key, .ours) }
    guard var aps = members["aps"]?.object else { return .object(members) }
    if let alert = aps["alert"]?.object, alert.count == 1, let body = alert["body"] { aps["alert"] = body }
    for key in ["content-available", "mutable-content"] where aps[key] == true { aps[key] = 1 }
    members["aps"] = .object(aps)
    return .object(members)
  }

  private static func notification(giving payload: JSONValue, from notification: Notification) -> Notification? {
    APNsPayload.payload(of: notification, uid: nil) == payload ? notification : nil
  }

  /// Joins what iOS and Android get to one notification, if one gives both; else iOS gets raw JSON.
  mutating func take(payload: JSONValue, beside android: Notification) {
    let payload = withoutID(payload)
    let ios = Notification(payload: payload)
    var both = android
    (both.subtitle, both.category, both.threadID) = (ios.subtitle, ios.category, ios.threadID)
    (both.interruptionLevel, both.contentAvailable) = (ios.interruptionLevel, ios.contentAvailable)
    both.mutableContent = ios.mutableContent
    (both.badge, both.sound) = (android.badge ?? ios.badge, android.sound ?? ios.sound)
    // FCM's data are texts: values of other kinds are in the payload alone.
    if android.extras.mapValues(\.asText) == ios.extras.mapValues(\.asText) { both.extras = ios.extras }
    if let notification = Self.notification(giving: payload, from: both) {
      draft.notification = notification
    } else {
      (draft.notification, draft.apns.payload) = (android, payload)
      lose("apns.payload", .rawPayload)
    }
  }
}

extension JSONValue {
  /// As FCM's data has it.
  fileprivate var asText: String { string ?? text() }
}

extension Notification {
  /// What a payload shows, as far as a notification can say it.
  init(payload: JSONValue) {
    self.init()
    let aps = payload["aps"]?.object ?? [:]
    func text(_ value: JSONValue?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0 } }
    let alert = aps["alert"]
    (title, subtitle) = (text(alert?["title"]), text(alert?["subtitle"]))
    body = text(alert?["body"]) ?? text(alert)
    badge = aps["badge"].flatMap { value in
      value.integer.flatMap { Int(exactly: $0) }.map(Badge.set) ?? Badge(json: value)
    }
    sound = text(aps["sound"])
    category = text(aps["category"])
    threadID = text(aps["thread-id"])
    interruptionLevel = text(aps["interruption-level"]).flatMap(InterruptionLevel.init)
    contentAvailable = aps["content-available"] == 1
    mutableContent = aps["mutable-content"] == 1
    extras = (payload.object ?? [:]).filter { $0.key != "aps" }
    takeLinks()
  }

  /// Moves our own keys from the extras to their fields.
  mutating func takeLinks() {
    func take(_ key: String) -> String? {
      guard let value = extras[key]?.string, !value.isEmpty else { return nil }
      extras[key] = nil
      return value
    }
    link = take(APNsPayload.linkKey) ?? link
    image = take(APNsPayload.imageKey) ?? image
  }
}
