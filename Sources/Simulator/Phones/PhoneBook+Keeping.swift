package import Foundation
package import JSON
import Logging
package import Model
import Synchronization

extension PhoneBook {
  /// What storage must still save.
  struct Keeping {
    typealias Channels = @Sendable () -> [ChannelBook.Channel]

    private var dirty: Set<Int64> = []
    private var removed: [Int64] = []
    /// Reads the broadcast channels when it is their turn; nil: they have not changed.
    var channels: Channels?
    /// Whether a task is saving.
    fileprivate var isRunning = false
    fileprivate var waiting: [CheckedContinuation<Void, any Error>] = []

    var isEmpty: Bool { dirty.isEmpty && removed.isEmpty && channels == nil }

    mutating func mark(_ phone: Int64) { dirty.insert(phone) }

    mutating func markRemoved(_ phone: Int64) {
      dirty.remove(phone)
      removed.append(phone)
    }

    fileprivate mutating func take() -> (dirty: Set<Int64>, removed: [Int64], channels: Channels?) {
      defer { (dirty, removed, channels) = ([], [], nil) }
      return (dirty, removed, channels)
    }
  }

  /// Waits until everything is saved; returns at once without storage.
  ///
  /// - Throws: the storage's error; nothing is lost, and the next change retries.
  package func flush() async throws {
    guard storage != nil else { return }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let isIdle = state.withLock { state in
        if state.keeping.isEmpty, !state.keeping.isRunning { return true }
        state.keeping.waiting.append(continuation)
        return false
      }
      if isIdle { continuation.resume() } else { keepSoon() }
    }
  }

  /// Starts a task that saves until nothing is left, unless one is running.
  func keepSoon() {
    guard let storage else { return }
    let starts = state.withLock { state in
      guard !state.keeping.isRunning, !state.keeping.isEmpty else { return false }
      state.keeping.isRunning = true
      return true
    }
    guard starts else { return }
    // Ends when everything is stored; those who wait for that, or the log, hear of an error.
    Task { await keepAll(in: storage) }
  }

  /// Has the broadcast channels saved, if there is storage.
  func keepSoon(_ channels: @escaping Keeping.Channels) {
    guard storage != nil else { return }
    state.withLock { $0.keeping.channels = channels }
    keepSoon()
  }

  private func keepAll(in storage: any PhoneStorage) async {
    var failure: (any Error)?
    while failure == nil, let writes = takeWrites() {
      do {
        try await storage.keep(writes)
      } catch {
        failure = error
        putBack(writes)
        log?.error("Could not save the simulated phones; retrying with the next change.", ["error": "\(error)"])
      }
    }
    // takeWrites decided under the lock that nothing is left, so no change is missed.
    guard let failure else { return }
    let waiting = state.withLock { state in
      state.keeping.isRunning = false
      defer { state.keeping.waiting = [] }
      return state.keeping.waiting
    }
    waiting.forEach { $0.resume(throwing: failure) }
  }

  /// - Returns: nil if nothing is left: then the task ends.
  private func takeWrites() -> [PhoneWrite]? {
    let (writes, channels, waiting) = state.withLock {
      state -> ([PhoneWrite]?, Keeping.Channels?, [CheckedContinuation<Void, any Error>]) in
      guard !state.keeping.isEmpty else {
        state.keeping.isRunning = false
        defer { state.keeping.waiting = [] }
        return (nil, nil, state.keeping.waiting)
      }
      let (dirty, removed, channels) = state.keeping.take()
      let saves = dirty.sorted().compactMap { id in
        state.records.index(forKey: id).map { state.records.values[$0].takeWrite() }
      }
      return (removed.map(PhoneWrite.remove) + saves, channels, [])
    }
    waiting.forEach { $0.resume() }
    // Without the lock: the channels have their own.
    return writes.map { $0 + (channels.map { [.channels($0())] } ?? []) }
  }

  private func putBack(_ writes: [PhoneWrite]) {
    state.withLock { state in
      for write in writes {
        switch write {
        case .remove(let id): state.keeping.markRemoved(id)
        case .channels(let all): if state.keeping.channels == nil { state.keeping.channels = { all } }
        case .save(let phone, let notifications, let removed):
          guard let index = state.records.index(forKey: phone.id) else { continue }
          state.records.values[index].putBack(notifications, removed: removed)
          state.keeping.mark(phone.id)
        }
      }
    }
  }
}

