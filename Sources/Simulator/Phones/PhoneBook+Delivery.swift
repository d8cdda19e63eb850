import Foundation
import Model
import Synchronization

/// What became of an accepted push.
struct Landing: Sendable, Hashable {
  enum Fate: Sendable { case arrived, waiting, lost }

  /// Phones that are remembered of one push.
  private static let limit = 100

  private(set) var arrived = 0
  private(set) var waiting = 0
  private(set) var lost = 0
  /// The first phones that it was for.
  private(set) var phones: [Int64] = []
  /// The present token of a phone that was reached by an earlier one, of the legacy protocol.
  var successor: String?

  mutating func add(_ phone: Int64, _ fate: Fate) {
    switch fate {
    case .arrived: arrived += 1
    case .waiting: waiting += 1
    case .lost: lost += 1
    }
    if phones.count < Self.limit { phones.append(phone) }
  }

  static func + (one: Landing, other: Landing) -> Landing {
    var sum = one
    sum.arrived += other.arrived
    sum.waiting += other.waiting
    sum.lost += other.lost
    sum.phones = Array((one.phones + other.phones).prefix(limit))
    return sum
  }
}

extension PhoneBook {
  /// Delivers a push to its phone, as APNs does.
  ///
  /// - Parameter environment: of the server that accepted it.
  /// - Returns: success also where APNs reports nothing: the phone is off, or the push has expired.
  func deliver(_ push: AcceptedPush, environment: Model.Environment, now: Date) -> Result<Landing, APNsRejection> {
    let result = state.withLock { $0.deliver(push, environment: environment, now: now, acceptsUnknownTokens) }
    if storage != nil { keepSoon() }
    return result
  }
}

extension PhoneBook.State {
  fileprivate mutating func deliver(
    _ push: AcceptedPush, environment: Model.Environment, now: Date, _ acceptsUnknownTokens: Bool
  ) -> Result<Landing, APNsRejection> {
    let id: Int64
    var removedAt: Date?
    var landing = Landing()
    let owner = owner(push, environment)
    switch owner.phone {
    case .present(let owner): id = owner
    case .former(let owner, let since): (id, removedAt) = (owner, since)
    case nil:
      let reason = unknownToken(push, environment)
      return acceptsUnknownTokens && reason == nil
        ? .success(landing) : .failure(APNsRejection(reason ?? "BadDeviceToken", apnsID: push.apnsID))
    }
    guard let index = records.index(forKey: id) else {
      return .failure(APNsRejection("BadDeviceToken", apnsID: push.apnsID))
    }
    if case .uninstalled(let since) = records.values[index].phone.state, removedAt == nil { removedAt = since }
    if let removedAt { return .failure(APNsRejection("Unregistered", apnsID: push.apnsID, timestamp: removedAt)) }
    guard owner.isOfType, Self.topic(push.topic, isOf: records.values[index].phone.topic) else {
      return .failure(APNsRejection("DeviceTokenNotForTopic", apnsID: push.apnsID))
    }
    // 0 means one attempt at once; any other past time means none (Apple, Sending notification requests).
    if !push.isOnceOnly, let expiration = push.expiration, expiration <= now {
      landing.add(id, .lost)
      return .success(landing)
    }
    lastNotificationID += 1
    let notification = ReceivedNotification(
      id: lastNotificationID, apnsID: push.apnsID, topic: push.topic, pushType: push.pushType, priority: push.priority,
      payload: String(decoding: push.rawPayload, as: UTF8.self), receivedAt: now, expiration: push.expiration,
      collapseID: push.collapseID, uniqueID: push.uniqueID, appState: records.values[index].phone.appState,
      channel: push.channel)
    landing.add(id, hand(notification, index, waits: !push.isOnceOnly))
    return .success(landing)
  }

  /// The owner of a push's token, and whether the app gets this token for the push's type.
  private func owner(
    _ push: AcceptedPush, _ environment: Model.Environment
  ) -> (phone: PhoneBook.Owner?, isOfType: Bool) {
    func owner(_ token: DeviceToken) -> PhoneBook.Owner? {
      owners[PhoneBook.Address(token: token, environment: environment)]
    }
    // A push to a channel is addressed to phones, not to their tokens.
    guard push.channel == nil, SimulatedPhone.ownTokenTypes.contains(push.pushType) else {
      return (owner(push.token), true)
    }
    if let found = owner(SimulatedPhone.token(push.token, for: push.pushType)) { return (found, true) }
    return (owner(push.token), false)
  }

  /// Why a token that is nobody's here is none of a stranger; nil: no phone has anything to do with it.
  private func unknownToken(_ push: AcceptedPush, _ environment: Model.Environment) -> String? {
    if owners.isEmpty { return nil }
    func isOwned(_ token: DeviceToken, _ environment: Model.Environment) -> Bool {
      owners[PhoneBook.Address(token: token, environment: environment)] != nil
    }
    let tokens = [push.token, SimulatedPhone.token(push.token, for: push.pushType)]
    if Environment.allCases.contains(where: { one in tokens.contains { isOwned($0, one) } }) { return "BadDeviceToken" }
    let isOfOtherType = SimulatedPhone.ownTokenTypes.contains {
      isOwned(SimulatedPhone.token(push.token, for: $0), environment)
    }
    return isOfOtherType ? "DeviceTokenNotForTopic" : nil
  }

  private static let suffixes = Set(PushType.allCases.map(\.topicSuffix))

  /// Whether a topic is the app's, with or without a suffix of a push type.
  private static func topic(_ topic: String, isOf app: String) -> Bool {
    topic == app || topic.hasPrefix(app) && suffixes.contains(String(topic.dropFirst(app.count)))
  }
}

extension ReceivedNotification {
  /// APNs' default and longest storage time (docs/protocols.md §1.1).
  private static let longestWait: TimeInterval = 30 * 86_400

  /// Whether APNs has given up.
  func isOver(at now: Date) -> Bool {
    receivedAt.addingTimeInterval(Self.longestWait) <= now || expiration.map { $0 <= now } == true
  }
}
