import Calendar
import Foundation
import JSON
import Model

/// Topics by the registrations interface and by the older one of Instance ID: both change the same subscriptions
/// (docs/protocols.md §3.3).
extension FCMService {
  /// The most app instances of one batch.
  private static let batchLimit = 1000

  /// `/v1/projects/{project}/registrations/{token}/topicSubscriptions[/{topic}]`.
  func registrations(_ call: SimulatedCall) throws(FCMError) -> SimulatedReply {
    guard (6...7).contains(call.path.count), call.path[5] == "topicSubscriptions" else { throw .unknownMethod }
    let device = call.path[4]
    let parent = "projects/\(call.path[2])/registrations/\(device)/topicSubscriptions"
    func answer(_ topic: String, since date: Date) -> SimulatedReply {
      SimulatedReply(Self.subscription(parent, topic, since: date))
    }
    switch (call.method, call.path.count) {
    case ("POST", 6):
      let topic = try Self.topic(call.query["topic_name"] ?? call.query["topicName"] ?? "", "topic_name")
      return answer(topic, since: try phones.subscribe(device, to: topic, now: now()).mapError { $0.error }.get())
    case ("GET", 6):
      let topics = try subscriptions(of: device)
      return SimulatedReply([
        "topic_subscriptions": .array(
          topics.sorted { $0.key < $1.key }.map { Self.subscription(parent, $0.key, since: $0.value) })
      ])
    case ("GET", 7):
      guard let since = try subscriptions(of: device)[call.path[6]] else { throw Self.notSubscribed }
      return answer(call.path[6], since: since)
    case ("PATCH", 7):
      let topic = try Self.topic(call.path[6], "name")
      if let since = try subscriptions(of: device)[topic] { return answer(topic, since: since) }
      guard Self.allowsMissing(call) else { throw Self.notSubscribed }
      return answer(topic, since: try phones.subscribe(device, to: topic, now: now()).mapError { $0.error }.get())
    case ("DELETE", 7):
      let wasSubscribed = try phones.unsubscribe(device, from: call.path[6]).mapError { $0.error }.get()
      guard wasSubscribed || Self.allowsMissing(call) else { throw Self.notSubscribed }
      return SimulatedReply([:])
    default: throw .unknownMethod
    }
  }

  private static let notSubscribed = FCMError(status: 404, message: "Requested entity was not found.")

  private static func allowsMissing(_ call: SimulatedCall) -> Bool {
    (call.query["allow_missing"] ?? call.query["allowMissing"]) == "true"
  }

  private static func topic(_ name: String, _ field: String) throws(FCMError) -> String {
    guard TopicCondition.isTopic(name) else { throw .badField(field, "Malformed topic name: \(name.prefix(100))") }
    return name
  }

  private func subscriptions(of device: String) throws(FCMError) -> [String: Date] {
    try phones.subscriptions(of: device).mapError { $0.error }.get()
  }

  private static func subscription(_ parent: String, _ topic: String, since date: Date) -> JSONValue {
    ["name": .string("\(parent)/\(topic)"), "topic_name": .string(topic), "create_time": .string(Timestamp.text(date))]
  }

  // MARK: Instance ID

  /// `/iid/v1:batchAdd`, `/iid/v1:batchRemove`, `/iid/v1/{token}/rel/topics/{topic}` and `/iid/info/{token}`.
  func instanceID(_ call: SimulatedCall) throws(FCMError) -> SimulatedReply {
    // A server key of the legacy protocol is accepted as well: pyfcm 1 sends nothing else.
    if Self.serverKey(call) == nil { try checkToken(call) }
    switch (call.method, call.path[1], call.path.count) {
    case ("POST", "v1:batchAdd", 2): return batch(call, adds: true)
    case ("POST", "v1:batchRemove", 2): return batch(call, adds: false)
    case ("POST", "v1", 6) where call.path[3...4] == ["rel", "topics"]:
      return single(change(call.path[2], call.path[5], adds: true))
    case ("DELETE", "v1", 6) where call.path[3...4] == ["rel", "topics"]:
      return single(change(call.path[2], call.path[5], adds: false))
    case ("GET", "info", 3): return information(of: call.path[2])
    default: throw .unknownMethod
    }
  }

  private func batch(_ call: SimulatedCall, adds: Bool) -> SimulatedReply {
    func refusal(_ word: String) -> SimulatedReply { SimulatedReply(status: 400, ["error": .string(word)]) }
    // What is no JSON has no fields either.
    let body = try? JSONValue(parsing: call.body)
    guard let topic = body?["to"]?.string, topic.hasPrefix("/topics/"), TopicCondition.isTopic(topic.dropFirst(8))
    else {
      return refusal("InvalidTopic")
    }
    guard let tokens = body?["registration_tokens"]?.array, (1...Self.batchLimit).contains(tokens.count) else {
      return refusal("InvalidTokens")
    }
    let results = tokens.map { token -> JSONValue in
      change(token.string ?? "", String(topic.dropFirst(8)), adds: adds).map { ["error": .string($0)] } ?? [:]
    }
    return SimulatedReply(["results": .array(results)])
  }

  /// - Returns: the word of the error; nil if it is done, or was before.
  private func change(_ device: String, _ topic: String, adds: Bool) -> String? {
    guard TopicCondition.isTopic(topic) else { return "INVALID_ARGUMENT" }
    if adds {
      guard case .failure(let refusal) = phones.subscribe(device, to: topic, now: now()), refusal != .exists else {
        return nil
      }
      return refusal.instanceIDWord
    }
    guard case .failure(let refusal) = phones.unsubscribe(device, from: topic) else { return nil }
    return refusal.instanceIDWord
  }

  private func single(_ error: String?) -> SimulatedReply {
    error.map { SimulatedReply(status: $0 == "NOT_FOUND" ? 404 : 400, ["error": .string($0)]) } ?? SimulatedReply([:])
  }

  private func information(of device: String) -> SimulatedReply {
    guard let phone = phones.phone(registered: device) else { return single("NOT_FOUND") }
    let topics = phone.topics
    return SimulatedReply([
      "application": .string(phone.topic), "platform": phone.platform == .ios ? "IOS" : "ANDROID",
      "rel": [
        "topics": .object(
          topics.mapValues { since in ["addDate": .string(String(Timestamp.text(since).prefix(10)))] })
      ],
    ])
  }
}
