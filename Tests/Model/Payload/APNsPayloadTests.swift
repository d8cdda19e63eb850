import Foundation
import JSON
import TestSupport
import Testing

@testable import Model

/// A draft that says "Hi" to everybody.
func draft(_ change: (inout PushDraft) -> Void = { _ in }) -> PushDraft {
  var notification = PushNotification()
  notification.body = "Hi"
  var draft = PushDraft(
    app: "com.example.app", environment: .development, platforms: [.ios], audience: .all, notification: notification)
  change(&draft)
  return draft
}

@Suite("What APNs gets")
struct APNsPayloadTests {
  static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func text(_ change: (inout PushDraft) -> Void, uid: String? = nil) -> String {
    String(decoding: APNsPayload(draft(change), uid: uid).body, as: UTF8.self)
  }

  @Test("the payload has Apple's keys in aps and the rest beside it, always in the same order")
  func payload() {
    #expect(text { _ in } == #"{"aps":{"alert":"Hi"}}"#)
    let whole = text(
      {
        $0.notification.title = "T/1"
        $0.notification.subtitle = "S"
        $0.notification.badge = 0
        $0.notification.sound = "default"
        $0.notification.category = "c"
        $0.notification.threadID = "t"
        $0.notification.interruptionLevel = .timeSensitive
        $0.notification.contentAvailable = true
        $0.notification.mutableContent = true
        $0.notification.link = "comment"
        $0.notification.image = "https://a.b/c"
        $0.notification.extras = ["zeta": 1, "alpha": [.double(0.5), "é"]]
      }, uid: "p1")
    #expect(
      whole
        == #"{"alpha":[0.5,"é"],"aps":{"alert":{"body":"Hi","subtitle":"S","title":"T/1"},"badge":0,"category":"c","#
        + #""content-available":1,"interruption-level":"time-sensitive","mutable-content":1,"sound":"default","#
        + #""thread-id":"t"},"image":"https://a.b/c","link":"comment","sbid":"p1","zeta":1}"#)
  }

  @Test("a raw payload is sent as it is")
  func raw() {
    let body = text({ $0.apns.payload = ["aps": ["badge": 2], "k": true] }, uid: "p1")
    #expect(body == #"{"aps":{"badge":2},"k":true}"#)
  }

