package import JSON
package import Model
import Synchronization

/// A search among all received notifications, for tests.
package struct NotificationQuery: Sendable, Hashable {
  package var phone: Int64?
  /// The phone's name.
  package var name: String?
  package var token: DeviceToken?
  package var environment: Model.Environment?
  package var content = ContentQuery()
  package var apnsID: String?
  /// Notifications of the push with this ID (``APNsPayload/idKey``).
  package var push: String?
  /// Notifications with a greater ``ReceivedNotification/id``: later ones than an earlier search found.
  package var after: Int64 = 0

  package init() {}

  func wants(_ phone: SimulatedPhone) -> Bool {
    (self.phone == nil || self.phone == phone.id) && (name == nil || name == phone.name)
      && (token == nil || token == phone.token || phone.ownTokens.values.contains { $0 == token })
      && (environment == nil || environment == phone.environment)
  }

  func wants(_ notification: ReceivedNotification) -> Bool {
    guard notification.id > after, apnsID == nil || apnsID == notification.apnsID,
      push == nil || push == notification.uniqueID
    else { return false }
    return content.wants(notification.alert, texts: notification.texts, json: notification.json)
  }
}

extension ReceivedNotification {
  /// The parsed payload; null for invalid JSON, which no service accepts.
  package var json: JSONValue {
    // The parse error is not needed.
    (try? JSONValue(parsing: Array(payload.utf8))) ?? .null
  }

  /// Title and text of the banner, or of the notification in the shade.
  package var alert: (title: String?, body: String?) {
    if pushType == nil { return (androidNotification?.title, androidNotification?.body) }
    let alert = json["aps"]?["alert"]
    return (alert?["title"]?.string, alert?["body"]?.string ?? alert?.string)
  }
}

extension ReceivedNotification {
  /// What people read: title, subtitle and text.
  fileprivate var texts: [String] {
    let alert = alert
    let subtitle = pushType == nil ? nil : json["aps"]?["alert"]?["subtitle"]?.string
    return [alert.title, subtitle, alert.body].compactMap(\.self)
  }
}

extension PhoneBook {
  /// A notification with the phone that received it.
  package struct Arrival: Sendable, Hashable {
    /// Without its received notifications.
    package let phone: SimulatedPhone
    package let notification: ReceivedNotification
  }

  /// Matching notifications, newest first.
  package func arrivals(_ query: NotificationQuery) -> [Arrival] {
    state.withLock { state in
      state.records.values.filter { query.wants($0.phone) }.flatMap { record in
        record.history.newestFirst.filter(query.wants).map { Arrival(phone: record.phone, notification: $0) }
      }
    }.sorted { $0.notification.id > $1.notification.id }
  }

  /// Whether any notification matches. They are not collected: a push may have thousands.
  package func hasArrivals(_ query: NotificationQuery) -> Bool {
    state.withLock { state in
      state.records.values.contains { query.wants($0.phone) && $0.history.newestFirst.contains(where: query.wants) }
    }
  }

  /// Waits for `count` matching notifications, at most for `limit`; then there may be fewer.
  package func arrivals(_ query: NotificationQuery, atLeast count: Int, within limit: Duration) async -> [Arrival] {
    // Before the first search, so that no change is missed.
    let changes = changes()
    let present = arrivals(query)
    if present.count >= count || limit == .zero { return present }
    await wait(for: changes, within: limit) { change in
      guard case .received(_, let notification) = change, query.wants(notification) else { return false }
      return self.arrivals(query).count >= count
    }
    return arrivals(query)
  }
}
