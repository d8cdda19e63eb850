import Foundation
import JSON
import Model

/// The legacy protocol, `POST /fcm/send` and `/gcm/send`, dead at Google since 2024 (docs/protocols.md §3.5).
extension FCMService {
  /// The most registration tokens of one request.
  private static let idLimit = 1000

  /// The server key of `authorization: key=…`; nil if it has none.
  static func serverKey(_ call: SimulatedCall) -> String? {
    guard let value = call.authorization, value.lowercased().hasPrefix("key=") else { return nil }
    let key = value.dropFirst(4).trimmingCharacters(in: .whitespaces)
    return key.isEmpty ? nil : key
  }

  func legacy(_ call: SimulatedCall) -> SimulatedReply {
    guard Self.serverKey(call) != nil else {
      return SimulatedReply(
        status: 401, text: "Unauthorized: the request needs the field Authorization: key=<server key>.\n")
    }
    if call.isForm { return Self.plain(legacy(LegacyForm.json(call.formPairs))) }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: call.body)
    } catch {
      return SimulatedReply(status: 400, text: "JSON_PARSING_ERROR: \(error)\n")
    }
    guard json.object != nil else {
      return SimulatedReply(status: 400, text: "JSON_PARSING_ERROR: an object is expected.\n")
    }
    return legacy(json)
  }

  /// The same answer for a request in GCM's plain-text form.
  private static func plain(_ reply: SimulatedReply) -> SimulatedReply {
    // Refusals of the whole request are sentences already.
    guard reply.status == 200, let json = try? JSONValue(parsing: reply.body) else { return reply }
    var plain = SimulatedReply(status: 200, text: LegacyForm.answer(json))
    (plain.landing, plain.reason) = (reply.landing, reply.reason)
    return plain
  }

  private func legacy(_ json: JSONValue) -> SimulatedReply {
    let (to, ids, condition) = (json["to"]?.string, json["registration_ids"]?.array, json["condition"]?.string)
    guard [to != nil, ids != nil, condition != nil].count(where: { $0 }) == 1 else {
      return SimulatedReply(
        status: 400, text: to == nil && ids == nil && condition == nil ? "MissingRegistration\n" : "to\n")
    }
    if let ids {
      guard (1...Self.idLimit).contains(ids.count) else {
        return SimulatedReply(status: 400, text: "\"registration_ids\" must have from 1 to 1000 elements.\n")
      }
      return results(ids.map { send(json, to: $0.string ?? "") })
    }
    if let to, !to.hasPrefix("/topics/") { return results([send(json, to: to)]) }
    return topic(json, to: to.map { String($0.dropFirst(8)) }, condition)
  }

  /// A simulated error: one of a token stands in the results, any other is the status of the answer.
  func legacyReply(_ error: FCMError, to call: SimulatedCall) -> SimulatedReply {
    guard let word = Self.words[error.code], error.status < 500 else {
      var reply = SimulatedReply(status: error.status, text: "\(error.message)\n")
      reply.retryAfter = error.retryAfter
      return reply
    }
    if call.isForm { return Self.plain(results([.failure(word)])) }
    let body = try? JSONValue(parsing: call.body)  // what is no JSON names one target
    return results(Array(repeating: .failure(word), count: max(1, body?["registration_ids"]?.array?.count ?? 1)))
  }

  private enum Outcome {
    /// - Parameter landing: nil: it was only checked.
    case success(id: String, Landing?, canonical: String?)
    /// With the protocol's word.
    case failure(String)
  }

  private static let words = [
    "UNREGISTERED": "NotRegistered", "INVALID_ARGUMENT": "InvalidRegistration",
    "SENDER_ID_MISMATCH": "MismatchSenderId", "QUOTA_EXCEEDED": "DeviceMessageRateExceeded",
    "THIRD_PARTY_AUTH_ERROR": "InvalidApnsCredential",
  ]

  private func results(_ outcomes: [Outcome]) -> SimulatedReply {
    var (failures, canonical): (Int64, Int64) = (0, 0)
    var landing: Landing?
    var reason: String?
    let list = outcomes.map { outcome -> JSONValue in
      switch outcome {
      case .failure(let word):
        failures += 1
        reason = reason ?? word
        return ["error": .string(word)]
      case .success(let id, let one, let token):
        if let one { landing = (landing ?? Landing()) + one }
        guard let token else { return ["message_id": .string(id)] }
        canonical += 1
        return ["message_id": .string(id), "registration_id": .string(token)]
      }
    }
    // Clients take zero for a failure (docs/protocols.md §7.5).
    var reply = SimulatedReply([
      "multicast_id": .integer(Int64.random(in: 1..<1 << 62)), "success": .integer(Int64(outcomes.count) - failures),
      "failure": .integer(failures), "canonical_ids": .integer(canonical), "results": .array(list),
    ])
    (reply.landing, reply.reason) = (landing, reason)
    return reply
  }

  private func topic(_ json: JSONValue, to name: String?, _ condition: String?) -> SimulatedReply {
    func refusal(_ word: String) -> SimulatedReply {
      var reply = SimulatedReply(["error": .string(word)])
      reply.reason = word
      return reply
    }
    var target: FCMMessage.Target?
    if let name { target = TopicCondition.isTopic(name) ? .topic(name) : nil }
    if let condition { target = TopicCondition(condition).map { .condition($0) } }
    guard let target else { return refusal("InvalidParameters") }
    if let problem = Self.problem(json, limit: FCMMessage.topicSizeLimit) { return refusal(problem) }
    let message = FCMMessage(target: target, json: Self.message(json, [:]))
    if message.size > message.limit { return refusal("MessageTooBig") }
    let isDry = json["dry_run"]?.bool == true
    let result = phones.deliver(message, name: nextMessageID(), isDry: isDry, now: now())
    var reply = SimulatedReply(["message_id": .integer(Int64.random(in: 1..<1 << 62))])
    if case .success(let landing) = result, !isDry { reply.landing = landing }
    return reply
  }

  private func send(_ json: JSONValue, to token: String) -> Outcome {
    if token.isEmpty { return .failure("MissingRegistration") }
    if let problem = Self.problem(json, limit: FCMMessage.sizeLimit) { return .failure(problem) }
    let message = FCMMessage(target: .device(token), json: Self.message(json, ["token": .string(token)]))
    if message.size > message.limit { return .failure("MessageTooBig") }
    let isDry = json["dry_run"]?.bool == true
    let id = isDry ? "fake_message_id" : nextMessageID()
    switch phones.deliver(message, name: id, isDry: isDry, followsToken: true, now: now()) {
    case .success(let landing): return .success(id: id, isDry ? nil : landing, canonical: landing.successor)
    case .failure(.otherPackage): return .failure("InvalidPackageName")
    case .failure(.badToken): return .failure("InvalidRegistration")
    case .failure: return .failure("NotRegistered")
    }
  }

  private static func problem(_ json: JSONValue, limit: Int) -> String? {
    if let life = json["time_to_live"], life != .null {
      guard let seconds = life.integer, (0...Int64(FCMMessage.longestLife)).contains(seconds) else {
        return "InvalidTtl"
      }
    }
    let data = json["data"]
    func isWrong(_ names: [String], _ fits: (JSONValue) -> Bool) -> Bool {
      names.contains { name in json[name].map { $0 != .null && !fits($0) } ?? false }
    }
    if isWrong(["priority"], { $0 == "high" || $0 == "normal" })
      || isWrong(["collapse_key", "restricted_package_name"], { $0.string != nil })
      || isWrong(["dry_run", "content_available", "mutable_content", "delay_while_idle"], { $0.bool != nil })
      || isWrong(["data", "notification"], { $0.object != nil })
    {
      return "InvalidParameters"
    }
    return (data?.object ?? [:]).keys.contains(where: FCMMessage.isReserved) ? "InvalidDataKey" : nil
  }

  /// The message as HTTP v1 writes it.
  private static func message(_ json: JSONValue, _ target: [String: JSONValue]) -> JSONValue {
    let given = (json["notification"]?.object ?? [:]).filter { $0.value != .null }
    var android: [String: JSONValue] = ["priority": json["priority"]?.string == "high" ? "HIGH" : "NORMAL"]
    if let seconds = json["time_to_live"]?.integer { android["ttl"] = .string("\(seconds)s") }
    android["collapse_key"] = json["collapse_key"].flatMap { $0.string.map { .string($0) } }
    android["restricted_package_name"] = json["restricted_package_name"].flatMap { $0.string.map { .string($0) } }
    var details = given.filter { !["title", "body", "image", "badge", "subtitle"].contains($0.key) }
    details["channel_id"] = details.removeValue(forKey: "android_channel_id")
    if !details.isEmpty { android["notification"] = .object(details) }
    var message = target
    message["android"] = .object(android)
    let common = given.filter { ["title", "body", "image"].contains($0.key) }
    if !common.isEmpty { message["notification"] = .object(common) }
    // The legacy protocol turns all values into text.
    let data = (json["data"]?.object ?? [:]).mapValues { JSONValue.string($0.string ?? $0.text()) }
    if !data.isEmpty { message["data"] = .object(data) }
    message["apns"] = apns(json, given)
    return .object(message)
  }

  /// What iPhones get of it.
  private static func apns(_ json: JSONValue, _ given: [String: JSONValue]) -> JSONValue {
    var aps: [String: JSONValue] = [:]
    let alert = given.filter { ["title", "subtitle", "body"].contains($0.key) }
    if !alert.isEmpty { aps["alert"] = .object(alert) }
    aps["badge"] = given["badge"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }.map { .integer($0) }
    (aps["sound"], aps["category"]) = (given["sound"], given["click_action"])
    if json["content_available"] == true { aps["content-available"] = 1 }
    if json["mutable_content"] == true { aps["mutable-content"] = 1 }
    var headers: [String: JSONValue] = [
      APNsHeader.priority: json["priority"]?.string == "high" || !given.isEmpty ? "10" : "5"
    ]
    headers[APNsHeader.collapseID] = json["collapse_key"].flatMap { $0.string.map { .string($0) } }
    return ["headers": .object(headers), "payload": ["aps": .object(aps)]]
  }
}
