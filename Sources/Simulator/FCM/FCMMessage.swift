import Foundation
import JSON
import Model

/// A message that passed FCM's validation; whether its token exists is decided by the phone book.
struct FCMMessage: Sendable, Hashable {
  enum Target: Sendable, Hashable {
    /// A registration token, or a Firebase installation ID.
    case device(String)
    case topic(String)
    case condition(TopicCondition)
  }

  let target: Target
  /// The message as accepted, with names in snake_case.
  let json: JSONValue

  /// Bytes of names and values that go to the app (docs/protocols.md §3.1).
  static let sizeLimit = 4096
  static let topicSizeLimit = 2048
  /// Of APNs, to which FCM passes a payload on.
  private static let apnsLimit = 4096
  static let longestLife = FCMField.longestLife

  /// Reads the body of `messages:send`.
  ///
  /// - Returns: the message, and whether it is only to be checked.
  static func read(_ body: [UInt8]) throws(FCMError) -> (message: FCMMessage, isDry: Bool) {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: body)
    } catch {
      throw .badField("", "Invalid JSON payload received. \(error)")
    }
    var violations: [FCMField.Violation] = []
    let request = FCMField.request.read(json, "", &violations)
    guard violations.isEmpty else { throw .badField(violations) }
    guard let message = request?["message"] else { throw .badField("message", "The message is not set.") }
    let target = try target(of: message)
    let result = FCMMessage(target: target, json: message)
    result.check(&violations)
    guard violations.isEmpty else { throw .badField(violations) }
    guard result.size <= result.limit else {
      throw FCMError(status: 400, message: "Android message is too big", details: [.fcm("INVALID_ARGUMENT")])
    }
    return (result, request?["validate_only"]?.bool ?? false)
  }

  private static func target(of message: JSONValue) throws(FCMError) -> Target {
    let given = ["token", "fid", "topic", "condition"].filter { message[$0] != nil }
    if given.count > 1 {
      throw .badField(
        "message",
        "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '\(given[1])'")
    }
    guard let name = given.first, let text = message[name]?.string, !text.isEmpty else {
      throw .badField("message", "Recipient of the message is not set.")
    }
    switch name {
    case "topic":
      guard TopicCondition.isTopic(text) else {
        throw .badField("message.topic", "Malformed topic name: \(text.prefix(100))")
      }
      return .topic(text)
    case "condition":
      guard let condition = TopicCondition(text) else {
        throw .badField("message.condition", "Invalid condition expression provided: \(text.prefix(100))")
      }
      return .condition(condition)
    default: return .device(text)
    }
  }

  /// Checks the values that Google's interface description leaves open.
  private func check(_ violations: inout [FCMField.Violation]) {
    func wrong(_ field: String, _ description: String) {
      violations.append(.init(field: "message.\(field)", description: description))
    }
    for field in ["data", "android.data", "webpush.data"] {
      for name in (value(field)?.object ?? [:]).keys.sorted() where Self.isReserved(name) {
        wrong(field, "Invalid data payload key: \(name)")
      }
    }
    if let link = value("webpush.fcm_options.link")?.string, !link.hasPrefix("https://") {
      wrong("webpush.fcm_options.link", "The link must be an HTTPS address.")
    }
    if let priority = value("apns.headers.apns-priority")?.string, !["1", "5", "10"].contains(priority) {
      wrong("apns.headers[apns-priority]", "Invalid value for apns-priority: \(priority.prefix(20))")
    }
    if let payload = value("apns.payload") {
      if let aps = payload["aps"], aps.object == nil {
        wrong("apns.payload.aps", "The value of aps must be an object.")
      }
      if payload.bytes.count > Self.apnsLimit { wrong("apns.payload", "APNS payload is too big") }
    }
  }

  /// Names that Firebase keeps to itself.
  static func isReserved(_ name: String) -> Bool {
    name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm")
  }

  var size: Int { Self.size(of: notification) + Self.size(of: .object(data.mapValues { .string($0) })) }

  var limit: Int {
    switch target {
    case .device: Self.sizeLimit
    case .topic, .condition: Self.topicSizeLimit
    }
  }

  private static func size(of value: JSONValue) -> Int {
    switch value {
    case .object(let members): members.reduce(0) { $0 + $1.key.utf8.count + size(of: $1.value) }
    case .array(let elements): elements.reduce(0) { $0 + size(of: $1) }
    case .string(let text): text.utf8.count
    case .null, .bool, .integer, .double: value.text().utf8.count
    }
  }

  /// The value at a path of names, as `android.ttl`.
  private func value(_ path: String) -> JSONValue? { path.split(separator: ".").reduce(json) { $0?[String($1)] } }

  // MARK: What an Android phone gets

  /// The data for the app: Android's own if there is any.
  var data: [String: String] {
    (value("android.data")?.object ?? value("data")?.object ?? [:]).compactMapValues(\.string)
  }

  /// The notification with Android's own fields before the common ones; empty: a data message.
  private var notification: JSONValue {
    let common = value("notification")?.object ?? [:]
    return .object(common.merging(value("android.notification")?.object ?? [:]) { $1 })
  }

  /// Only a message of this priority wakes a phone that dozes.
  var isHigh: Bool { value("android.priority") == "HIGH" }
  /// Seconds.
  var timeToLive: TimeInterval { value("android.ttl")?.string.flatMap(FCMField.seconds) ?? Self.longestLife }
  /// Of the messages that wait for a phone, a later one with the same key replaces the earlier one.
  var collapseKey: String? { value("android.collapse_key")?.string }
  /// The only app that may get it.
  var packageName: String? { value("android.restricted_package_name")?.string }
}
