package import Foundation
package import JSON

/// Which page of an app a tap opens, by the type in the payload's key `link` (docs/protocols.md §6). The app
/// decides by itself; the rules are what its developers and the senders agreed on.
package struct PageRules: Sendable, Hashable {
  package struct Rule: Sendable, Hashable {
    /// The value of `link`.
    package let type: String
    /// What people call the page.
    package let page: String
    /// The app's own address of the page, where `{key}` stands for a value of the payload; nil: none.
    package let deepLink: String?

    package init(type: String, page: String, deepLink: String? = nil) {
      (self.type, self.page, self.deepLink) = (type, page, deepLink)
    }
  }

  package let rules: [Rule]

  package static let limit = 100
  package static let pageLimit = 100
  package static let deepLinkLimit = 2048

  /// Those of the founding documents, for an app without its own.
  package static let defaults = PageRules([
    Rule(type: "comment", page: "Message list"), Rule(type: "like", page: "Message list"),
    Rule(type: "message", page: "Message list"), Rule(type: "follow", page: "Profile"),
  ])

  package init(_ rules: [Rule]) { self.rules = rules }

  /// Reads `{"rules": [{"type": …, "page": …, "deep_link": …}]}`.
  ///
  /// - Throws: all problems, in the order of the rules.
  package init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    guard let list = fields.value("rules")?.array else {
      fields.report("rules", Problem("", FieldMessage.required))
      try fields.finish()
      throw Problems([Problem("rules", FieldMessage.required)])
    }
    if list.count > Self.limit {
      let arguments = ["limit": String(Self.limit), "count": String(list.count)]
      fields.report("rules", Problem("", FieldMessage.tooMany, arguments))
    }
    var problems: [Problem] = []
    var rules: [Rule] = []
    for (index, json) in list.prefix(Self.limit).enumerated() {
      do {
        let rule = try Rule(json: json)
        if rules.contains(where: { $0.type == rule.type }) {
          problems.append(Problem("rules[\(index)].type", PageMessage.twice, ["type": rule.type]))
        }
        rules.append(rule)
      } catch {
        problems += error.all.map { $0.under("rules[\(index)]") }
      }
    }
    do { try fields.finish() } catch { problems = error.all + problems }
    if !problems.isEmpty { throw Problems(problems) }
    self.rules = rules
  }

  package var json: JSONValue { ["rules": .array(rules.map(\.json))] }

  /// What a tap on a push opens.
  package struct Target: Sendable, Hashable {
    /// The payload's `link`; nil: it has none, and the app opens as it was.
    package let type: String?
    /// Nil: no rule names the type.
    package let rule: Rule?
    /// With the payload's values in place; nil without one, or if values are missing.
    package let deepLink: String?
    /// Keys of the deep link that the payload lacks.
    package let missing: [String]
  }

  /// - Parameter payload: what the app receives: its keys, beside `aps` at APNs, or the data of FCM.
  package func target(of payload: [String: JSONValue]) -> Target {
    let type = payload[APNsPayload.linkKey]?.string
    let rule = rules.first { $0.type == type }
    guard let rule, let pattern = rule.deepLink else {
      return Target(type: type, rule: rule, deepLink: nil, missing: [])
    }
    var missing: [String] = []
    let link = pattern.replacing(#/\{([^{}]+)\}/#) { match -> String in
      let key = String(match.1)
      guard let value = payload[key], value != .null else {
        missing.append(key)
        return ""
      }
      let text = value.string ?? value.text()
      return text.addingPercentEncoding(withAllowedCharacters: Self.plain) ?? text
    }
    return Target(type: type, rule: rule, deepLink: missing.isEmpty ? link : nil, missing: missing)
  }

  /// RFC 3986 §2.3.
  private static let plain = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// Finds the target of a pasted text: a payload, data, or a push in any dialect.
  ///
  /// - Throws: what is wrong with the text.
  package func target(of text: String, now: Date) throws(Problems) -> Target {
    let reading: DialectReading
    do throws(Problems) {
      reading = try DialectReading(text, now: now)
    } catch {
      // Data alone is no push, but it says which page it opens.
      guard let json = try? JSONValue(parsing: Array(text.utf8)), let members = json.object, members["link"] != nil
      else { throw error }
      return target(of: members)
    }
    if let payload = reading.draft.apns.payload?.object { return target(of: payload) }
    return target(of: APNsPayload.payload(of: reading.draft.notification, uid: nil).object ?? [:])
  }
}

extension PageRules.Rule {
  init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    let type = fields.string("type", required: true, limit: .characters(PushLimits.word))
    let page = fields.string("page", required: true, limit: .characters(PageRules.pageLimit))
    let deepLink = fields.string("deep_link", limit: .characters(PageRules.deepLinkLimit)) { text in
      text.contains(#/^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$/#) ? nil : Problem("", PageMessage.deepLink)
    }
    try fields.finish()
    self.init(type: type ?? "", page: page ?? "", deepLink: deepLink)
  }

  var json: JSONValue {
    var members: [String: JSONValue] = ["type": .string(type), "page": .string(page)]
    members["deep_link"] = deepLink.map(JSONValue.string)
    return .object(members)
  }
}

package enum PageMessage: String, MessageSet {
  case twice = "page_rule.twice"
  case deepLink = "page_rule.deep_link"

  package var english: String {
    switch self {
    case .twice: "There is already a rule for “{type}”."
    case .deepLink: "Must be an address of the app, e.g. shop://orders/{id}, without spaces."
    }
  }
}
