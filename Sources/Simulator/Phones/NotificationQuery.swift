package import JSON
package import Model
import Synchronization

/// What a test looks for among all that phones received.
package struct NotificationQuery: Sendable, Hashable {
  /// Only of this phone.
  package var phone: Int64?
  /// Only of phones with this token.
  package var token: DeviceToken?
  /// Only of phones of this environment.
  package var environment: Model.Environment?
  /// Only those with this title.
  package var title: String?
  /// Only those with this text; an alert that is a plain text is the text.
  package var body: String?
  /// Only the one with this `apns-id`.
  package var apnsID: String?
  /// Only those of the push with this id (``APNsPayload/idKey``).
  package var push: String?
  /// Only those with a greater ``ReceivedNotification/id``: what came after an earlier look.
  package var after: Int64 = 0

  /// Everything.
  package init() {}

  func wants(_ phone: SimulatedPhone) -> Bool {
    (self.phone == nil || self.phone == phone.id) && (token == nil || token == phone.token)
      && (environment == nil || environment == phone.environment)
  }

  func wants(_ notification: ReceivedNotification) -> Bool {
    guard notification.id > after, apnsID == nil || apnsID == notification.apnsID,
      push == nil || push == notification.uniqueID
    else { return false }
    guard title != nil || body != nil else { return true }
    let alert = notification.alert
    return (title == nil || title == alert.title) && (body == nil || body == alert.body)
  }
}

extension ReceivedNotification {
  /// The payload as a value; null if it is no JSON, which APNs does not take.
  package var json: JSONValue {
    // What is wrong with it helps nobody here.
    (try? JSONValue(parsing: Array(payload.utf8))) ?? .null
  }

  /// Title and text of the banner.
  package var alert: (title: String?, body: String?) {
    let alert = json["aps"]?["alert"]
    return (alert?["title"]?.string, alert?["body"]?.string ?? alert?.string)
  }
}

extension PhoneBook {
  /// A notification with the phone that received it.
  package struct Arrival: Sendable, Hashable {
    /// The phone, without what it received.
    package let phone: SimulatedPhone
    /// What it received.
    package let notification: ReceivedNotification
  }

  /// What phones received, newest first.
  package func arrivals(_ query: NotificationQuery) -> [Arrival] {
    state.withLock { state in
      state.records.values.filter { query.wants($0.phone) }.flatMap { record in
        record.history.newestFirst.filter(query.wants).map { Arrival(phone: record.phone, notification: $0) }
      }
    }.sorted { $0.notification.id > $1.notification.id }
  }

  /// What phones received, as soon as there are so many, but not later than after `limit`; fewer then, perhaps none.
  package func arrivals(_ query: NotificationQuery, atLeast count: Int, within limit: Duration) async -> [Arrival] {
    // Before the first look, so that nothing falls between the two.
    let changes = changes()
    let present = arrivals(query)
    if present.count >= count || limit == .zero { return present }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await change in changes {
          guard case .received(_, let notification) = change, query.wants(notification) else { continue }
          if self.arrivals(query).count >= count { return }
        }
      }
      group.addTask {
        // It throws when the other task was first, or nobody waits any more: both end the waiting.
        do { try await Task.sleep(for: limit) } catch { return }
      }
      await group.next()
      group.cancelAll()
    }
    return arrivals(query)
  }
}
