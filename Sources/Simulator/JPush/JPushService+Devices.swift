import Foundation
import JSON
import Model

/// Devices, aliases and tags (docs/protocols.md §4.4).
extension JPushService {
  private static let tagListLimit = 100
  /// Devices of one alias.
  private static let aliasLimit = 10

  func devices(_ call: SimulatedCall) throws(JPushError) -> SimulatedReply {
    let path = Array(call.path.dropFirst())
    switch (call.method, path.first, path.count) {
    case ("POST", "devices", 2) where path[1] == "status": return try online(try Self.json(call))
    case ("GET", "devices", 2):
      let phone = try phone(path[1])
      return SimulatedReply([
        "tags": .array(phone.tags.sorted().map(JSONValue.string)), "alias": .optional(phone.alias),
        "mobile": .optional(phone.mobile),
      ])
    case ("POST", "devices", 2):
      let body = try Self.json(call)
      return try change(path[1], try JPushDeviceChange(body), mobile: try Self.mobile(body))
    case (_, "aliases", 2): return try alias(call, path[1])
    case ("GET", "tags", 1):
      let tags = Set(phones.jpushPhones().flatMap(\.tags)).sorted().prefix(Self.tagListLimit)
      return SimulatedReply(["tags": .array(tags.map(JSONValue.string))])
    case (_, "tags", 2...): return try tag(call, path)
    default: return Self.unserved(call)
    }
  }

  private func phone(_ id: String) throws(JPushError) -> SimulatedPhone {
    guard let phone = phones.phone(jpush: id) else {
      throw JPushError(.invalid, "There is no device with the registration_id \(id.prefix(RegistrationID.limit)).")
    }
    return phone
  }

  /// The phone number of a device; an inner nil removes it, nil: it stays.
  private static func mobile(_ body: JSONValue) throws(JPushError) -> String?? {
    guard let value = body["mobile"], value != .null else { return nil }
    guard let text = value.string else { throw JPushError(.invalid, "mobile must be a string.") }
    if text.isEmpty { return .some(nil) }
    guard text.wholeMatch(of: #/\+?[0-9][0-9\-]{0,18}/#) != nil else {
      throw JPushError(.invalid, "mobile must be a phone number of at most 20 characters.")
    }
    return text
  }

  private func change(
    _ id: String, _ change: JPushDeviceChange, mobile: String??
  ) throws(JPushError) -> SimulatedReply {
    let before = try phone(id)
    if case .some(.some(let alias)) = change.alias, alias != before.alias,
      phones.jpushPhones().count(where: { $0.alias == alias }) >= Self.aliasLimit
    {
      throw JPushError(.aliasFull, "This alias already has \(Self.aliasLimit) devices.")
    }
    phones.change(jpush: [before.id]) { phone in
      if let alias = change.alias { phone.alias = alias }
      if let tags = change.tags(before: phone.tags) { phone.tags = tags }
      if let mobile { phone.mobile = mobile }
    }
    return .done
  }

  private func online(_ json: JSONValue) throws(JPushError) -> SimulatedReply {
    let ids = try JPushMembers.list(json)
    let answers = ids.map { id -> (String, JSONValue) in
      guard let phone = phones.phone(jpush: id) else { return (id, [:]) }
      return (id, ["online": .bool(phone.power == .on)])
    }
    return SimulatedReply(.object(Dictionary(answers) { first, _ in first }))
  }

  private func platforms(_ call: SimulatedCall) throws(JPushError) -> Set<Platform> {
    try JPushMembers.platforms(call.queryValues("platform"))
  }

  private func alias(_ call: SimulatedCall, _ name: String) throws(JPushError) -> SimulatedReply {
    if let problem = AliasRule.jpush.problem(with: name) { throw JPushError(.invalid, problem.text) }
    let platforms = try platforms(call)
    let all = phones.jpushPhones().filter { $0.alias == name && platforms.contains($0.platform) }
    switch call.method {
    case "GET": return SimulatedReply(["registration_ids": .array(all.map { .string($0.tokenText) })])
    case "DELETE": phones.change(jpush: all.map(\.id)) { $0.alias = nil }
    case "POST":
      let members = try JPushMembers(try Self.json(call), mayAdd: false)
      let removed = try found(members.removed)
      phones.change(jpush: removed) { phone in if phone.alias == name { phone.alias = nil } }
    default: return Self.unserved(call)
    }
    return .done
  }

  private func tag(_ call: SimulatedCall, _ path: [String]) throws(JPushError) -> SimulatedReply {
    let name = path[1]
    if let problem = TagRule.problem(with: name, rule: .jpush) { throw JPushError(.invalid, problem.text) }
    switch (call.method, path.count) {
    case ("GET", 4) where path[2] == "registration_ids":
      return SimulatedReply(["result": .bool(try phone(path[3]).tags.contains(name))])
    case ("POST", 2):
      let members = try JPushMembers(try Self.json(call), mayAdd: true)
      let (added, removed) = (try found(members.added), try found(members.removed))
      phones.change(jpush: added) { $0.tags.insert(name) }
      phones.change(jpush: removed) { $0.tags.remove(name) }
    case ("DELETE", 2):
      let platforms = try platforms(call)
      phones.change(jpush: phones.jpushPhones().filter { platforms.contains($0.platform) }.map(\.id)) {
        $0.tags.remove(name)
      }
    default: return Self.unserved(call)
    }
    return .done
  }

  /// Phones by their registration IDs, all or none.
  private func found(_ ids: [String]) throws(JPushError) -> [Int64] {
    var found: [Int64] = []
    for id in ids {
      guard let phone = phones.phone(jpush: id) else {
        throw JPushError(
          .devicePartlyInvalid, "There is no device with the registration_id \(id.prefix(RegistrationID.limit)).")
      }
      found.append(phone.id)
    }
    return found
  }
}
