package import Foundation
package import JSON
package import Model

// Phones as JSON, for storage that has columns for what is searched and one for the rest. Times are whole
// milliseconds since 1970.

extension SimulatedPhone {
  /// Everything but id, name, platform, environment, topic, token and what it received.
  package var keptState: JSONValue {
    var members: [String: JSONValue] = [
      "model": .string(model), "app_state": .string(appState.rawValue), "power": .string(power.rawValue),
    ]
    members["registration_id"] = registrationID.map { .string($0) }
    members["alias"] = alias.map { .string($0) }
    if case .uninstalled(let since) = state { members["uninstalled_at"] = .milliseconds(since) }
    if !waiting.isEmpty { members["waiting"] = .array(waiting.map(\.keptWhole)) }
    if !formerTokens.isEmpty {
      members["former_tokens"] = .array(
        formerTokens.map { ["token": .string($0.token.hexadecimal), "since": .milliseconds($0.since)] })
    }
    return .object(members)
  }

  /// Takes up a phone that was kept with its ``keptState``.
  ///
  /// - Parameter received: newest first.
  /// - Throws: ``KeptPhoneError``.
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
      do {
        formerTokens.append(.init(token: try DeviceToken(parsing: text, platform: .ios), since: since))
      } catch {
        throw KeptPhoneError(id: id)
      }
    }
    self.init(
      id: id, name: name, model: model, platform: platform, environment: environment, topic: topic, token: token,
      registrationID: keptState["registration_id"]?.string, alias: keptState["alias"]?.string,
      state: (keptState["uninstalled_at"]?.date).map { .uninstalled(since: $0) } ?? .installed, appState: appState,
      power: power, received: received, waiting: waiting, formerTokens: formerTokens)
  }
}

extension ReceivedNotification {
  /// Everything but id, `apns-id`, payload and time of arrival.
  package var keptFields: JSONValue {
    var members: [String: JSONValue] = [
      "topic": .string(topic), "push_type": .string(pushType.rawValue), "priority": .integer(Int64(priority)),
      "app_state": .string(appState.rawValue),
    ]
    members["expiration"] = expiration.map { .milliseconds($0) }
    members["collapse_id"] = collapseID.map { .string($0) }
    members["unique_id"] = uniqueID.map { .string($0) }
    members["tapped_at"] = tapped.map { .milliseconds($0) }
    if duplicates > 0 { members["duplicates"] = .integer(Int64(duplicates)) }
    if replaced > 0 { members["replaced"] = .integer(Int64(replaced)) }
    return .object(members)
  }

  /// Takes up a notification that was kept with its ``keptFields``.
  ///
  /// - Throws: ``KeptPhoneError``.
  package init(
    id: Int64, apnsID: String, payload: String, receivedAt: Date, keptFields: JSONValue
  ) throws(KeptPhoneError) {
    guard let topic = keptFields["topic"]?.string,
      let pushType = (keptFields["push_type"]?.string).flatMap(PushType.init),
      let priority = keptFields["priority"]?.integer,
      let appState = (keptFields["app_state"]?.string).flatMap(SimulatedPhone.AppState.init)
    else { throw KeptPhoneError(id: id) }
    self.init(
      id: id, apnsID: apnsID, topic: topic, pushType: pushType, priority: Int(clamping: priority), payload: payload,
      receivedAt: receivedAt, expiration: keptFields["expiration"]?.date,
      collapseID: keptFields["collapse_id"]?.string, uniqueID: keptFields["unique_id"]?.string, appState: appState,
      tapped: keptFields["tapped_at"]?.date, duplicates: Int(clamping: keptFields["duplicates"]?.integer ?? 0),
      replaced: Int(clamping: keptFields["replaced"]?.integer ?? 0))
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

/// What was kept of a phone or a notification was not written by this program.
package struct KeptPhoneError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Of the phone or the notification.
  package let id: Int64

  /// What happened, and what to do.
  package var description: String {
    "The stored simulated phone or notification \(id) cannot be read. Delete it and add it again."
  }
}

extension JSONValue {
  fileprivate static func milliseconds(_ date: Date) -> JSONValue {
    .integer(Int64((date.timeIntervalSince1970 * 1000).rounded()))
  }

  fileprivate var date: Date? { integer.map { Date(timeIntervalSince1970: Double($0) / 1000) } }
}
