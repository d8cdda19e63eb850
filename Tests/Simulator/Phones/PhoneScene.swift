import Foundation
import JSON
import Model
import Synchronization

@testable import Simulator

/// A phone book with one phone, and pushes to it.
struct PhoneScene {
  static let topic = "com.example.shop"
  static let now = Date(timeIntervalSince1970: 1_800_000_000)

  let book: PhoneBook
  let phone: SimulatedPhone

  init(_ book: PhoneBook = PhoneBook(), environment: Model.Environment = .development) throws {
    self.book = book
    phone = try book.add(NewPhone(name: "Ada’s iPhone", environment: environment, topic: Self.topic))
  }

  /// Now, and after some seconds.
  static func time(_ seconds: Double = 0) -> Date { now.addingTimeInterval(seconds) }

  static func push(
    _ token: DeviceToken, id: String = UUID().uuidString, topic: String = topic, expiration: Date? = nil,
    collapseID: String? = nil, text: String = "Hello", uniqueID: String? = nil
  ) -> AcceptedPush {
    let payload: JSONValue = ["aps": ["alert": .string(text)]]
    return AcceptedPush(
      token: token, apnsID: id, topic: topic, pushType: .alert, priority: 10, expiration: expiration,
      collapseID: collapseID, payload: payload, rawPayload: Array(payload.data()), uniqueID: uniqueID,
      usedProviderToken: true)
  }

  /// Sends to the phone's present token.
  @discardableResult
  func send(
    id: String = UUID().uuidString, topic: String = topic, expiration: Date? = nil, collapseID: String? = nil,
    text: String = "Hello", at now: Date = now
  ) throws -> APNsRejection? {
    let push = Self.push(
      try current().token, id: id, topic: topic, expiration: expiration, collapseID: collapseID, text: text)
    return deliver(push, at: now)
  }

  /// - Returns: nil if it was accepted.
  func deliver(_ push: AcceptedPush, _ environment: Model.Environment = .development, at now: Date = now)
    -> APNsRejection?
  {
    switch book.deliver(push, environment: environment, now: now) {
    case .success: nil
    case .failure(let rejection): rejection
    }
  }

  /// The phone as it is now.
  func current() throws -> SimulatedPhone {
    guard let phone = book.phone(phone.id) else { throw PhoneBookError.noSuchPhone(phone.id) }
    return phone
  }

  /// The texts on the phone, newest first.
  func texts() throws -> [String] {
    try current().received.map { try JSONValue(parsing: Data($0.payload.utf8))["aps"]?["alert"]?.string ?? "" }
  }
}

/// Storage that keeps what it is told as a database would, and can be made to fail.
final class TestStorage: PhoneStorage {
  struct Failure: Error {}

  struct State {
    var phones: [Int64: SimulatedPhone] = [:]
    var notifications: [Int64: [Int64: ReceivedNotification]] = [:]
    var channels: [ChannelBook.Channel] = []
    var calls = 0
    var isFailing = false
  }

  let state = Mutex(State())

  func load() async throws -> [SimulatedPhone] {
    state.withLock { state in
      state.phones.values.map { phone in
        var phone = phone
        phone.received = (state.notifications[phone.id] ?? [:]).values.sorted { $0.id > $1.id }
        return phone
      }
    }
  }

  func loadChannels() async throws -> [ChannelBook.Channel] { state.withLock { $0.channels } }

  func keep(_ writes: [PhoneWrite]) async throws {
    try state.withLock { state in
      state.calls += 1
      if state.isFailing { throw Failure() }
      for write in writes {
        switch write {
        case .remove(let id):
          state.phones[id] = nil
          state.notifications[id] = nil
        case .channels(let all): state.channels = all
        case .save(let phone, let notifications, let removed):
          state.phones[phone.id] = phone
          for id in removed { state.notifications[phone.id]?[id] = nil }
          for notification in notifications {
            state.notifications[phone.id, default: [:]][notification.id] = notification
          }
        }
      }
    }
  }
}
