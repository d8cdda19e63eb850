import Foundation
import JSON
import Model

// The values of the headers and the payload (docs/protocols.md §1.2, §1.3).

extension APNsValidator {
  func expiration(_ fields: APNsFields) throws(APNsRejection) -> Date? {
    guard let text = fields.expiration else { return nil }
    // Int64 would also take a sign.
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

  /// For a background push only 5 will do: "Using priority 10 is an error". If it names none, 5 is meant, although
  /// Apple's general default is 10: only the wrong number is an error.
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

  /// With a provider token the topic is always needed, with a certificate only if it opens several.
  func topic(
    _ fields: APNsFields, _ type: PushType?, _ credential: Credential, _ ledger: inout APNsLedger
  ) throws(APNsRejection) -> APNsTopic {
    guard let name = fields.topic ?? credential.onlyTopic else { throw APNsRejection("MissingTopic") }
    guard let topic = ledger.topic(name) else { throw APNsRejection("BadTopic") }
    guard isKnown(topic), credential.opens(topic, type) else { throw APNsRejection("TopicDisallowed") }
    if let type, let reason = topic.problem(for: type) { throw APNsRejection(reason) }
    return topic
  }

  private func isKnown(_ topic: APNsTopic) -> Bool {
    guard let knownTopics else { return true }
    return knownTopics.contains(topic.bundleID) || knownTopics.contains(topic.name)
  }

  /// Apple names no reason for a body that is no JSON object; as it holds nothing that a device could read, it counts
  /// as empty here. JSON is read strictly: see ``JSONValue/init(parsing:)``.
  func payload(_ call: APNsCall, _ type: PushType, _ ledger: inout APNsLedger) throws(APNsRejection) -> JSONValue {
    if call.bodyByteCount == 0 { throw APNsRejection("PayloadEmpty") }
    if call.bodyByteCount > (type == .voip ? 5120 : 4096) { throw APNsRejection("PayloadTooLarge") }
    guard let json = ledger.json(call.body), case .object = json else { throw APNsRejection("PayloadEmpty") }
    return json
  }
}
