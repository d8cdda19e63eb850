package import Foundation
package import Model
import Synchronization

/// Actions of a person with a phone.
extension PhoneBook {
  /// Brings the app to the foreground or background, or ends it.
  ///
  /// - Throws: ``PhoneBookError``, for instance if the app is not installed or the phone is off.
  @discardableResult
  package func setAppState(_ id: Int64, _ appState: SimulatedPhone.AppState) throws(PhoneBookError) -> SimulatedPhone {
    try update(id) { (record: inout PhoneRecord) throws(PhoneBookError) in
      if appState != .notRunning {
        guard record.phone.power == .on else { throw .phoneIsOff(phone: record.phone.name) }
        guard record.phone.state == .installed else { throw .appNotInstalled(phone: record.phone.name) }
      }
      record.phone.appState = appState
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
      state.keeping.mark(id)
      let wasOn = state.records.values[index].phone.power == .on
      state.records.values[index].phone.power = power
      if power == .off { state.records.values[index].phone.appState = .notRunning }
      var came: [PhoneChange] = []
      if power == .on, !wasOn {
        let waiting = state.records.values[index].phone.waiting
        state.records.values[index].phone.waiting = []
        for var notification in waiting where !notification.isOver(at: now) {
          notification.receivedAt = now
          notification.appState = .notRunning
          let (received, isRepeat) = state.records.values[index].receive(notification)
          came.append(isRepeat ? .updated(phone: id, received) : .received(phone: id, received))
        }
      }
      let phone = state.records.values[index].snapshot
      state.tell(.changed(phone))
      for change in came { state.tell(change) }
      return phone
    }
  }

  /// Removes the app: from now on pushes are answered with 410 `Unregistered` and this time. Received notifications
  /// stay visible; waiting ones are lost.
  ///
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``, ``PhoneBookError/appNotInstalled(phone:)``.
  @discardableResult
  package func uninstall(_ id: Int64, now: Date = Date()) throws(PhoneBookError) -> SimulatedPhone {
    try update(id) { (record: inout PhoneRecord) throws(PhoneBookError) in
      guard record.phone.state == .installed else { throw .appNotInstalled(phone: record.phone.name) }
      record.phone.state = .uninstalled(since: now)
      record.phone.appState = .notRunning
      record.phone.waiting = []
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
      state.owners[phone.address(phone.token)] = .former(id, since: since)
      phone.formerTokens.insert(.init(token: phone.token, since: since), at: 0)
      while phone.formerTokens.count > SimulatedPhone.formerTokenLimit {
        state.owners[phone.address(phone.formerTokens.removeLast().token)] = nil
      }
      phone.token = Self.newToken()
      phone.state = .installed
      phone.appState = .notRunning
      phone.waiting = []
      state.owners[phone.address(phone.token)] = .present(id)
      state.records.values[index].phone = phone
      state.keeping.mark(id)
      let changed = state.records.values[index].snapshot
      state.tell(.changed(changed))
      return phone.token
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
      state.keeping.mark(id)
      state.tell(.updated(phone: id, tapped))
      let changed = state.records.values[index].snapshot
      state.tell(.changed(changed))
      return tapped
    }
  }

  /// Deletes what a phone received.
  ///
  /// - Throws: ``PhoneBookError/noSuchPhone(_:)``.
  package func clear(_ id: Int64) throws(PhoneBookError) {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      state.records.values[index].clear()
      state.keeping.mark(id)
      state.tell(.cleared(id))
    }
  }

  /// Deletes what every phone received.
  package func clearAll() {
    state.withLock { state in
      for id in state.records.keys.sorted() {
        guard let index = state.records.index(forKey: id) else { continue }
        state.records.values[index].clear()
        state.keeping.mark(id)
        state.tell(.cleared(id))
      }
    }
    keepSoon()
  }

  private func update(
    _ id: Int64, _ body: (inout PhoneRecord) throws(PhoneBookError) -> Void
  ) throws(PhoneBookError) -> SimulatedPhone {
    try change { (state: inout State) throws(PhoneBookError) in
      guard let index = state.records.index(forKey: id) else { throw .noSuchPhone(id) }
      try body(&state.records.values[index])
      state.keeping.mark(id)
      let phone = state.records.values[index].snapshot
      state.tell(.changed(phone))
      return phone
    }
  }
}
