import Foundation
import Push
import Simulator
import Store

/// Phones and what they received, as their records, whose JSON only this file writes and reads.
enum PhoneJSON {
  // MARK: Phones

  static func record(_ phone: SimulatedPhone) -> Phone {
    var state: [String: JSONValue] = [
      "model": .string(phone.model), "app": .string(phone.appState.rawValue), "power": .string(phone.power.rawValue),
      "waiting": .array(phone.waiting.map(waiting)),
      "former": .array(
        phone.formerTokens.map { ["token": .string($0.token.hexadecimal), "since": .string(Timestamp.text($0.since))] }),
    ]
    if case .uninstalled(let since) = phone.state { state["uninstalled"] = .string(Timestamp.text(since)) }
    state["registration_id"] = phone.registrationID.map(JSONValue.string)
    state["alias"] = phone.alias.map(JSONValue.string)
    return Phone(
      id: phone.id, name: phone.name, platform: phone.platform, bundleID: phone.topic, environment: phone.environment,
      token: phone.token, state: .object(state))
  }

  static func phone(_ record: Phone, _ received: [ReceivedNotification]) throws -> SimulatedPhone {
    let state = record.state
    let former = try (state["former"]?.array ?? []).map { former in
      SimulatedPhone.FormerToken(
        token: try DeviceToken(parsing: former["token"]?.string ?? "", platform: record.platform),
        since: try time(former, "since"))
    }
    return SimulatedPhone(
      id: record.id, name: record.name, model: state["model"]?.string ?? "", platform: record.platform,
      environment: record.environment, topic: record.bundleID, token: record.token,
      registrationID: state["registration_id"]?.string, alias: state["alias"]?.string,
      state: state["uninstalled"] == nil ? .installed : .uninstalled(since: try time(state, "uninstalled")),
      appState: try word(state, "app"), power: try word(state, "power"), received: received,
      waiting: try (state["waiting"]?.array ?? []).map { waiting in
        try notification(
          PhoneNotification(
            id: waiting["id"]?.integer ?? 0, phoneID: record.id, at: try time(waiting, "at"),
            apnsID: waiting["apns_id"]?.string, headers: waiting["headers"] ?? [:],
            payload: Array((waiting["payload"]?.string ?? "").utf8)))
      }, formerTokens: former)
  }

  private static func waiting(_ notification: ReceivedNotification) -> JSONValue {
    let record = record(notification, of: 0)
    return [
      "id": .integer(record.id), "at": .string(Timestamp.text(record.at)), "apns_id": .string(notification.apnsID),
      "headers": record.headers, "payload": .string(notification.payload),
    ]
  }

  // MARK: Notifications

  static func record(_ notification: ReceivedNotification, of phone: Int64) -> PhoneNotification {
    var headers: [String: JSONValue] = [
      "topic": .string(notification.topic), "push_type": .string(notification.pushType.rawValue),
      "priority": .integer(Int64(notification.priority)), "app": .string(notification.appState.rawValue),
      "duplicates": .integer(Int64(notification.duplicates)), "replaced": .integer(Int64(notification.replaced)),
    ]
    headers["expiration"] = notification.expiration.map { .string(Timestamp.text($0)) }
    headers["collapse_id"] = notification.collapseID.map(JSONValue.string)
    headers["sbid"] = notification.uniqueID.map(JSONValue.string)
    headers["tapped"] = notification.tapped.map { .string(Timestamp.text($0)) }
    return PhoneNotification(
      id: notification.id, phoneID: phone, at: notification.receivedAt, apnsID: notification.apnsID,
      headers: .object(headers), payload: Array(notification.payload.utf8))
  }

  static func notification(_ record: PhoneNotification) throws -> ReceivedNotification {
    let headers = record.headers
    func optionalTime(_ name: String) throws -> Date? { headers[name] == nil ? nil : try time(headers, name) }
    return ReceivedNotification(
      id: record.id, apnsID: record.apnsID ?? "", topic: headers["topic"]?.string ?? "",
      pushType: try word(headers, "push_type"), priority: Int(headers["priority"]?.integer ?? 10),
      payload: String(decoding: record.payload, as: UTF8.self), receivedAt: record.at,
      expiration: try optionalTime("expiration"), collapseID: headers["collapse_id"]?.string,
      uniqueID: headers["sbid"]?.string, appState: try word(headers, "app"), tapped: try optionalTime("tapped"),
      duplicates: Int(headers["duplicates"]?.integer ?? 0), replaced: Int(headers["replaced"]?.integer ?? 0))
  }

  // MARK: -

  private static func time(_ json: JSONValue, _ name: String) throws -> Date {
    let text = json[name]?.string ?? ""
    guard let date = Timestamp.parse(text) else { throw StoreError.unreadable(column: "phones.\(name)", value: text) }
    return date
  }

  private static func word<Word: RawRepresentable<String>>(_ json: JSONValue, _ name: String) throws -> Word {
    let text = json[name]?.string ?? ""
    guard let word = Word(rawValue: text) else { throw StoreError.unreadable(column: "phones.\(name)", value: text) }
    return word
  }
}