/// Stores a phone book's phones between starts.
///
/// Called by one task at a time, in order, never by the thread that answers pushes. Changes during a call are collected
/// for the next.
package protocol PhoneStorage: Sendable {
  func load() async throws -> [SimulatedPhone]
  func loadChannels() async throws -> [ChannelBook.Channel]
  /// Saves changes, ideally in one transaction. Must be idempotent: after an error the same changes may come again.
  func keep(_ writes: [PhoneWrite]) async throws
}

/// A change to save.
package enum PhoneWrite: Sendable, Hashable {
  /// A new or changed phone.
  ///
  /// - Parameters:
  ///   - phone: with empty ``SimulatedPhone/received``; keep its ID.
  ///   - notifications: new or changed ones, oldest first.
  ///   - removed: IDs of deleted ones, saved or not.
  case save(SimulatedPhone, notifications: [ReceivedNotification], removed: [Int64])
  /// Deletes the phone and everything it received.
  case remove(Int64)
  /// All broadcast channels, in place of those saved before.
  case channels([ChannelBook.Channel])
}

// Phones as JSON, for storage with columns for searched fields and one for the rest. Times are whole milliseconds since
// 1970.

extension SimulatedPhone {
  /// Everything but id, name, platform, environment, topic, token and what it received.
  package var keptState: JSONValue {
    var members: [String: JSONValue] = [
      "model": .string(model), "app_state": .string(appState.rawValue), "power": .string(power.rawValue),
    ]
    if notifications == .off { members["notifications"] = .string(notifications.rawValue) }
    members["registration_id"] = registrationID.map { .string($0) }
    members["alias"] = alias.map { .string($0) }
    members["mobile"] = mobile.map { .string($0) }
    if badge > 0 { members["badge"] = .number(badge) }
    if !tags.isEmpty { members["tags"] = .array(tags.sorted().map(JSONValue.string)) }
    if case .uninstalled(let since) = state { members["uninstalled_at"] = .milliseconds(since) }
    members["android"] = android.map(\.kept)
    if !topics.isEmpty { members["topics"] = .object(topics.mapValues { .milliseconds($0) }) }
    if !waiting.isEmpty { members["waiting"] = .array(waiting.map(\.keptWhole)) }
    if !formerTokens.isEmpty {
      members["former_tokens"] = .array(
        formerTokens.map { ["token": .string($0.token.hexadecimal), "since": .milliseconds($0.since)] })
    }
    return .object(members)
  }

  /// Restores a phone from its ``keptState``.
  ///
  /// - Parameter received: newest first.
  package init(
    id: Int64, name: String, platform: Platform, environment: Model.Environment, topic: String, token: DeviceToken,
    keptState: JSONValue, received: [ReceivedNotification]
  ) throws(KeptPhoneError) {
    guard let model = keptState["model"]?.string,
      let appState = (keptState["app_state"]?.string).flatMap(AppState.init),
      let power = (keptState["power"]?.string).flatMap(Power.init)
    else { throw KeptPhoneError(id: id) }
    var waiting: [ReceivedNotification] = []
    for one in keptState["waiting"]?.array ?? [] { waiting.append(try ReceivedNotification(keptWhole: one, of: id)) }
    var formerTokens: [FormerToken] = []
    for one in keptState["former_tokens"]?.array ?? [] {
      guard let text = one["token"]?.string, let since = one["since"]?.date else { throw KeptPhoneError(id: id) }
      guard let bytes = HexDigit.bytes(text[...].utf8) else { throw KeptPhoneError(id: id) }
      formerTokens.append(.init(token: DeviceToken(bytes: bytes), since: since))
    }
    self.init(
      id: id, name: name, model: model, platform: platform, environment: environment, topic: topic, token: token,
      registrationID: keptState["registration_id"]?.string, alias: keptState["alias"]?.string,
      state: (keptState["uninstalled_at"]?.date).map { .uninstalled(since: $0) } ?? .installed, appState: appState,
      power: power, received: received, waiting: waiting, formerTokens: formerTokens,
      android: AndroidState(kept: keptState["android"]))
    notifications = (keptState["notifications"]?.string).flatMap(Notifications.init) ?? .allowed
    tags = Set((keptState["tags"]?.array ?? []).compactMap(\.string))
    (mobile, badge) = (keptState["mobile"]?.string, Int(clamping: keptState["badge"]?.integer ?? 0))
    // Earlier versions kept them with what only Android phones have.
    let topics = keptState["topics"] ?? keptState["android"]?["topics"]
    self.topics = (topics?.object ?? [:]).compactMapValues(\.date)
  }
}

