import Foundation
import JSON
import Model

/// Converts the send form to the API's JSON, and a draft back to the form.
struct SendForm {
  let form: Form

  /// Text fields that go unchanged into a group of the API's JSON.
  private static let texts: [(field: String, group: String)] = [
    ("title", "notification"), ("subtitle", "notification"), ("body", "notification"), ("sound", "notification"),
    ("category", "notification"), ("thread_id", "notification"), ("interruption_level", "notification"),
    ("image", "notification"), ("link", "notification"), ("priority", "options"), ("push_type", "options"),
    ("collapse_id", "options"),
  ]
  private static let numbers = [("badge", "notification"), ("time_to_live", "options")]
  static let audienceFields = [
    "tag", "tag_and", "tag_not", "alias", "registration_id", "device_token", "segment", "topic", "condition",
  ]
  static let fields =
    audienceFields + texts.map(\.field)
    + numbers.map(\.0) + ["extras", "payload", "android", "jpush", "apns_headers"] + timeTexts

  /// The draft.
  ///
  /// - Throws: `Problems`, each with the name of a form field.
  func draft() throws(Problems) -> PushDraft {
    var problems: [Problem] = []
    let json = json(&problems)
    do {
      let draft = try PushDraft(json: json)
      if problems.isEmpty { return draft }
    } catch {
      // JSON that cannot be read is content that only needs a correction.
      let hasContent = problems.contains { ["payload", "android", "extras"].contains($0.field) }
      let found = error.all.filter { !hasContent || $0.code != DraftMessage.contentMissing.rawValue }
      problems += found.map(Self.asked).map(placed)
    }
    throw Problems(problems)
  }

  /// The audience of the form alone, for a question about it.
  ///
  /// - Throws: as ``draft()``.
  func question(device: String?) throws(Problems) -> AudienceQuestion {
    var members: [String: JSONValue] = [:]
    for name in ["app", "environment"] where !form[name].isEmpty { members[name] = .string(form[name]) }
    if form.has("platforms") { members["platforms"] = .array(form.all("platforms").map(JSONValue.string)) }
    members["audience"] = audience
    members["device"] = device.map(JSONValue.string)
    do { return try AudienceQuestion(json: .object(members), asksDevice: true) } catch {
      throw Problems(error.all.map(Self.asked).map(Self.placed))
    }
  }

  private func json(_ problems: inout [Problem]) -> JSONValue {
    var groups: [String: [String: JSONValue]] = ["notification": [:], "options": [:], "apns": [:]]
    for (field, group) in Self.texts where !form[field].isEmpty {
      // Prose keeps its spaces and line breaks; other fields are trimmed.
      let isProse = field == "title" || field == "subtitle" || field == "body"
      groups[group]?[field] = .string(isProse ? form.raw(field) : form[field])
    }
    for (field, group) in Self.numbers where !form[field].isEmpty {
      if field == "badge", let sign = form[field].first, "+-".contains(sign), Int64(form[field]) != nil {
        groups[group]?[field] = .string(form[field])
      } else if let number = Int64(form[field]), !form[field].hasPrefix("+") {
        groups[group]?[field] = .integer(number)
      } else {
        problems.append(Self.noNumber(field, form[field]))
      }
    }
    for field in ["content_available", "mutable_content"] where form.has(field) {
      groups["notification"]?[field] = true
    }
    if let extras = object("extras", &problems) { groups["notification"]?["extras"] = extras }
    if let texts = localizations(&problems) { groups["notification"]?[Localization.key] = texts }
    if let payload = object("payload", &problems) { groups["apns"]?["payload"] = payload }
    if form.has("identified") { groups["apns"]?["identified"] = true }
    let (android, jpush) = (object("android", &problems), object("jpush", &problems))
    let headers = headers(&problems)
    if !headers.isEmpty { groups["apns"]?["headers"] = .object(headers) }

    var members: [String: JSONValue] = [:]
    readTime(&members, options: &groups["options", default: [:]], &problems)
    for (group, fields) in groups where !fields.isEmpty { members[group] = .object(fields) }
    if !form["app"].isEmpty { members["app"] = .string(form["app"]) }
    if !form["environment"].isEmpty { members["environment"] = .string(form["environment"]) }
    // The subscribers of a topic or channel have no platform to choose: they are FCM's or APNs' alone.
    let isSubscribed = ["topic", "condition", "channel"].contains(form["audience"])
    if !isSubscribed { members["platforms"] = .array(form.all("platforms").map(JSONValue.string)) }
    if let android { members["android"] = android }
    if let jpush { members["jpush"] = jpush }
    if let audience { members["audience"] = audience }
    return .object(members)
  }

  /// The audience alone, of devices.
  ///
  /// - Throws: `Problems`, each with the name of a form field.
  func deviceAudience(platforms: Set<Platform>) throws(Problems) -> Audience {
    let fields = JSONFields(.object(audience.map { ["audience": $0] } ?? [:]))
    if let audience = Audience.read(fields, platforms: platforms), fields.problems.isEmpty { return audience }
    throw Problems(fields.problems.map(Self.asked).map(Self.placed))
  }

  private var audience: JSONValue? {
    func list(_ names: [String]) -> JSONValue { .array(names.map(JSONValue.string)) }
    switch form["audience"] {
    case "": return nil
    case "all": return "all"
    case "tag":
      return [
        "tag": list(form.parts("tag")), "tag_and": list(form.parts("tag_and")), "tag_not": list(form.parts("tag_not")),
      ]
    case let name where ["channel", "topic", "condition"].contains(name): return .object([name: .string(form[name])])
    case "segment": return ["segment": list(form.parts("segment"))]
    case "device_token": return ["device_token": list(TokenList.texts(form.raw("device_token")))]
    case let name: return .object([name: list(form.words(name))])
    }
  }