  @Test("extras cannot replace aps")
  func reserved() {
    let payload = APNsPayload(draft { $0.notification.extras["aps"] = ["alert": "evil"] })
    #expect(payload.json["aps"] == ["alert": "Hi"])
    #expect(
      payload.problems.map(\.description) == [
        "notification.extras.aps: “aps” is reserved for Apple. Use another name for the app's own data."
      ])
  }

  @Test("push type and priority derive from the visible content")
  func derived() {
    let table: [((inout PushDraft) -> Void, PushType, Int)] = [
      ({ _ in }, .alert, 10),
      (
        {
          $0.notification.body = nil; $0.notification.contentAvailable = true
        }, .background, 5
      ),
      ({ $0.notification.contentAvailable = true }, .alert, 10),
      (
        {
          $0.notification.body = nil; $0.notification.badge = 0
        }, .alert, 10
      ),
      ({ $0.options.priority = .normal }, .alert, 5), ({ $0.options.priority = .low }, .alert, 1),
      (
        {
          $0.apns.headers = ["apns-priority": "1"]; $0.options.priority = .high
        }, .alert, 1
      ),
      ({ $0.options.pushType = .voip }, .voip, 10),
      (
        {
          $0.options.pushType = .voip; $0.apns.headers = ["apns-push-type": "location"]
        }, .location, 10
      ),
      ({ $0.apns.payload = ["aps": ["content-available": 1]] }, .background, 5),
      ({ $0.apns.payload = ["aps": ["content-available": true]] }, .background, 5),
      ({ $0.apns.payload = ["aps": ["content-available": 1, "sound": ""]] }, .background, 5),
      ({ $0.apns.payload = ["aps": ["alert": ["title": "x"], "content-available": 1]] }, .alert, 10),
      ({ $0.apns.payload = ["mdm": "magic"] }, .mdm, 10),
      ({ $0.apns.payload = ["aps": ["content-state": [:], "alert": "x"]] }, .liveactivity, 10),
    ]
    for (change, type, priority) in table {
      let payload = APNsPayload(draft(change))
      #expect(payload.pushType == type)
      #expect(payload.priority == priority)
    }
  }

  @Test("a push to Android alone that shows nothing counts as a background push, unless its type is given")
  func kind() {
    let table: [((inout PushDraft) -> Void, PushType)] = [
      ({ _ in }, .background), ({ $0.notification.body = "Hi" }, .alert),
      ({ $0.android = ["notification": ["title": "x"]] }, .alert),
      ({ $0.options.pushType = .alert }, .alert), ({ $0.platforms = [.ios, .android] }, .alert),
      ({ $0.apns.payload = ["mdm": "magic"] }, .mdm),
    ]
    for (change, type) in table {
      let found = draft {
        $0.platforms = [.android]
        $0.notification.body = nil
        change(&$0)
      }
      #expect(found.pushType == type, "\(found)")
    }
  }

  @Test(
    "the topic has the push type's suffix",
    arguments: [
      (PushType.alert, "com.example.app"), (.background, "com.example.app"), (.voip, "com.example.app.voip"),
      (.complication, "com.example.app.complication"), (.fileprovider, "com.example.app.pushkit.fileprovider"),
      (.location, "com.example.app.location-query"), (.liveactivity, "com.example.app.push-type.liveactivity"),
      (.pushtotalk, "com.example.app.voip-ptt"), (.controls, "com.example.app.push-type.controls"),
      (.widgets, "com.example.app.push-type.widgets"), (.mdm, nil),
    ] as [(PushType, String?)])
  func topics(type: PushType, topic: String?) {
    let payload = APNsPayload(draft { $0.options.pushType = type })
    #expect(payload.topic == topic)
    #expect(payload.topicMismatch == nil)
    #expect(payload.problems.map(\.code) == (topic == nil ? ["header.topic_needed"] : []))
  }

  @Test("a topic that does not suit the push type is noticed")
  func mismatch() {
    let payload = APNsPayload(draft { $0.apns.headers["apns-topic"] = "com.example.app.voip" })
    #expect(payload.topicMismatch?.code == "header.topic_suffix")
    expectFilled(payload.topicMismatch)
    // What APNs answers then leads back to the header.
    #expect(payload.topicMismatch?.text.contains("DeviceTokenNotForTopic") == true)
    #expect(Reason.of("DeviceTokenNotForTopic").remedy.contains("apns-topic"))
  }

  @Test("the expiration is the time of sending and the time to live")
  func expiration() {
    let table: [((inout PushDraft) -> Void, String?)] = [
      ({ _ in }, nil), ({ $0.options.timeToLive = 0 }, "0"), ({ $0.options.timeToLive = 60 }, "1800000060"),
      (
        {
          $0.options.timeToLive = 60; $0.apns.headers["apns-expiration"] = "7"
        }, "7"
      ),
    ]
    for (change, expiration) in table {
      #expect(APNsPayload(draft(change)).expiration(sentAt: Self.now) == expiration)
    }
  }

  @Test("the headers, in order, and only those that are set")
  func headers() {
    let least = APNsPayload(draft()).headers(sentAt: Self.now).map { "\($0.name): \($0.value)" }
    #expect(least == ["apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 10"])
    let most = APNsPayload(
      draft {
        $0.options.timeToLive = 0
        $0.options.collapseID = "k"
      })
    #expect(most.headers(sentAt: Self.now).map(\.name) == APNsHeader.all)
  }

  @Test("the size counts in bytes, against the push type's limit", arguments: [(PushType.alert, 4096), (.voip, 5120)])
  func size(type: PushType, limit: Int) {
    let frame = #"{"aps":{"alert":""}}"#.utf8.count
    func payload(_ bytes: Int) -> APNsPayload {
      let text = String(repeating: "é", count: (bytes - frame) / 2)
      let rest = String(repeating: "x", count: (bytes - frame) % 2)
      return APNsPayload(
        draft {
          $0.notification.body = text + rest
          $0.options.pushType = type
        })
    }
    #expect(payload(limit).body.count == limit)
    #expect(payload(limit).problems == [])
    #expect(payload(limit + 1).problems.map(\.code) == ["payload.too_large"])
    #expect(payload(limit + 1).problems.first?.arguments["excess"] == "1")
    expectFilled(payload(limit + 1).problems.first)
  }

  @Test("a draft made by a program is judged too, not only one that was read")
  func unread() {
    let payload = APNsPayload(
      draft {
        $0.apns.headers = ["apns-priority": "3", "apns-id": "x"]
        $0.apns.payload = ["aps": "text"]
        $0.options.collapseID = String(repeating: "x", count: 65)
      })
    #expect(
      payload.problems.map { "\($0.field) \($0.code)" } == [
        "apns.payload.aps payload.aps_form", "apns.headers.apns-id header.ours",
        "apns.headers.apns-priority header.priority", "options.collapse_id header.collapse_id",
      ])
  }
}

@Suite("The preview")
struct PreviewTests {
  @Test("request, size and commands, ready to copy")
  func preview() {
    let preview = Preview(
      draft { $0.notification.body = "It's" }, sentAt: APNsPayloadTests.now, address: "http://127.0.0.1:8080")
    #expect(preview.headers.map(\.name) == ["apns-topic", "apns-push-type", "apns-priority"])
    #expect(preview.json == "{\n  \"aps\" : {\n    \"alert\" : \"It's\"\n  }\n}")
    #expect(preview.size == 24)
    #expect(preview.limit == 4096)
    #expect(
      preview.apnsCommand == #"""
        curl --http2 --header "authorization: bearer $PROVIDER_TOKEN" \
          --header 'apns-topic: com.example.app' \
          --header 'apns-push-type: alert' \
          --header 'apns-priority: 10' \
          --data-raw '{"aps":{"alert":"It'\''s"}}' \
          "https://api.sandbox.push.apple.com/3/device/$DEVICE_TOKEN"
        """#)
    #expect(
      preview.apiCommand == #"""
        curl --header "Authorization: Bearer $SIGNALBOX_TOKEN" \
          --header 'Content-Type: application/json' \
          --data-raw '{"app":"com.example.app","audience":"all","environment":"development","notification":{"body":"It'\''s"},"platforms":["ios"]}' \
          'http://127.0.0.1:8080/api/v1/pushes'
        """#)
  }

  @Test("nothing in a text gets out of its quotation marks")
  func quoting() throws {
    let text = "a'b$(id)`x`\\\"\n!"
    let said = try OtherProgram.runNow("/bin/sh", ["-c", "printf %s \(Preview.quoted(text))"])
    #expect(String(decoding: said, as: UTF8.self) == text)
  }
}
