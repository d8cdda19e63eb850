import Foundation
import Model
import Synchronization

extension PhoneBook {
  /// Delivers a push to its phone, as APNs does.
  ///
  /// - Parameter environment: of the server that accepted it.
  /// - Returns: success also where APNs reports nothing: the phone is off, or the push has expired.
  func deliver(_ push: AcceptedPush, environment: Model.Environment, now: Date) -> Result<Void, APNsRejection> {
    let result = state.withLock { $0.deliver(push, environment: environment, now: now, acceptsUnknownTokens) }
    if storage != nil { keepSoon() }
    return result
  }
}

extension PhoneBook.State {
  fileprivate mutating func deliver(
    _ push: AcceptedPush, environment: Model.Environment, now: Date, _ acceptsUnknownTokens: Bool
  ) -> Result<Void, APNsRejection> {
    let id: Int64
    var removedAt: Date?
    switch owners[PhoneBook.Address(token: push.token, environment: environment)] {
    case .present(let owner): id = owner
    case .former(let owner, let since): (id, removedAt) = (owner, since)
    case nil:
      let isKnownElsewhere = Environment.allCases.contains {
        owners[PhoneBook.Address(token: push.token, environment: $0)] != nil
      }
      return acceptsUnknownTokens && !isKnownElsewhere
        ? .success(()) : .failure(APNsRejection("BadDeviceToken", apnsID: push.apnsID))
    }
    guard let index = records.index(forKey: id) else {
      return .failure(APNsRejection("BadDeviceToken", apnsID: push.apnsID))
    }
    if case .uninstalled(let since) = records.values[index].phone.state, removedAt == nil { removedAt = since }
    if let removedAt { return .failure(APNsRejection("Unregistered", apnsID: push.apnsID, timestamp: removedAt)) }
    guard Self.topic(push.topic, isOf: records.values[index].phone.topic) else {
      return .failure(APNsRejection("DeviceTokenNotForTopic", apnsID: push.apnsID))
    }
    // 0 means one attempt at once; any other past time means none (Apple, Sending notification requests).
    if !push.isOnceOnly, let expiration = push.expiration, expiration <= now { return .success(()) }
    lastNotificationID += 1
    let notification = ReceivedNotification(
      id: lastNotificationID, apnsID: push.apnsID, topic: push.topic, pushType: push.pushType, priority: push.priority,
      payload: String(decoding: push.rawPayload, as: UTF8.self), receivedAt: now, expiration: push.expiration,
      collapseID: push.collapseID, uniqueID: push.uniqueID, appState: records.values[index].phone.appState,
      channel: push.channel)
    hand(notification, index, waits: !push.isOnceOnly)
    return .success(())
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
