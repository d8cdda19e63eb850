import Foundation
import JSON
import Model
import Synchronization

/// Why the phone book does not take a message or a subscription.
enum FCMRefusal: Error, Sendable, Hashable {
  /// No registration token.
  case badToken
  /// No phone has the token, or its app is removed.
  case unregistered
  /// The message is for another app.
  case otherPackage
  /// APNs refuses what FCM passes on to it.
  case apns(reason: String)
  /// It is subscribed already.
  case exists
  case tooManyTopics

  /// As HTTP v1 says it.
  var error: FCMError {
    switch self {
    case .badToken: .badToken
    case .unregistered: .unregistered
    case .otherPackage:
      .badField("message.android.restricted_package_name", "The package name does not match the registration token's.")
    case .apns(let reason):
      FCMError(
        status: 400, message: "Request contains an invalid argument.", details: [.apns(status: 400, reason: reason)])
    case .exists: FCMError(status: 409, message: "Requested entity already exists.")
    case .tooManyTopics: FCMError(status: 400, message: "The app instance is subscribed to too many topics.")
    }
  }

  /// As the older topic interface says it.
  var instanceIDWord: String {
    switch self {
    case .badToken, .apns: "INVALID_ARGUMENT"
    case .unregistered, .otherPackage: "NOT_FOUND"
    case .exists: "ALREADY_EXISTS"
    case .tooManyTopics: "TOO_MANY_TOPICS"
    }
  }
}

extension PhoneBook {
  /// The most topics of one app instance (docs/protocols.md §3.3).
  static let topicLimit = 2000

  /// Delivers a message to its phones, as FCM does.
  ///
  /// - Parameters:
  ///   - name: FCM's name of the message.
  ///   - isDry: whether it is only checked.
  ///   - followsToken: whether a replaced token still reaches its phone, as in the legacy protocol.
  /// - Returns: what became of it. Success also where FCM reports nothing: the phone is off, or nobody is subscribed to
  ///   the topic.
  func deliver(
    _ message: FCMMessage, name: String, isDry: Bool, followsToken: Bool = false, now: Date
  ) -> Result<Landing, FCMRefusal> {
    let result = state.withLock { state -> Result<Landing, FCMRefusal> in
      var landing = Landing()
      switch message.target {
      case .device(let text):
        switch state.registered(text, followsToken: followsToken) {
        case .failure(.unregistered) where acceptsUnknownTokens && !state.knows(text): return .success(landing)
        case .failure(let refusal): return .failure(refusal)
        case .success(let index):
          let phone = state.records.values[index].phone
          if let refusal = message.refusal(by: phone) { return .failure(refusal) }
          if !isDry { state.deliver(message, name, index, now, &landing) }
          let isCanonical = phone.token.text == text || phone.installationID == text
          landing.successor = isCanonical ? nil : phone.token.text
        }
      case .topic(let topic):
        if !isDry { state.deliver(message, name, now, &landing) { $0.keys.contains(topic) } }
      case .condition(let condition):
        if !isDry { state.deliver(message, name, now, &landing) { condition.holds($0.keys) } }
      }
      return .success(landing)
    }
    keepSoon()
    return result
  }

  /// The phone with this present registration token or installation ID, if its app is installed.
  func phone(registered text: String) -> SimulatedPhone? {
    state.withLock { state in
      guard case .success(let index) = state.registered(text) else { return nil }
      return state.records.values[index].snapshot
    }
  }

  /// The topics of an app instance, with the times of the subscriptions.
  func subscriptions(of text: String) -> Result<[String: Date], FCMRefusal> {
    state.withLock { state in state.registered(text).map { state.records.values[$0].phone.topics } }
  }

  /// - Returns: the time of the subscription.
  func subscribe(_ text: String, to topic: String, now: Date) -> Result<Date, FCMRefusal> {
    changeTopics(text) { topics in
      if topics[topic] != nil { return .failure(.exists) }
      guard topics.count < Self.topicLimit else { return .failure(.tooManyTopics) }
      topics[topic] = now
      return .success(now)
    }
  }

  /// - Returns: whether it was subscribed.
  func unsubscribe(_ text: String, from topic: String) -> Result<Bool, FCMRefusal> {
    changeTopics(text) { .success($0.removeValue(forKey: topic) != nil) }
  }

  private func changeTopics<Value: Sendable>(
    _ text: String, _ body: (inout [String: Date]) -> Result<Value, FCMRefusal>
  ) -> Result<Value, FCMRefusal> {
    let result = state.withLock { state -> Result<Value, FCMRefusal> in
      switch state.registered(text) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let index):
        var topics = state.records.values[index].phone.topics
        let result = body(&topics)
        guard case .success = result else { return result }
        state.records.values[index].phone.topics = topics
        state.noteChange(index)
        return result
      }
    }
    keepSoon()
    return result
  }
}

