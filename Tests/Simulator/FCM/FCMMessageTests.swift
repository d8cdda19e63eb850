import Foundation
import JSON
import Model
import Testing

@testable import Simulator

@Suite("FCM's validation of messages")
struct FCMMessageTests {
  struct Wrong: Sendable, CustomTestStringConvertible {
    let message: JSONValue
    let fields: [String]
    var testDescription: String { message.text() }

    init(_ message: JSONValue, _ fields: String...) {
      self.message = message
      self.fields = fields
    }
  }

  private static func read(_ message: JSONValue) -> Result<Simulator.FCMMessage, FCMError> {
    let body: JSONValue = ["message": message]
    return Result { () throws(FCMError) in try Simulator.FCMMessage.read(body.bytes).message }
  }

  private static func fields(_ result: Result<Simulator.FCMMessage, FCMError>) -> [String] {
    guard case .failure(let error) = result, case .badRequest(let violations)? = error.details.first else { return [] }
    return violations.map(\.field)
  }

  @Test(
    "a wrong field is named",
    arguments: [
      Wrong([:], "message"), Wrong(["token": "a", "topic": "b"], "message"), Wrong(["token": 1], "message.token"),
      Wrong(["topic": "/topics/a"], "message.topic"), Wrong(["topic": "a b"], "message.topic"),
      Wrong(["condition": "'a' in topic"], "message.condition"),
      Wrong(["token": "a", "colour": "b"], "message"), Wrong(["token": "a", "android": ["x": 1]], "message.android"),
      Wrong(["token": "a", "data": ["a": 1]], "message.data[a]"),
      Wrong(["token": "a", "data": ["google.x": "1", "from": "2"]], "message.data", "message.data"),
      Wrong(["token": "a", "android": ["data": ["gcm": "1"]]], "message.android.data"),
      Wrong(["token": "a", "android": ["ttl": "3"]], "message.android.ttl"),
      Wrong(["token": "a", "android": ["ttl": "2419201s"]], "message.android.ttl"),
      Wrong(["token": "a", "android": ["ttl": "-1s"]], "message.android.ttl"),
      Wrong(["token": "a", "android": ["priority": "urgent"]], "message.android.priority"),
      Wrong(["token": "a", "android": ["notification": ["color": "red"]]], "message.android.notification.color"),
      Wrong(["token": "a", "android": ["notification": ["sticky": "yes"]]], "message.android.notification.sticky"),
      Wrong(
        ["token": "a", "android": ["notification": ["body_loc_args": ["a", 1]]]],
        "message.android.notification.body_loc_args[1]"),
      Wrong(
        ["token": "a", "android": ["notification": ["event_time": "soon"]]], "message.android.notification.event_time"),
      Wrong(["token": "a", "apns": ["headers": ["apns-priority": 10]]], "message.apns.headers[apns-priority]"),
      Wrong(["token": "a", "apns": ["headers": ["apns-priority": "7"]]], "message.apns.headers[apns-priority]"),
      Wrong(["token": "a", "apns": ["payload": ["aps": "x"]]], "message.apns.payload.aps"),
      Wrong(["token": "a", "apns": ["payload": "x"]], "message.apns.payload"),
      Wrong(
        ["token": "a", "webpush": ["fcm_options": ["link": "http://a.b"]]], "message.webpush.fcm_options.link"),
      Wrong(["token": "a", "fcm_options": ["analytics_label": "a b"]], "message.fcm_options.analytics_label"),
      Wrong(["token": "a", "collapse_key": "a", "dataa": [:]], "message", "message"),
      Wrong(["token": "a", "fcm_options": [:], "fcmOptions": [:]], "message.fcm_options"),
    ])
  func wrong(_ wrong: Wrong) {
    #expect(Self.fields(Self.read(wrong.message)) == wrong.fields)
  }

  @Test("names may be written in snake_case or camelCase, words in lower case, null stands for nothing")
  func notation() throws {
    let message = try Self.read([
      "token": "a", "topic": .null,
      "android": [
        "collapseKey": "k", "priority": "high", "ttl": "3.5s", "restrictedPackageName": "a.b",
        "notification": [
          "channelId": "c", "notificationPriority": "PRIORITY_MAX", "eventTime": "2026-11-22T10:00:00.123Z",
          "vibrate_timings": ["0.1s"], "light_settings": ["color": ["red": .double(0.5), "alpha": 1]],
        ],
      ],
    ]).get()
    #expect(message.target == Simulator.FCMMessage.Target.device("a") && message.isHigh && message.timeToLive == 3.5)
    #expect(message.collapseKey == "k" && message.packageName == "a.b")
    #expect(message.json["android"]?["notification"]?["channel_id"] == "c")
    #expect(throws: FCMError.self) { try Simulator.FCMMessage.read(Array("{".utf8)) }
    #expect(throws: FCMError.self) { try Simulator.FCMMessage.read(Array("{}".utf8)) }
    #expect(throws: FCMError.self) {
      try Simulator.FCMMessage.read(Array(#"{"dry":true,"message":{"token":"a"}}"#.utf8))
    }
  }

  @Test("4096 bytes of names and values fit, 2048 to a topic")
  func size() {
    func isTooBig(_ target: String, _ count: Int) -> Bool {
      // The name has one byte.
      let data: JSONValue = ["a": .string(String(repeating: "x", count: count - 1))]
      guard case .failure(let error) = Self.read([target: "abc", "data": data].json) else { return false }
      #expect(error.message == "Android message is too big" && error.code == "INVALID_ARGUMENT")
      return true
    }
    #expect(!isTooBig("token", 4096) && isTooBig("token", 4097))
    #expect(!isTooBig("topic", 2048) && isTooBig("topic", 2049))
  }

  @Test(
    "a condition goes from left to right, parentheses first",
    arguments: [
      ("'a' in topics", ["a"], true), ("'a' in topics", ["b"], false), ("!('a' in topics)", ["b"], true),
      ("'a' in topics && 'b' in topics", ["a"], false), ("'a' in topics || 'b' in topics", ["b"], true),
      ("'a' in topics || 'b' in topics && 'c' in topics", ["a"], false),
      ("'a' in topics || ('b' in topics && 'c' in topics)", ["a"], true),
    ] as [(String, [String], Bool)])
  func conditions(_ text: String, _ topics: [String], _ holds: Bool) throws {
    #expect(try #require(TopicCondition(text)).holds(topics) == holds)
  }

  @Test(
    "what is no condition is refused",
    arguments: [
      "", "a", "'a'", "'a' in", "'a' in topics &&", "('a' in topics", "'a b' in topics", "'a in topics",
      "'a' in topics 'b' in topics", (1...6).map { "'\($0)' in topics" }.joined(separator: " || "),
      String(repeating: "(", count: 200) + "'a' in topics" + String(repeating: ")", count: 200),
    ])
  func noConditions(_ text: String) {
    #expect(TopicCondition(text) == nil)
  }
}

extension [String: JSONValue] {
  fileprivate var json: JSONValue { .object(self) }
}
