package import Foundation
package import Model
import Synchronization

/// Actions of a person with a phone.
extension PhoneBook {
  /// Brings the app to the foreground or background, or ends it.
  ///
  /// - Throws: ``PhoneBookError``, for instance if the app is not installed or the phone is off.
  @discardableResult
  package func setAppState(
    _ id: Int64, _ appState: SimulatedPhone.AppState, now: Date = Date()
  ) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      let phone = state.records.values[index].phone
      if appState != .notRunning {
        guard phone.power == .on else { throw .phoneIsOff(phone: phone.name) }
        guard phone.state == .installed else { throw .appNotInstalled(phone: phone.name) }
      }
      state.records.values[index].phone.appState = appState
      // Whoever opens an app has woken the phone.
      if appState == .foreground { state.records.values[index].phone.android?.isDozing = false }
      return state.wake(index, now: now)
    }
  }

  /// Lets an Android phone doze, which takes its app from the foreground, or wakes it: then it receives what waited.
  ///
  /// - Throws: ``PhoneBookError``, for instance if it is an iPhone.
  @discardableResult
  package func setDozing(_ id: Int64, _ isDozing: Bool, now: Date = Date()) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      let index = try state.androidPhone(id)
      if isDozing, state.records.values[index].phone.appState == .foreground {
        state.records.values[index].phone.appState = .background
      }
      state.records.values[index].phone.android?.isDozing = isDozing
      return state.wake(index, now: now)
    }
  }

  /// Switches these notification channels of the app off, and all others on.
  ///
  /// - Throws: ``PhoneBookError``, for instance if it is an iPhone.
  @discardableResult
  package func setMutedChannels(_ id: Int64, _ channels: Set<String>) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      let index = try state.androidPhone(id)
      state.records.values[index].phone.android?.mutedChannels = channels
      return state.noteChange(index)
    }
  }

  /// Switches the app's notifications off in the phone's settings, or on.
  ///
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``, ``PhoneBookError/appNotInstalled(phone:)``.
  @discardableResult
  package func setNotifications(
    _ id: Int64, _ notifications: SimulatedPhone.Notifications
  ) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      let phone = state.records.values[index].phone
      guard phone.state == .installed else { throw .appNotInstalled(phone: phone.name) }
      state.records.values[index].phone.notifications = notifications
      return state.noteChange(index)
    }
  }

  /// Gives an Android phone's app another token, as Firebase does now and then: the app's `onNewToken` is called, and
  /// the previous token is answered with `UNREGISTERED`.
  ///
  /// - Returns: the new token, for registration.
  /// - Throws: ``PhoneBookError``, for instance if it is an iPhone.
  @discardableResult
  package func refreshToken(_ id: Int64, now: Date = Date()) throws(PhoneBookError) -> DeviceToken {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      let phone = state.records.values[index].phone
      guard phone.android != nil || phone.provider == .fcm else { throw .notAndroid(phone: phone.name) }
      guard phone.state == .installed else { throw .appNotInstalled(phone: phone.name) }
      return state.replaceToken(of: phone, keeping: phone.installationID, since: now)
    }
  }

  /// Switches a phone off, which ends its app, or on: then it receives the stored notifications that are still valid.
  ///
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``.
  @discardableResult
  package func setPower(
    _ id: Int64, _ power: SimulatedPhone.Power, now: Date = Date()
  ) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      let wasOn = state.records.values[index].phone.power == .on
      state.records.values[index].phone.power = power
      if power == .off { state.records.values[index].phone.appState = .notRunning }
      return wasOn ? state.noteChange(index) : state.wake(index, now: now)
    }
  }

  /// Removes the app: from now on pushes are answered with 410 `Unregistered` and this time. Received notifications
  /// stay visible; waiting ones are lost.
  ///
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``, ``PhoneBookError/appNotInstalled(phone:)``.
  @discardableResult
  package func uninstall(_ id: Int64, now: Date = Date()) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      var phone = state.records.values[index].phone
      guard phone.state == .installed else { throw .appNotInstalled(phone: phone.name) }
      phone.state = .uninstalled(since: now)
      phone.appState = .notRunning
      phone.waiting = []
      state.records.values[index].phone = phone
      return state.noteChange(index)
    }
  }

  /// Reinstalls the app with a new token. The previous token is answered with 410 as of when the app was removed, or as
  /// of now.
  ///
  /// - Returns: the new token, for registration.
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``.
  @discardableResult
  package func reinstall(_ id: Int64, now: Date = Date()) throws(PhoneBookError) -> DeviceToken {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      var phone = state.records.values[index].phone
      let since = if case .uninstalled(let since) = phone.state { since } else { now }
      phone.state = .installed
      phone.appState = .notRunning
      phone.waiting = []
      phone.topics = [:]
      // The new installation asks for permission again.
      phone.notifications = .allowed
      phone.badge = 0
      return state.replaceToken(of: phone, keeping: nil, since: since)
    }
  }

  /// Taps a notification: the app comes to the foreground.
  ///
  /// - Throws: ``PhoneBookError``, for instance if the phone is off or the notification is gone.
  @discardableResult
  package func tap(
    _ id: Int64, _ notification: Int64, now: Date = Date()
  ) throws(PhoneBookError) -> ReceivedNotification {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      let phone = state.records.values[index].phone
      guard phone.power == .on else { throw .phoneIsOff(phone: phone.name) }
      guard phone.state == .installed else { throw .appNotInstalled(phone: phone.name) }
      guard let tapped = state.records.values[index].update(notification, { $0.tapped = now }) else {
        throw .noSuchNotification(notification)
      }
      state.records.values[index].phone.appState = .foreground
      state.records.values[index].phone.android?.isDozing = false
      state.tell(.updated(phone: id, tapped))
      _ = state.wake(index, now: now)
      return tapped
    }
  }

  /// Deletes what a phone received.
  ///
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``.
  package func clear(_ id: Int64) throws(PhoneBookError) {
    try change { (state: inout State) throws(PhoneBookError) in
      guard state.clear(id) else { throw .noSuchPhone(id) }
    }
  }

  /// Deletes what every phone received.
  package func clearAll() {
    state.withLock { state in
      for id in state.records.keys.sorted() { _ = state.clear(id) }
    }
    keepSoon()
  }
}

