package import JSON

/// What JPush knows of a registration ID, beside what Signalbox knows (docs/protocols.md §4.4).
package struct JPushDevice: Sendable, Hashable {
  package let registrationID: String
  /// JPush's.
  package let alias: String?
  /// JPush's, sorted.
  package let tags: [String]
  /// JPush's; Signalbox keeps none.
  package let mobile: String?
  /// Signalbox's.
  package let ownAlias: String?
  /// Signalbox's, sorted.
  package let ownTags: [String]

  /// - Parameter json: the answer to `GET /v3/devices/{registration_id}`.
  package init(_ json: JSONValue, registrationID: String, alias: String?, tags: [String]) {
    self.registrationID = registrationID
    (ownAlias, ownTags) = (alias, Set(tags).sorted())
    self.alias = json["alias"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    self.tags = Set((json["tags"]?.array ?? []).compactMap(\.string)).sorted()
    mobile = json["mobile"]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  package var hasOtherAlias: Bool { alias != ownAlias }
  /// Tags that JPush does not have.
  package var missingTags: [String] { ownTags.filter { !tags.contains($0) } }
  /// Tags that only JPush has.
  package var extraTags: [String] { tags.filter { !ownTags.contains($0) } }
  package var isSame: Bool { !hasOtherAlias && tags == ownTags }

  /// What JPush would refuse of Signalbox's; at `alias` and `tags`.
  package var problems: [Problem] {
    var problems: [Problem] = []
    if let ownAlias, let problem = AliasRule.jpush.problem(with: ownAlias) { problems.append(problem.under("alias")) }
    for tag in missingTags {
      guard let problem = TagRule.problem(with: tag, rule: .jpush) else { continue }
      problems.append(problem.under("tags"))
    }
    return problems
  }

  /// A body of `POST /v3/devices/{registration_id}`.
  package struct Change: Sendable, Hashable {
    /// Nil: unchanged; empty: removed.
    package var alias: String?
    package var added: [String] = []
    package var removed: [String] = []

    package var json: JSONValue {
      var members: [String: JSONValue] = [:]
      members["alias"] = alias.map(JSONValue.string)
      if !added.isEmpty || !removed.isEmpty { members["tags"] = Self.lists(added, removed) }
      return .object(members)
    }

    package static func lists(_ added: [String], _ removed: [String]) -> JSONValue {
      var lists: [String: JSONValue] = [:]
      if !added.isEmpty { lists["add"] = .array(added.map(JSONValue.string)) }
      if !removed.isEmpty { lists["remove"] = .array(removed.map(JSONValue.string)) }
      return .object(lists)
    }

    /// Whether another tag fits: JPush takes 100 in each list of one call, and 1000 bytes of both.
    fileprivate func fits(_ tag: String, in list: [String]) -> Bool {
      let bytes = (added + removed + [tag]).reduce(0) { $0 + $1.utf8.count }
      return list.count < JPushDeviceChange.tagLimit && bytes <= JPushDeviceChange.tagBytes
    }
  }

  /// What makes JPush's alias and tags the same as Signalbox's, in as many calls as JPush's limits need.
  package var changes: [Change] {
    guard !isSame else { return [] }
    var changes: [Change] = []
    var next = Change()
    if hasOtherAlias { next.alias = ownAlias ?? "" }
    // A device has at most 1000 tags: what goes makes room for what comes.
    for (list, tags) in [(\Change.removed, extraTags), (\.added, missingTags)] {
      for tag in tags {
        if !next.fits(tag, in: next[keyPath: list]) {
          changes.append(next)
          next = Change()
        }
        next[keyPath: list].append(tag)
      }
    }
    return changes + [next]
  }
}

extension JPushDevice: JSONObject {
  /// The schema `JPushDevice`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("registration_id", registrationID)
    json.member("alias", alias)
    json.array("tags", tags) { json, tag in json.string(tag) }
    json.member("mobile", mobile)
    json.member("same", isSame)
    json.object("signalbox") { json in
      json.member("alias", ownAlias)
      json.array("tags", ownTags) { json, tag in json.string(tag) }
    }
  }
}

/// A schedule that lies at JPush, as `GET /v3/schedules` lists it (docs/protocols.md §4.6).
package struct JPushListedSchedule: Sendable, Hashable {
  package let id: String
  package let name: String
  package let isEnabled: Bool
  package let trigger: JSONValue
  package let push: JSONValue

  /// Nil: it has no ID.
  package init?(_ json: JSONValue) {
    guard let id = json["schedule_id"]?.string, !id.isEmpty else { return nil }
    self.id = id
    name = json["name"]?.string ?? ""
    isEnabled = json["enabled"] == true
    (trigger, push) = (json["trigger"] ?? .null, json["push"] ?? .null)
  }

  /// What the push says, of the first part that says anything.
  package var alert: String? {
    let notification = push["notification"]
    let parts = [notification?["alert"], notification?["ios"]?["alert"], notification?["android"]?["alert"]]
    return parts.compactMap { $0?.string ?? $0?["body"]?.string ?? $0?["title"]?.string }.first { !$0.isEmpty }
      ?? push["message"]?["msg_content"]?.string
  }
}

extension JPushListedSchedule: JSONObject {
  /// The schema `JPushSchedule`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("name", name)
    json.member("enabled", isEnabled)
    json.member("trigger", trigger)
    json.member("push", push)
  }
}
