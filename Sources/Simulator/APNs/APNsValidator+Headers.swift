import Foundation
import JSON
import Model

// The values of the headers and the payload (docs/protocols.md §1.2, §1.3).

extension APNsValidator {
  func expiration(_ fields: APNsFields) throws(APNsRejection) -> Date? {
    guard let text = fields.expiration else { return nil }
    // Int64 would also accept a sign.
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text) else {
      throw APNsRejection("BadExpirationDate")
    }
    return Date(timeIntervalSince1970: Double(seconds))
  }

  func pushType(_ fields: APNsFields) throws(APNsRejection) -> PushType? {
    guard let text = fields.pushType else { return nil }
    guard let type = PushType(rawValue: text) else { throw APNsRejection("InvalidPushType") }
    return type
  }

  /// A background push only allows 5: "Using priority 10 is an error". Without a priority it gets 5, although Apple's
  /// general default is 10: only a wrong number is an error.
  func priority(_ fields: APNsFields, _ type: PushType?) throws(APNsRejection) -> Int {
    let priority: Int
    switch fields.priority {
    case nil: return type == .background ? 5 : 10
    case "10": priority = 10
    case "5": priority = 5
    case "1": priority = 1
    default: throw APNsRejection("BadPriority")
    }
    if type == .background, priority != 5 { throw APNsRejection("BadPriority") }
    return priority
  }

  /// With a provider token the topic is required, with a certificate only if it allows several.
  func topic(
    _ fields: APNsFields, _ type: PushType?, _ credential: Credential, _ ledger: inout APNsLedger
  ) throws(APNsRejection) -> APNsTopic {
    guard let name = fields.topic ?? credential.onlyTopic else { throw APNsRejection("MissingTopic") }
    guard let topic = ledger.topic(name) else { throw APNsRejection("BadTopic") }
    guard isKnown(topic), credential.opens(topic, type) else { throw APNsRejection("TopicDisallowed") }
    if let type, let reason = topic.problem(for: type) { throw APNsRejection(reason) }
    return topic
  }

  func isKnown(_ topic: APNsTopic) -> Bool {
    guard let knownTopics else { return true }
    return knownTopics.contains(topic.bundleID) || knownTopics.contains(topic.name)
  }

  /// Apple has no reason for a body that is no JSON object; because a device could read nothing in it, it counts as
  /// empty. JSON is read strictly: see ``JSONValue/init(parsing:)``.
  func payload(_ call: APNsCall, _ type: PushType, _ ledger: inout APNsLedger) throws(APNsRejection) -> JSONValue {
    if call.bodyByteCount == 0 { throw APNsRejection("PayloadEmpty") }
    if call.bodyByteCount > (type == .voip ? 5120 : 4096) { throw APNsRejection("PayloadTooLarge") }
    guard let json = ledger.json(call.body), case .object = json else { throw APNsRejection("PayloadEmpty") }
    return json
  }
}

/// The parts of a topic: `com.example.app` and, for some push types, a suffix.
struct APNsTopic: Sendable, Hashable {
  let name: String
  let bundleID: String
  /// The push type of the suffix, nil if there is none.
  let suffixType: PushType?

  /// Nil if it cannot be a topic.
  init?(_ name: String) {
    guard AppName.problem(withTopic: name) == nil else { return nil }
    self.name = name
    suffixType = PushType.allCases.first { type in
      !type.topicSuffix.isEmpty && name.hasSuffix(type.topicSuffix) && name.utf8.count > type.topicSuffix.utf8.count
    }
    bundleID = String(name.dropLast(suffixType?.topicSuffix.count ?? 0))
  }

  /// APNs' reason for refusing the topic for a push type, nil if they match.
  ///
  /// Apple's page only lists the suffixes; the reasons are those that users report: `alert` to a `.voip` topic is
  /// InvalidPushType (github.com/AndrewBarba/apns2/issues/23, Pr0Ger/PyAPNs2/issues/87), `voip` to a bundle ID is
  /// DeviceTokenNotForTopic (edamov/pushok/issues/108, laravel-notification-channels/apn/issues/88).
  func problem(for type: PushType) -> String? {
    if let suffixType { return suffixType == type ? nil : "InvalidPushType" }
    return type.topicSuffix.isEmpty ? nil : "DeviceTokenNotForTopic"
  }
}
