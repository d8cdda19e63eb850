import Foundation
package import Logging
package import Model
import Synchronization

/// The phones of a simulator and the notifications that they received. Safe to use from any thread; never blocks.
package final class PhoneBook: Sendable {
  struct State {
    typealias PhoneIndex = [Int64: PhoneRecord].Index

    var records: [Int64: PhoneRecord] = [:]
    /// Present and former tokens.
    var owners: [Address: Owner] = [:]
    var lastPhoneID: Int64 = 0
    var lastNotificationID: Int64 = 0
    var watchers: [Int: AsyncStream<PhoneChange>.Continuation] = [:]
    var lastWatcher = 0
    var changeCount = 0
    var keeping = Keeping()

    mutating func tell(_ change: @autoclosure () -> PhoneChange) {
      changeCount += 1
      guard !watchers.isEmpty else { return }
      let change = change()
      for watcher in watchers.values { watcher.yield(change) }
    }
  }

  /// Each environment has its own tokens, and one token may exist in both.
  struct Address: Hashable {
    let token: DeviceToken
    let environment: Model.Environment
  }

  /// The owner of a token.
  enum Owner {
    case present(Int64)
    case former(Int64, since: Date)
  }

  /// How many changes a slow reader of ``changes()`` may fall behind before it loses the oldest.
  package static let changeLimit = 1024

  /// Whether pushes to unknown tokens are accepted and dropped, for benchmarks and foreign device lists. Otherwise they
  /// are answered with `BadDeviceToken`.
  package let acceptsUnknownTokens: Bool
  let state: Mutex<State>
  let storage: (any PhoneStorage)?
  /// The broadcast channels that the storage had at the start, for ``ChannelBook``.
  let keptChannels: [ChannelBook.Channel]
  let log: Logger?

  /// An empty phone book without storage.
  package convenience init(acceptsUnknownTokens: Bool = false) {
    self.init(State(), [], storage: nil, acceptsUnknownTokens: acceptsUnknownTokens, log: nil)
  }

  /// Loads the phone book of `storage`, where changes are saved.
  ///
  /// - Throws: the storage's error.
  package static func open(_ storage: any PhoneStorage, log: Logger? = nil) async throws -> PhoneBook {
    let (kept, channels) = (try await storage.load(), try await storage.loadChannels())
    var state = State()
    for phone in kept {
      state.lastNotificationID = max(
        state.lastNotificationID, phone.received.first?.id ?? 0, phone.waiting.map(\.id).max() ?? 0)
    }
    for phone in kept {
      state.lastPhoneID = max(state.lastPhoneID, phone.id)
      state.records[phone.id] = PhoneRecord(phone, keptThrough: state.lastNotificationID)
      for former in phone.formerTokens {
        for address in phone.addresses(former.token) { state.owners[address] = .former(phone.id, since: former.since) }
      }
      state.own(phone)
    }
    return PhoneBook(state, channels, storage: storage, acceptsUnknownTokens: false, log: log)
  }

  private init(
    _ state: sending State, _ channels: [ChannelBook.Channel], storage: (any PhoneStorage)?, acceptsUnknownTokens: Bool,
    log: Logger?
  ) {
    self.state = Mutex(state)
    keptChannels = channels
    (self.storage, self.acceptsUnknownTokens, self.log) = (storage, acceptsUnknownTokens, log)
  }

  /// Oldest first.
  package func phones() -> [SimulatedPhone] {
    state.withLock { state in state.records.values.map(\.snapshot) }.sorted { $0.id < $1.id }
  }

  package func phone(_ id: Int64) -> SimulatedPhone? { state.withLock { $0.records[id]?.snapshot } }

  /// The phones with this present token: at most one in each environment.
  package func phones(token: DeviceToken) -> [SimulatedPhone] {
    state.withLock { state in
      Environment.allCases.compactMap { environment in
        guard case .present(let id)? = state.owners[Address(token: token, environment: environment)] else { return nil }
        return state.records[id]?.snapshot
      }
    }
  }

  /// Adds a phone, switched on, with the app installed and in the background.
  ///
  /// - Throws: ``PhoneBookError/tokenTaken(phone:)``.
  @discardableResult
  package func add(_ new: NewPhone) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      let token = new.token ?? SimulatedPhone.newToken(new.provider ?? new.platform.ownProvider)
      let address = Address(token: token, environment: new.environment)
      if let owner = state.owners[address] { throw .tokenTaken(phone: state.name(of: owner)) }
      state.lastPhoneID += 1
      let phone = SimulatedPhone(
        id: state.lastPhoneID, name: new.name, model: new.model, platform: new.platform,
        environment: new.environment, topic: new.topic, token: token, registrationID: new.registrationID,
        alias: new.alias)
      state.records[phone.id] = PhoneRecord(phone)
      state.own(phone)
      state.keeping.mark(phone.id)
      state.tell(.added(phone))
      return phone
    }
  }

  /// Removes a phone with everything it received; its tokens become unknown.
  ///
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``.
  package func remove(_ id: Int64) throws(PhoneBookError) {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let record = state.records.removeValue(forKey: id) else { throw .noSuchPhone(id) }
      for token in [record.phone.token] + record.phone.formerTokens.map(\.token) {
        for address in record.phone.addresses(token) { state.owners[address] = nil }
      }
      state.keeping.markRemoved(id)
      state.tell(.removed(id))
    }
  }

  /// How many changes there have been since the start. What was read after it shows at least these.
  package var changeCount: Int { state.withLock { $0.changeCount } }

  /// Future changes in order. A reader that falls behind by more than ``changeLimit`` loses the oldest.
  package func changes() -> AsyncStream<PhoneChange> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PhoneChange.self, bufferingPolicy: .bufferingNewest(Self.changeLimit))
    let watcher = state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = continuation
      return state.lastWatcher
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.watchers.removeValue(forKey: watcher) }
    }
    return stream
  }

  /// Changes the state, and has it saved.
  func change<Result: Sendable>(
    _ body: (inout State) throws(PhoneBookError) -> Result
  ) throws(PhoneBookError) -> Result {
    let result = state.withLock { state in Swift.Result { () throws(PhoneBookError) in try body(&state) } }
    keepSoon()
    return try result.get()
  }
}

extension SimulatedPhone {
  func address(_ token: DeviceToken) -> PhoneBook.Address { PhoneBook.Address(token: token, environment: environment) }
}

extension PhoneBook.State {
  /// Makes the phone the owner of its present token.
  mutating func own(_ phone: SimulatedPhone) {
    for address in phone.addresses(phone.token) { owners[address] = .present(phone.id) }
  }

  fileprivate func name(of owner: PhoneBook.Owner) -> String {
    switch owner {
    case .present(let id), .former(let id, _): records[id]?.phone.name ?? ""
    }
  }
}