extension PhoneBook.State {
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``, ``PhoneBookError/notAndroid(phone:)``.
  fileprivate func androidPhone(_ id: Int64) throws(PhoneBookError) -> PhoneIndex {
    guard let index = records.index(forKey: id) else { throw .noSuchPhone(id) }
    let phone = records.values[index].phone
    guard phone.android != nil else { throw .notAndroid(phone: phone.name) }
    return index
  }

  /// Tells of a change of the phone, and has it saved.
  ///
  /// - Returns: the phone as it is now.
  @discardableResult
  mutating func noteChange(_ index: PhoneIndex) -> SimulatedPhone {
    let phone = records.values[index].snapshot
    keeping.mark(phone.id)
    tell(.changed(phone))
    return phone
  }

  /// - Returns: whether there is such a phone.
  fileprivate mutating func clear(_ id: Int64) -> Bool {
    guard let index = records.index(forKey: id) else { return false }
    records.values[index].clear()
    keeping.mark(id)
    tell(.cleared(id))
    return true
  }

  /// Delivers what waited, if the phone takes it now, and tells of all changes.
  fileprivate mutating func wake(_ index: PhoneIndex, now: Date) -> SimulatedPhone {
    let changes = releaseWaiting(index, now: now)
    let phone = noteChange(index)
    for change in changes { tell(change) }
    return phone
  }

  /// Gives the phone a new token; the present one becomes a former one.
  ///
  /// - Parameters:
  ///   - phone: with all other changes.
  ///   - installation: the installation ID to keep; nil: a new one.
  fileprivate mutating func replaceToken(
    of phone: SimulatedPhone, keeping installation: String?, since: Date
  ) -> DeviceToken {
    var phone = phone
    for address in phone.addresses(phone.token) { owners[address] = .former(phone.id, since: since) }
    phone.formerTokens.insert(.init(token: phone.token, since: since), at: 0)
    while phone.formerTokens.count > SimulatedPhone.formerTokenLimit {
      for address in phone.addresses(phone.formerTokens.removeLast().token) { owners[address] = nil }
    }
    phone.token = SimulatedPhone.newToken(phone.provider, installation: installation)
    own(phone)
    guard let index = records.index(forKey: phone.id) else { return phone.token }
    records.values[index].phone = phone
    noteChange(index)
    return phone.token
  }
}
