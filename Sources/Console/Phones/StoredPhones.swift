public import Foundation
import Push
public import Simulator
public import Store

/// Keeps the simulator's phones in the installation's database.
public struct StoredPhones: PhoneStorage {
  private let store: Store
  private let clock: @Sendable () -> Date

  /// Keeps phones in a store.
  public init(_ store: Store, clock: @escaping @Sendable () -> Date = { Date() }) {
    self.store = store
    self.clock = clock
  }

  /// Everything that was kept.
  public func load() async throws -> [SimulatedPhone] {
    try await store.read { database in
      let received = try PhoneNotification.all(database)
      return try Phone.all(database).map { phone in
        let all = try (received[phone.id] ?? []).map { try PhoneJSON.notification($0) }
        return try PhoneJSON.phone(phone, all)
      }
    }
  }

  /// Keeps changes in one transaction.
  public func keep(_ writes: [PhoneWrite]) async throws {
    let now = clock()
    try await store.write { database in
      for write in writes {
        switch write {
        case .remove(let id): try Phone.delete(database, id: id)
        case .save(let phone, let notifications, let removed):
          try PhoneJSON.record(phone).save(database, now: now)
          try PhoneNotification.delete(database, ids: removed)
          for notification in notifications { try PhoneJSON.record(notification, of: phone.id).save(database) }
        }
      }
    }
  }
}