extension PhoneBook.State {
  /// Whether a phone has, or had, this token or installation ID.
  fileprivate func knows(_ text: String) -> Bool { owner(text) != nil }

  private func owner(_ text: String) -> PhoneBook.Owner? {
    let token = DeviceToken(text: text)
    return Environment.allCases.lazy.compactMap { owners[PhoneBook.Address(token: token, environment: $0)] }.first
  }

  /// The index of the phone that a registration token or an installation ID reaches.
  fileprivate func registered(_ text: String, followsToken: Bool = false) -> Result<PhoneIndex, FCMRefusal> {
    let id: Int64
    switch owner(text) {
    case .present(let owner): id = owner
    case .former(let owner, _) where followsToken: id = owner
    case .former: return .failure(.unregistered)
    case nil: return .failure(SimulatedPhone.isRegistration(text) ? .unregistered : .badToken)
    }
    guard let index = records.index(forKey: id), records.values[index].phone.state == .installed else {
      return .failure(.unregistered)
    }
    return .success(index)
  }

  /// Delivers to every phone whose topics match.
  fileprivate mutating func deliver(
    _ message: FCMMessage, _ name: String, _ now: Date, _ landing: inout Landing,
    where matches: ([String: Date]) -> Bool
  ) {
    for id in records.keys.sorted() {
      guard let index = records.index(forKey: id), records.values[index].phone.provider == .fcm,
        records.values[index].phone.state == .installed, matches(records.values[index].phone.topics),
        message.refusal(by: records.values[index].phone) == nil
      else { continue }
      deliver(message, name, index, now, &landing)
    }
  }

  fileprivate mutating func deliver(
    _ message: FCMMessage, _ name: String, _ index: PhoneIndex, _ now: Date, _ landing: inout Landing
  ) {
    let phone = records.values[index].phone
    lastNotificationID += 1
    if phone.platform == .ios {
      let push = AppleMessage(message)
      // As APNs: 0 means one attempt at once, any other past time none.
      if let expiration = push.expiration, !push.isOnceOnly, expiration <= now { return }
      let notification = ReceivedNotification(
        id: lastNotificationID, apnsID: name, topic: phone.topic, pushType: push.pushType, priority: push.priority,
        payload: push.payload.text(), receivedAt: now, expiration: push.isOnceOnly ? nil : push.expiration,
        collapseID: push.collapseID, uniqueID: push.payload[APNsPayload.idKey]?.string, appState: phone.appState)
      return landing.add(phone.id, hand(notification, index, waits: !push.isOnceOnly))
    }
    let notification = ReceivedNotification(
      id: lastNotificationID, apnsID: name, topic: phone.topic, pushType: nil, priority: message.isHigh ? 10 : 5,
      payload: message.json.text(), receivedAt: now, expiration: now.addingTimeInterval(message.timeToLive),
      collapseID: message.collapseKey, uniqueID: message.data[APNsPayload.idKey], appState: phone.appState)
    // 0: now or never.
    landing.add(phone.id, hand(notification, index, waits: message.timeToLive > 0))
  }

  /// Shows a notification, hands it to the app, or stores it until the phone takes it.
  ///
  /// - Parameter waits: whether it may be stored.
  mutating func hand(_ notification: ReceivedNotification, _ index: PhoneIndex, waits: Bool) -> Landing.Fate {
    let phone = records.values[index].phone
    keeping.mark(phone.id)
    if phone.takes(notification) {
      let change = arrive(notification, index)
      tell(change)
      return .arrived
    }
    guard waits else { return .lost }
    records.values[index].phone.wait(for: notification)
    tell(.waits(phone: phone.id, notification))
    return .waiting
  }

  /// Shows a message, or hands it to the app.
  ///
  /// - Returns: what changed, for ``tell(_:)``.
  private mutating func arrive(_ notification: ReceivedNotification, _ index: PhoneIndex) -> PhoneChange {
    let phone = records.values[index].phone
    var notification = notification
    notification.arrive(on: phone)
    let (received, isRepeat) = records.values[index].receive(notification)
    return isRepeat ? .updated(phone: phone.id, received) : .received(phone: phone.id, received)
  }

  /// Delivers what waited and can now arrive, as after the phone was switched on or woke up.
  ///
  /// - Returns: what changed, for ``tell(_:)``.
  mutating func releaseWaiting(_ index: PhoneIndex, now: Date) -> [PhoneChange] {
    let waiting = records.values[index].phone.waiting
    let phone = records.values[index].phone
    records.values[index].phone.waiting = waiting.filter { !phone.takes($0) && !$0.isOver(at: now) }
    var changes: [PhoneChange] = []
    for var notification in waiting where phone.takes(notification) && !notification.isOver(at: now) {
      if phone.android != nil {
        lastNotificationID += 1
        notification.id = lastNotificationID
      }
      notification.receivedAt = now
      notification.appState = phone.appState
      changes.append(arrive(notification, index))
    }
    return changes
  }
}
