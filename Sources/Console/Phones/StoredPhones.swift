package import Foundation
import JSON
import Model
package import Simulator
package import Store

/// Stores the simulator's phones in the console's database.
package struct StoredPhones: PhoneStorage {
  /// The setting with the broadcast channels.
  private static let channels = "simulator_channels"

  private let store: Store
  private let clock: @Sendable () -> Date

  package init(_ store: Store, clock: @escaping @Sendable () -> Date = { Date() }) {
    self.store = store
    self.clock = clock
  }

  package func load() async throws -> [SimulatedPhone] {
    try await store.read { database in
      let received = try PhoneNotification.all(database)
      return try Phone.all(database).map { phone in
        let all = try (received[phone.id] ?? []).map { notification in
          try ReceivedNotification(
            id: notification.id, apnsID: notification.apnsID ?? "",
            payload: String(decoding: notification.payload, as: UTF8.self), receivedAt: notification.at,
            keptFields: notification.headers)
        }
        return try SimulatedPhone(
          id: phone.id, name: phone.name, platform: phone.platform, environment: phone.environment,
          topic: phone.bundleID, token: phone.token, keptState: phone.state, received: all)
      }
    }
  }

  package func loadChannels() async throws -> [ChannelBook.Channel] {
    let text = try await store.read { try Setting.find($0, Self.channels) }
    guard let text else { return [] }
    return (try JSONValue(parsing: Array(text.utf8)).array ?? []).compactMap(ChannelBook.Channel.init(kept:))
  }

  /// Saves the changes in one transaction.
  package func keep(_ writes: [PhoneWrite]) async throws {
    let now = clock()
    try await store.write { database in
      for write in writes {
        switch write {
        case .remove(let id): try Phone.delete(database, id: id)
        case .channels(let all):
          try Setting.set(database, Self.channels, JSONValue.array(all.map(\.kept)).text())
        case .save(let phone, let notifications, let removed):
          let record = Phone(
            id: phone.id, name: phone.name, platform: phone.platform, bundleID: phone.topic,
            environment: phone.environment, token: phone.token, state: phone.keptState)
          try record.save(database, now: now)
          try PhoneNotification.delete(database, ids: removed)
          for notification in notifications {
            try PhoneNotification(
              id: notification.id, phoneID: phone.id, at: notification.receivedAt, apnsID: notification.apnsID,
              headers: notification.keptFields, payload: Array(notification.payload.utf8)
            ).save(database)
          }
        }
      }
    }
  }
}