extension ReceivedNotification {
  /// Everything but id, `apns-id`, payload and time of arrival.
  package var keptFields: JSONValue {
    var members: [String: JSONValue] = [
      "topic": .string(topic), "priority": .integer(Int64(priority)), "app_state": .string(appState.rawValue),
    ]
    members["push_type"] = pushType.map { .string($0.rawValue) }
    members["tag"] = tag.map { .string($0) }
    if isMuted { members["muted"] = true }
    if isDenied { members["denied"] = true }
    members["expiration"] = expiration.map { .milliseconds($0) }
    members["collapse_id"] = collapseID.map { .string($0) }
    members["unique_id"] = uniqueID.map { .string($0) }
    members["channel"] = channel.map { .string($0) }
    members["tapped_at"] = tapped.map { .milliseconds($0) }
    if duplicates > 0 { members["duplicates"] = .integer(Int64(duplicates)) }
    if replaced > 0 { members["replaced"] = .integer(Int64(replaced)) }
    return .object(members)
  }

  /// Restores a notification from its ``keptFields``.
  package init(
    id: Int64, apnsID: String, payload: String, receivedAt: Date, keptFields: JSONValue
  ) throws(KeptPhoneError) {
    let pushType = (keptFields["push_type"]?.string).flatMap(PushType.init)
    guard let topic = keptFields["topic"]?.string, (pushType == nil) == (keptFields["push_type"] == nil),
      let priority = keptFields["priority"]?.integer,
      let appState = (keptFields["app_state"]?.string).flatMap(SimulatedPhone.AppState.init)
    else { throw KeptPhoneError(id: id) }
    self.init(
      id: id, apnsID: apnsID, topic: topic, pushType: pushType, priority: Int(clamping: priority), payload: payload,
      receivedAt: receivedAt, expiration: keptFields["expiration"]?.date,
      collapseID: keptFields["collapse_id"]?.string, uniqueID: keptFields["unique_id"]?.string, appState: appState,
      tapped: keptFields["tapped_at"]?.date, duplicates: Int(clamping: keptFields["duplicates"]?.integer ?? 0),
      replaced: Int(clamping: keptFields["replaced"]?.integer ?? 0), tag: keptFields["tag"]?.string,
      isMuted: keptFields["muted"]?.bool ?? false, channel: keptFields["channel"]?.string)
    isDenied = keptFields["denied"]?.bool ?? false
  }

  fileprivate var keptWhole: JSONValue {
    [
      "id": .integer(id), "apns_id": .string(apnsID), "payload": .string(payload), "at": .milliseconds(receivedAt),
      "fields": keptFields,
    ]
  }

  fileprivate init(keptWhole json: JSONValue, of phone: Int64) throws(KeptPhoneError) {
    guard let id = json["id"]?.integer, let apnsID = json["apns_id"]?.string, let payload = json["payload"]?.string,
      let at = json["at"]?.date, let fields = json["fields"]
    else { throw KeptPhoneError(id: phone) }
    try self.init(id: id, apnsID: apnsID, payload: payload, receivedAt: at, keptFields: fields)
  }
}

/// A stored phone or notification was not written by this program.
package struct KeptPhoneError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Of the phone or the notification.
  package let id: Int64

  package var description: String {
    "The stored simulated phone or notification \(id) cannot be read. Delete it and add it again."
  }
}

extension JSONValue {
  static func milliseconds(_ date: Date) -> JSONValue { .integer(Int64((date.timeIntervalSince1970 * 1000).rounded())) }

  var date: Date? { integer.map { Date(timeIntervalSince1970: Double($0) / 1000) } }
}
