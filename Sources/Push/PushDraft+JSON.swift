import Foundation

extension PushDraft {
  /// Reads the body of `POST /api/v1/pushes`.
  ///
  /// - Throws: ``Problems``: all that is wrong, in the order of the fields, unknown ones by name.
  public init(json: JSONValue) throws(Problems) {
    var fields = JSONFields(json)
    let app = fields.required("app", limit: 155)
    let environment = fields.choice("environment", of: Environment.self)
    if environment == nil, !fields.has("environment") {
      fields.add("environment", "environment.required", "Say development or production: nothing is preselected.")
    }
    let platforms = Self.platforms(&fields)
    let audience = Self.audience(&fields, platforms: platforms)
    var draft = PushDraft(
      app: app ?? "", environment: environment ?? .development, platforms: platforms, audience: audience ?? .all,
      notification: Notification())
    fields.object("notification") { draft.notification = Notification(&$0) }
    fields.object("apns") { draft.apns = APNsOverrides(&$0) }
    fields.object("android") { _ in }
    fields.object("options") { draft.options = Options(&$0) }
    if let text = fields.string("send_at", limit: 40) {
      if let date = try? Date(text, strategy: .iso8601) {  // any failure is the same problem
        draft.sendAt = date
      } else {
        fields.add("send_at", "time.form", "This must be a time as 2026-12-01T09:00:00Z.")
      }
    }
    let problems = fields.finished()
    guard problems.isEmpty else { throw Problems(problems) }
    self = draft
  }

  private static func platforms(_ fields: inout JSONFields) -> Set<Platform> {
    let absent = !fields.has("platforms")
    let names = fields.strings("platforms", limit: 2) { name throws(Problem) in
      guard Platform(rawValue: name) != nil else {
        throw Problem("", code: "choice", "This must be one of: {choices}.", ["choices": "ios, android"])
      }
    }
    if absent || (names.isEmpty && fields.problems.isEmpty) {
      fields.add("platforms", "platforms.required", "Choose at least one platform: ios, android.")
    }
    return Set(names.compactMap(Platform.init(rawValue:)))
  }

  private static func audience(_ fields: inout JSONFields, platforms: Set<Platform>) -> Audience? {
    guard let value = fields.value("audience") else {
      fields.add("audience", "audience.required", "Say whom for: \"all\", or a rule. Nothing is preselected.")
      return nil
    }
    if case .string(let word) = value {
      if word == "all" { return .all }
      fields.add("audience", "audience.word", "This must be \"all\" or an object with the conditions.")
      return nil
    }
    var rule = Audience.Rule()
    let before = fields.problems.count
    fields.object("audience") { fields in
      rule.tag = fields.strings("tag", limit: 20, check: NameRules.checkTag)
      rule.tagAnd = fields.strings("tag_and", limit: 20, check: NameRules.checkTag)
      rule.tagNot = fields.strings("tag_not", limit: 20, check: NameRules.checkTag)
      rule.alias = fields.strings("alias", limit: 1000) { text throws(Problem) in try AliasRule.none.check(text) }
      rule.registrationID = fields.strings("registration_id", limit: 1000, check: NameRules.checkRegistrationID)
      let platform: Platform = platforms == [.android] ? .android : .ios
      var tokens: [DeviceToken] = []
      _ = fields.strings("device_token", limit: 1000) { text throws(Problem) in
        do throws(Problem) {
          tokens.append(try DeviceToken(parsing: text, platform: platform))
        } catch {
          guard platforms.contains(.android), platform == .ios else { throw error }
          tokens.append(try DeviceToken(parsing: text, platform: .android))
        }
      }
      rule.deviceToken = tokens
      if let segments = fields.value("segment"), segments.array?.isEmpty != true {
        fields.add("segment", "segment.unavailable", "Segments are not available yet; use tags.")
      }
    }
    if rule == Audience.Rule() {
      if fields.problems.count == before {
        fields.add(
          "audience", "audience.empty", "The audience has no condition. For everyone write \"all\".")
      }
      return nil
    }
    return .rule(rule)
  }

  /// The draft as `POST /api/v1/pushes` takes it.
  public var json: JSONValue {
    var members: [String: JSONValue] = [
      "app": .string(app), "environment": .string(environment.rawValue),
      "platforms": .array(Platform.allCases.filter(platforms.contains).map { .string($0.rawValue) }),
      "audience": audience.json(platforms: platforms), "notification": notification.json,
    ]
    var apnsMembers: [String: JSONValue] = [:]
    if !apns.headers.isEmpty { apnsMembers["headers"] = .object(apns.headers.mapValues { .string($0) }) }
    if let payload = apns.payload { apnsMembers["payload"] = payload }
    if !apnsMembers.isEmpty { members["apns"] = .object(apnsMembers) }
    let options = options.json
    if options != [:] { members["options"] = options }
    if let sendAt { members["send_at"] = .string(sendAt.formatted(.iso8601)) }
    return .object(members)
  }
}