  private func object(_ field: String, _ problems: inout [Problem]) -> JSONValue? {
    guard !form[field].isEmpty else { return nil }
    do {
      let value = try JSONValue(checking: Array(form.raw(field).utf8))
      if value.object != nil { return value }
      problems.append(Problem(field, code: "form.object", "Enter a JSON object, e.g. {“key”: “value”}."))
    } catch {
      problems.append(error.under(field))
    }
    return nil
  }

  private func headers(_ problems: inout [Problem]) -> [String: JSONValue] {
    var headers: [String: JSONValue] = [:]
    for line in form.raw("apns_headers").split(separator: "\n") where !line.allSatisfy(\.isWhitespace) {
      let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if parts.count == 2 {
        headers[parts[0]] = .string(parts[1])
      } else {
        problems.append(
          Problem(
            "apns_headers", code: "form.header", "Enter one “name: value” per line, not “{value}”.",
            ["value": String(line.prefix(40))]))
      }
    }
    return headers
  }

  /// Turns the API's message about a missing member into one for the form.
  private static func asked(_ problem: Problem) -> Problem {
    switch problem.code {
    case DraftMessage.audienceMissing.rawValue:
      Problem(problem.field, code: "form.audience", "Choose an audience. There is no default.")
    case DraftMessage.audienceEmpty.rawValue:
      Problem(problem.field, code: "form.audience_empty", "Enter at least one recipient below.")
    case DraftMessage.contentMissing.rawValue:
      Problem(problem.field, code: "form.content", "Enter a message, or open “Use raw JSON instead”.")
    default: problem
    }
  }

  /// Maps a problem in the API's JSON to the form field that caused it.
  static func placed(_ problem: Problem) -> Problem {
    var placed = problem
    let path = problem.field.split(separator: ".").map { $0.prefix { $0 != "[" } }
    if path == ["repeat"] {
      placed.field = "every"
    } else if path.starts(with: ["apns", "headers"]) {
      placed.field = "apns_headers"
    } else if path.starts(with: ["apns"]) {
      placed.field = "payload"
    } else if path.first == "android" || path.first == "jpush" {
      placed.field = String(path[0])
    } else if path.first == "notification" || path.first == "options" || path.first == "audience"
      || path.first == "repeat", path.count > 1
    {
      placed.field = String(path[1])
    } else if path.first == "notification" {
      placed.field = "body"
    } else {
      placed.field = path.first.map(String.init) ?? ""
    }
    return placed
  }
}

extension Form {
  /// The form that produces a draft.
  init(_ draft: PushDraft) {
    var fields: [(String, String)] = [("app", draft.app), ("environment", draft.environment.rawValue)]
    fields += Platform.allCases.filter(draft.platforms.contains).map { ("platforms", $0.rawValue) }
    switch draft.audience {
    case .all: fields.append(("audience", "all"))
    case .channel(let id): fields += [("audience", "channel"), ("channel", id)]
    case .topic(let name): fields += [("audience", "topic"), ("topic", name)]
    case .condition(let text): fields += [("audience", "condition"), ("condition", text)]
    case .rule(let rule):
      let lists = [
        ("tag", rule.tag), ("tag_and", rule.tagAnd), ("tag_not", rule.tagNot), ("alias", rule.alias),
        ("registration_id", rule.registrationID), ("device_token", rule.deviceToken.map(\.text)),
        ("segment", rule.segment),
      ]
      let used = lists.filter { !$0.1.isEmpty }
      let first = used.first?.0 ?? ""
      fields.append(("audience", first.hasPrefix("tag") ? "tag" : first))
      fields += used.map { name, names in
        if name == "device_token" { return (name, names.joined(separator: "\n")) }
        return (name, name.hasPrefix("tag") || name == "segment" ? Form.parts(names) : Form.words(names))
      }
    }
    let message = draft.notification
    let texts: [(String, String?)] = [
      ("title", message.title), ("subtitle", message.subtitle), ("body", message.body), ("sound", message.sound),
      ("category", message.category), ("thread_id", message.threadID),
      ("interruption_level", message.interruptionLevel?.rawValue), ("image", message.image), ("link", message.link),
      ("badge", message.badge?.text), ("priority", draft.options.priority?.rawValue),
      ("push_type", draft.options.pushType?.rawValue), ("collapse_id", draft.options.collapseID),
      ("time_to_live", draft.options.timeToLive.map(String.init)),
      ("extras", message.extras.isEmpty ? nil : JSONValue.object(message.extras).text(pretty: true)),
      ("payload", draft.apns.payload?.text(pretty: true)),
      ("android", draft.android.isEmpty ? nil : JSONValue.object(draft.android).text(pretty: true)),
      ("jpush", draft.jpush.isEmpty ? nil : draft.jpush.json.text(pretty: true)),
      (
        "apns_headers",
        draft.apns.headers.isEmpty
          ? nil : draft.apns.headers.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "\n")
      ),
    ]
    fields += texts.compactMap { name, text in text.map { (name, $0) } }
    fields += SendForm.languageFields(message.localizations) + SendForm.timeFields(draft)
    if message.contentAvailable { fields.append(("content_available", "1")) }
    if message.mutableContent { fields.append(("mutable_content", "1")) }
    if draft.apns.isIdentified { fields.append(("identified", "1")) }
    self.init(fields.map { (name: $0.0, value: $0.1) })
  }
}
