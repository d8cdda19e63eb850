import Foundation
import JSON
import Model
import Testing

@Suite("FCM message")
struct FCMMessageTests {
  private func draft(_ change: (inout PushDraft) -> Void) -> PushDraft {
    var draft = PushDraft(
      app: "com.example.app", environment: .production, platforms: [.android], audience: .all,
      notification: Notification())
    draft.notification.title = "Lunch"
    change(&draft)
    return draft
  }

  @Test("a notification, with everything that has a place on Android")
  func notification() {
    let message = FCMMessage(
      draft {
        $0.notification.body = "It is ready."
        $0.notification.subtitle = "iOS only"
        $0.notification.image = "https://example.com/a.png"
        $0.notification.sound = "bell"
        $0.notification.badge = 3
        $0.notification.link = "order"
        $0.notification.extras = ["order": 7, "paid": true, "name": "Anna", "list": [1, 2]]
        $0.options.collapseID = "lunch"
        $0.options.timeToLive = 60
      }, uid: "u1")
    #expect(
      message.json == [
        "notification": ["title": "Lunch", "body": "It is ready.", "image": "https://example.com/a.png"],
        "data": ["order": "7", "paid": "true", "name": "Anna", "list": "[1,2]", "link": "order", "sbid": "u1"],
        "android": [
          "priority": "HIGH", "ttl": "60s", "collapse_key": "lunch",
          "notification": ["sound": "bell", "tag": "lunch", "notification_count": 3],
        ],
      ])
    #expect(message.problems.isEmpty)
  }

  @Test("without text it is data only, of normal priority unless asked otherwise")
  func data() {
    let silent = draft {
      $0.notification.title = nil
      $0.notification.image = "https://example.com/a.png"
      $0.notification.extras = ["sync": "1"]
    }
    #expect(
      FCMMessage(silent).json == [
        "data": ["sync": "1", "image": "https://example.com/a.png"], "android": ["priority": "NORMAL"],
      ])
    var urgent = silent
    urgent.options.priority = .high
    #expect(FCMMessage(urgent).json["android"] == ["priority": "HIGH"])
    #expect(FCMMessage(draft { $0.options.priority = .low }).json["android"]?["priority"] == "NORMAL")
  }

  @Test("the draft's own part is merged over it: objects are joined, null removes")
  func own() {
    let message = FCMMessage(
      draft {
        $0.notification.sound = "bell"
        $0.options.collapseID = "lunch"
        $0.options.timeToLive = 60
        $0.android = [
          "ttl": "5s", "collapse_key": .null, "notification": ["channel_id": "news", "tag": .null],
          "restricted_package_name": "com.example.shop",
        ]
      })
    #expect(
      message.json["android"] == [
        "priority": "HIGH", "ttl": "5s", "restricted_package_name": "com.example.shop",
        "notification": ["sound": "bell", "channel_id": "news"],
      ])
    #expect(FCMMessage(draft { _ in }, timeToLive: 9).json["android"]?["ttl"] == "9s")
  }

  @Test(
    "FCM's own data keys are refused, with the field named",
    arguments: ["from", "message_type", "google.sent_time", "gcm.notification.title", "gcm"])
  func reserved(key: String) {
    let extras = FCMMessage(draft { $0.notification.extras = [key: "x"] }).problems
    #expect(extras.map(\.field) == ["notification.extras.\(key)"])
    #expect(extras.map(\.code) == [FCMMessageProblem.reservedKey.code])
    let own = FCMMessage(draft { $0.android = ["data": [key: "x", "fine": "y"]] }).problems
    #expect(own.map(\.field) == ["android.data.\(key)"])
  }

  @Test("at most 4096 bytes of keys and values; FCM's code stands beside our words")
  func size() throws {
    // "title" and "Lunch" take ten bytes, "x" one.
    let most = draft { $0.notification.extras = ["x": .string(String(repeating: "y", count: 4085))] }
    #expect(FCMMessage(most).size == 4096)
    #expect(FCMMessage(most).problems.isEmpty)
    let over = draft { $0.notification.extras = ["x": .string(String(repeating: "y", count: 4086))] }
    let problem = try #require(FCMMessage(over).problems.first)
    #expect(problem.code == FCMMessageProblem.tooLarge.code)
    #expect(problem.text.contains("4097") && problem.text.contains("INVALID_ARGUMENT"))
  }

  @Test("where the app's data leave no room for sbsig, or for sbid, these give way, and the checks say so")
  func room() throws {
    func draft(_ bytes: Int) -> PushDraft {
      self.draft { $0.notification.extras = ["x": .string(String(repeating: "y", count: bytes - 11))] }
    }
    // "sbid" and "u1" take six bytes, "sbsig" and "s1" seven.
    for (bytes, left, keys) in [
      (4083, [], ["sbid", "sbsig", "x"]), (4084, ["sbsig"], ["sbid", "x"]), (4090, ["sbsig"], ["sbid", "x"]),
      (4091, ["sbid", "sbsig"], ["x"]), (4096, ["sbid", "sbsig"], ["x"]),
    ] as [(Int, [String], [String])] {
      let message = FCMMessage(draft(bytes), uid: "u1", signature: "s1")
      #expect(message.leftOut == left && message.problems.isEmpty, "\(bytes)")
      #expect(message.json["data"]?.object?.keys.sorted() == keys && message.size <= 4096, "\(bytes)")
      let context = Lint.Context(uid: "u1", signature: "s1")
      let found = Lint.findings(in: draft(bytes), context).filter { $0.problem.code == FCMMessageProblem.noRoom.code }
      #expect(found.map(\.severity) == (left.isEmpty ? [] : [.hint]), "\(bytes)")
    }
    let over = FCMMessage(draft(4097), uid: "u1", signature: "s1")
    #expect(over.problems.map(\.arguments["excess"]) == ["1"], "what the app itself has too much")
  }

  @Test("an iPhone of FCM's gets APNs' headers and payload, without the topic that FCM knows")
  func apple() {
    let apple = draft {
      $0.platforms = [.ios]
      $0.notification.image = "https://example.com/a.png"
      $0.notification.extras = ["order": 7]
      $0.options.timeToLive = 60
    }
    let payload = APNsPayload(apple, uid: "u1", signature: "s1")
    #expect(
      payload.fcmBlock(sentAt: Date(timeIntervalSince1970: 1_800_000_000)) == [
        "headers": ["apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "1800000060"],
        "payload": payload.json, "fcm_options": ["image": "https://example.com/a.png"],
      ])
    let silent = draft {
      ($0.platforms, $0.apns.payload) = ([.ios], ["aps": ["content-available": 1], "image": "none of ours"])
    }
    #expect(
      APNsPayload(silent).fcmBlock(sentAt: Date(timeIntervalSince1970: 0)) == [
        "headers": ["apns-push-type": "background", "apns-priority": "5"],
        "payload": ["aps": ["content-available": 1], "image": "none of ours"],
      ])
  }

  @Test(
    "what FCM does not carry to iPhones is a warning where it reaches some",
    arguments: [PushType.alert, .background, .voip, .liveactivity, .widgets])
  func pushTypes(type: PushType) {
    let other = draft {
      ($0.platforms, $0.options.pushType) = ([.ios], type)
      if type == .background { ($0.notification.title, $0.notification.contentAvailable) = (nil, true) }
    }
    for (reached, isWarned) in [(Set<Platform>(), false), ([.android], false), ([.ios], true)] {
      var context = Lint.Context()
      context.fcm = reached
      let found = Lint.findings(in: other, context).filter { $0.problem.code == FCMMessageProblem.pushType.code }
      #expect(found.map(\.severity) == (isWarned && ![.alert, .background].contains(type) ? [.warning] : []))
    }
  }

  @Test("data of the draft's own part is text")
  func text() {
    let problems = FCMMessage(draft { $0.android = ["data": ["a": 1, "b": "1", "c": .null]] }).problems
    #expect(problems.map(\.field) == ["android.data.a"])
    #expect(FCMMessage(draft { $0.android = ["data": "x"] }).problems.map(\.field) == ["android.data"])
  }

  @Test("data of the draft's own part joins the rest: the app still gets the extras, the link and the push's ID")
  func ownData() {
    let message = FCMMessage(
      draft {
        $0.notification.link = "order"
        $0.notification.extras = ["a": "1", "b": "1", "c": "1"]
        $0.android = ["data": ["b": "2", "c": .null, "d": "4"]]
      }, uid: "u1", signature: "s1")
    #expect(message.json["data"] == ["a": "1", "b": "2", "d": "4", "link": "order", "sbid": "u1", "sbsig": "s1"])
    #expect(message.json["android"] == ["priority": "HIGH"] && message.problems.isEmpty)
    #expect(!FCMMessage(draft { ($0.notification.title, $0.android) = (nil, ["data": ["x": "1"]]) }).isEmpty)
  }

  @Test(
    "a value of the draft's own part that FCM would refuse for every device is named",
    arguments: [
      (["notification": ["color": "red"]], "android.notification.color"), (["ttl": 3600], "android.ttl"),
      (["ttl": "2419201s"], "android.ttl"), (["priority": "urgent"], "android.priority"),
      (["fcm_options": ["analytics_label": "my label"]], "android.fcm_options.analytics_label"),
      (["direct_boot_ok": "yes"], "android.direct_boot_ok"),
    ] as [([String: JSONValue], String)])
  func value(own: [String: JSONValue], field: String) {
    let problems = FCMMessage(draft { $0.android = own }).problems
    #expect(problems.map(\.field) == [field] && problems.map(\.code) == [FCMMessageProblem.value.code])
  }

  @Test("right values of the draft's own part raise no problem, and null removes")
  func values() {
    let own: [String: JSONValue] = [
      "ttl": "3.5s", "priority": "high", "collapse_key": .null, "direct_boot_ok": true,
      "fcm_options": ["analytics_label": "spring_sale"],
      "notification": [
        "color": "#1a73e8", "channel_id": "news", "tag": .null, "notification_priority": "PRIORITY_MAX",
      ],
    ]
    #expect(FCMMessage(draft { $0.android = own }).problems.isEmpty)
  }
}