extension Audience {
  /// As the API writes it.
  public func json(platforms: Set<Platform>) -> JSONValue {
    guard case .rule(let rule) = self else { return "all" }
    let platform: Platform = platforms == [.android] ? .android : .ios
    let lists: [(String, [String])] = [
      ("tag", rule.tag), ("tag_and", rule.tagAnd), ("tag_not", rule.tagNot), ("alias", rule.alias),
      ("registration_id", rule.registrationID), ("device_token", rule.deviceToken.map { $0.text(on: platform) }),
    ]
    return .object(
      Dictionary(uniqueKeysWithValues: lists.filter { !$0.1.isEmpty }.map { ($0.0, .array($0.1.map { .string($0) })) })
    )
  }
}

extension Notification {
  fileprivate init(_ fields: inout JSONFields) {
    self.init()
    title = fields.string("title", limit: 1024)
    subtitle = fields.string("subtitle", limit: 1024)
    body = fields.string("body", limit: 4096)
    badge = fields.integer("badge", in: 0...99_999)
    sound = fields.string("sound", limit: 255)
    category = fields.string("category", limit: 255)
    threadID = fields.string("thread_id", limit: 255)
    interruptionLevel = fields.choice("interruption_level", of: InterruptionLevel.self)
    image = fields.string("image", limit: 2048)
    if let image, URL(string: image)?.scheme?.hasPrefix("http") != true {
      fields.add("image", "image.form", "This must be an address that begins with https://.")
    }
    link = fields.string("link", limit: 255)
    contentAvailable = fields.bool("content_available")
    mutableContent = fields.bool("mutable_content")
    if let value = fields.value("extras") {
      if case .object(let members) = value {
        extras = members
        if members["aps"] != nil {
          fields.add("extras.aps", "extras.aps", "aps belongs to Apple. To write it yourself use apns.payload.")
        }
      } else {
        fields.add("extras", "json.object", "This must be a JSON object.")
      }
    }
  }

  /// As the API writes it.
  public var json: JSONValue {
    var members: [String: JSONValue] = [:]
    let texts: [(String, String?)] = [
      ("title", title), ("subtitle", subtitle), ("body", body), ("sound", sound), ("category", category),
      ("thread_id", threadID), ("interruption_level", interruptionLevel?.rawValue), ("image", image), ("link", link),
    ]
    for case (let name, let text?) in texts { members[name] = .string(text) }
    if let badge { members["badge"] = .integer(Int64(badge)) }
    if contentAvailable { members["content_available"] = true }
    if mutableContent { members["mutable_content"] = true }
    if !extras.isEmpty { members["extras"] = .object(extras) }
    return .object(members)
  }
}

extension PushDraft.APNsOverrides {
  fileprivate init(_ fields: inout JSONFields) {
    self.init()
    if let value = fields.value("headers") {
      if case .object(let members) = value {
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
          guard case .string(let text) = value else {
            fields.add("headers.\(name)", "json.string", "This must be a string.")
            continue
          }
          do throws(Problem) {
            try APNsHeaders.check(name: name.lowercased(), value: text)
            headers[name.lowercased()] = text
          } catch {
            fields.add(error, at: "headers.\(name)")
          }
        }
      } else {
        fields.add("headers", "json.object", "This must be a JSON object.")
      }
    }
    if let value = fields.value("payload") {
      if case .object = value {
        payload = value
      } else {
        fields.add("payload", "json.object", "This must be a JSON object.")
      }
    }
  }
}

extension PushDraft.Options {
  fileprivate init(_ fields: inout JSONFields) {
    self.init()
    timeToLive = fields.integer("time_to_live", in: 0...2_419_200)
    priority = fields.choice("priority", of: PushDraft.Priority.self)
    collapseID = fields.string("collapse_id", limit: 64)
    pushType = fields.choice("push_type", of: PushType.self)
    rate = fields.integer("rate", in: 1...1_000_000)
    dryRun = fields.bool("dry_run")
  }

  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [:]
    if let timeToLive { members["time_to_live"] = .integer(Int64(timeToLive)) }
    if let priority { members["priority"] = .string(priority.rawValue) }
    if let collapseID { members["collapse_id"] = .string(collapseID) }
    if let pushType { members["push_type"] = .string(pushType.rawValue) }
    if let rate { members["rate"] = .integer(Int64(rate)) }
    if dryRun { members["dry_run"] = true }
    return .object(members)
  }
}
