import Foundation
import JSON
import Model
import Synchronization

/// What became of a JPush message.
struct JPushFigures: Sendable, Hashable {
  var iosTargets = 0
  var iosReceived = 0
  var iosTapped = 0
  var androidTargets = 0
  var androidReceived = 0
  var androidTapped = 0
}

/// Phones that are registered with JPush: their token is the registration ID.
extension PhoneBook {
  /// The phone with this registration ID, if its app is installed.
  func phone(jpush id: String) -> SimulatedPhone? {
    state.withLock { state in state.jpushPhone(id).map { state.records.values[$0].snapshot } }
  }

  /// Those whose app is installed, oldest first, without what they received.
  func jpushPhones() -> [SimulatedPhone] {
    state.withLock { state in
      state.records.values.map(\.phone).filter { $0.provider == .jpush && $0.state == .installed }
    }.sorted { $0.id < $1.id }
  }

  /// Changes alias and tags.
  func change(jpush ids: [Int64], _ body: (inout SimulatedPhone) -> Void) {
    state.withLock { state in
      for id in ids {
        guard let index = state.records.index(forKey: id) else { continue }
        body(&state.records.values[index].phone)
        state.noteChange(index)
      }
    }
    keepSoon()
  }

  /// Delivers a push to its phones, as JPush does.
  ///
  /// - Parameters:
  ///   - id: JPush's number of the message.
  ///   - replaced: the first of the messages that it replaces, of which Android shows or keeps only the last; nil: it
  ///     replaces none.
  ///   - isDry: whether it is only checked.
  /// - Returns: the phones, how many devices JPush took it for, of which unknown ones count if the book accepts them,
  ///   and what became of it.
  func deliver(
    _ draft: PushDraft, message id: Int64, replacing replaced: Int64? = nil, isDry: Bool, now: Date
  ) -> (phones: Set<Int64>, count: Int, landing: Landing) {
    let payload = APNsPayload(draft)
    var members = payload.json.object ?? [:]
    members["_j_msgid"] = .integer(id)
    let bodies = (ios: JSONValue.object(members), android: Model.FCMMessage(draft).json)
    let texts = (ios: bodies.ios.text(), android: bodies.android.text())
    let tag = "jpush \(replaced ?? id)"
    let extras = draft.notification.extras
    let marks = [members, extras, extras[JPushContent.messageKey]?["extras"]?.object ?? [:]]
    let uniqueID = marks.lazy.compactMap { $0[APNsPayload.idKey]?.string }.first
    let isHigh = draft.notification.title != nil || draft.notification.body != nil
    let expiration = draft.options.timeToLive.map { now.addingTimeInterval(TimeInterval($0)) }
    let result = state.withLock { state -> (Set<Int64>, Int, Landing) in
      var landing = Landing()
      let (found, unknown) = state.jpushAudience(draft)
      let count = found.count + (acceptsUnknownTokens ? unknown : 0)
      guard !isDry else { return (Set(found), count, landing) }
      for phoneID in found {
        guard let index = state.records.index(forKey: phoneID) else { continue }
        let isPhone = state.records.values[index].phone.platform == .ios
        let counted = state.records.values[index].phone.counted(isPhone ? bodies.ios : bodies.android)
        let phone = state.records.values[index].phone
        if let replaced, !isPhone {
          state.records.values[index].phone.waiting.removeAll { $0.tag == "jpush \(replaced)" }
        }
        state.lastNotificationID += 1
        let fate = state.hand(
          ReceivedNotification(
            id: state.lastNotificationID, apnsID: String(id), topic: phone.topic,
            pushType: isPhone ? payload.pushType : nil, priority: isPhone ? payload.priority : isHigh ? 10 : 5,
            payload: counted?.text() ?? (isPhone ? texts.ios : texts.android), receivedAt: now, expiration: expiration,
            collapseID: isPhone ? payload.collapseID : nil, uniqueID: uniqueID, appState: phone.appState,
            tag: isPhone ? nil : tag),
          index, waits: draft.options.timeToLive != 0)
        landing.add(phoneID, fate)
      }
      return (Set(found), count, landing)
    }
    keepSoon()
    return result
  }

  func figures(of message: Int64, for targets: Set<Int64>) -> JPushFigures {
    state.withLock { state in
      var figures = JPushFigures()
      for id in targets {
        guard let record = state.records[id] else { continue }
        let notification = record.history.id(apnsID: String(message)).flatMap(record.history.notification)
        let (received, tapped) = (notification == nil ? 0 : 1, notification?.tapped == nil ? 0 : 1)
        if record.phone.platform == .ios {
          figures.iosTargets += 1
          figures.iosReceived += received
          figures.iosTapped += tapped
        } else {
          figures.androidTargets += 1
          figures.androidReceived += received
          figures.androidTapped += tapped
        }
      }
      return figures
    }
  }
}

extension SimulatedPhone {
  /// A payload with the number on the app's icon, which JPush counts for each device where a push says `"+1"`; nil: the
  /// payload has no number.
  fileprivate mutating func counted(_ payload: JSONValue) -> JSONValue? {
    let path = platform == .ios ? ["aps", "badge"] : ["android", "notification", "notification_count"]
    guard let value = path.reduce(payload as JSONValue?, { $0?[$1] }), let change = Badge(json: value) else {
      return nil
    }
    badge = change.number(after: badge)
    return payload.setting(path[...], to: .integer(Int64(badge)))
  }
}

extension JSONValue {
  fileprivate func setting(_ path: ArraySlice<String>, to value: JSONValue) -> JSONValue {
    guard let name = path.first else { return value }
    var members = object ?? [:]
    members[name] = (members[name] ?? [:]).setting(path.dropFirst(), to: value)
    return .object(members)
  }
}

extension PhoneBook.State {
  fileprivate func jpushPhone(_ id: String) -> PhoneIndex? {
    let token = DeviceToken(text: id)
    for environment in Environment.allCases {
      guard case .present(let owner)? = owners[PhoneBook.Address(token: token, environment: environment)],
        let index = records.index(forKey: owner), records.values[index].phone.provider == .jpush,
        records.values[index].phone.state == .installed
      else { continue }
      return index
    }
    return nil
  }

  /// The phones of a push in the order of their IDs, and how many of its registration IDs are unknown.
  fileprivate func jpushAudience(_ draft: PushDraft) -> (found: [Int64], unknown: Int) {
    var rule = Audience.Rule()
    if case .rule(let given) = draft.audience { rule = given }
    var phones: [SimulatedPhone]
    var unknown = 0
    if rule.registrationID.isEmpty {
      phones = records.values.map(\.phone).filter { $0.provider == .jpush && $0.state == .installed }
    } else {
      let found = rule.registrationID.map { jpushPhone($0) }
      unknown = found.count { $0 == nil }
      phones = found.compactMap { $0.map { records.values[$0].phone } }
    }
    phones = phones.filter { phone in
      // One push reaches one environment of APNs; Android has none (docs/protocols.md §4.2).
      guard draft.platforms.contains(phone.platform),
        phone.platform == .android || phone.environment == draft.environment
      else { return false }
      return (rule.alias.isEmpty || phone.alias.map(rule.alias.contains) == true)
        && (rule.tag.isEmpty || !phone.tags.isDisjoint(with: rule.tag)) && phone.tags.isSuperset(of: rule.tagAnd)
        && phone.tags.isDisjoint(with: rule.tagNot)
        // Nobody makes segments here, so none has a phone.
        && rule.segment.isEmpty
    }
    return (Set(phones.map(\.id)).sorted(), unknown)
  }
}
