import JSON
import Model
import Testing

/// The blocks and limits of docs/protocols.md §4.2.
@Suite("JPush message")
struct JPushMessageTests {
  private func draft(_ change: (inout PushDraft) -> Void = { _ in }) -> PushDraft {
    var draft = PushDraft(
      app: "com.example.shop", environment: .development, platforms: [.ios, .android], audience: .all,
      notification: Notification())
    (draft.notification.title, draft.notification.body) = ("Hello", "World")
    change(&draft)
    return draft
  }

  @Test("both blocks show the same, and the environment is always stated")
  func blocks() {
    let message = JPushMessage(
      draft { draft in
        draft.notification.badge = 3
        draft.notification.sound = "default"
        draft.notification.threadID = "t"
        draft.notification.category = "c"
        draft.notification.interruptionLevel = .timeSensitive
        draft.notification.contentAvailable = true
        draft.notification.mutableContent = true
        draft.notification.image = "https://example.com/a.png"
        draft.notification.link = "orders"
        draft.notification.extras = ["n": 7]
        draft.options.timeToLive = 60
        draft.options.collapseID = "k"
        draft.android = ["notification": ["channel_id": "news"]]
      }, uid: "u1")
    let extras: JSONValue = ["n": 7, "link": "orders", "image": "https://example.com/a.png", "sbid": "u1"]
    let body = message.request(
      to: [.ios, .android], audience: ["registration_id": ["a"]], cid: "c-1", sendno: 5, timeToLive: 50)
    #expect(
      body == [
        "cid": "c-1", "platform": ["ios", "android"], "audience": ["registration_id": ["a"]],
        "notification": [
          "ios": [
            "alert": ["title": "Hello", "body": "World"], "badge": 3, "sound": "default", "thread-id": "t",
            "category": "c", "interruption-level": "timeSensitive", "content-available": true, "mutable-content": true,
            "extras": extras,
          ],
          "android": [
            "alert": "World", "title": "Hello", "sound": "default", "badge_set_num": 3, "style": 3,
            "big_pic_path": "https://example.com/a.png", "channel_id": "news", "extras": extras,
          ],
        ],
        "options": ["apns_production": false, "sendno": 5, "time_to_live": 50, "apns_collapse_id": "k"],
      ])
    #expect(message.fitsBothPlatforms && message.problems.isEmpty && message.lost.isEmpty)
  }

  @Test("our own reader of JPush's requests takes every request, and reads the same push back")
  func readBack() throws {
    let before = draft { draft in
      draft.notification.subtitle = "s"
      draft.notification.interruptionLevel = .passive
      draft.options.timeToLive = 60
    }
    let body = JPushMessage(before).request(to: [.ios], audience: "all", cid: nil)
    let after = try JPushRequest(body, app: "com.example.shop").draft
    #expect(after.notification == before.notification && after.environment == .development)
    #expect(after.options.timeToLive == 60 && after.platforms == [.ios])
  }

  @Test("a silent push is a message for Android alone, because iPhones would get it too")
  func silent() {
    let message = JPushMessage(
      draft { draft in
        draft.notification = Notification()
        draft.notification.contentAvailable = true
        draft.notification.extras = ["n": 7]
      })
    #expect(!message.fitsBothPlatforms)
    let ios = message.request(to: [.ios], audience: "all", cid: nil)
    #expect(
      ios["notification"] == ["ios": ["alert": "", "content-available": true, "extras": ["n": 7]]]
        && ios["message"] == nil)
    let android = message.request(to: [.android], audience: "all", cid: nil)
    #expect(android["message"] == ["msg_content": "data", "extras": ["n": 7]] && android["notification"] == nil)
  }

  @Test("a custom message reaches the app as it came in, alone and beside a notification")
  func customMessage() throws {
    let given: JSONValue = ["msg_content": "Hi", "title": "t", "content_type": "text", "extras": ["k": "v"]]
    func sent(_ notification: JSONValue) throws -> JPushMessage {
      let body: JSONValue = ["platform": "android", "audience": "all", "notification": notification, "message": given]
      return JPushMessage(try JPushRequest(body, app: "com.example.shop").draft, uid: "u1")
    }
    let alone = try sent(.null)
    #expect(
      alone.message == [
        "msg_content": "Hi", "title": "t", "content_type": "text", "extras": ["k": "v", "sbid": "u1"],
      ] && alone.android == nil)
    let both = try sent(["android": ["alert": "Hello", "channel_id": "news", "extras": ["n": 7]]])
    #expect(both.message == given && !both.fitsBothPlatforms)
    #expect(both.android == ["alert": "Hello", "channel_id": "news", "extras": ["n": 7, "sbid": "u1"]])
    let other = draft { $0.notification.extras = ["message": ["msg_content": "x", "unknown": 1]] }
    #expect(JPushMessage(other).message == nil, "JPush would refuse it")
  }

  @Test("2000 bytes for iOS and 4000 for Android are the limits, with JPush's code beside our words")
  func limits() throws {
    func codes(_ bytes: Int, _ platforms: Set<Platform>) -> [String] {
      let message = JPushMessage(
        draft { draft in
          draft.platforms = platforms
          draft.notification.title = nil
          draft.notification.body = String(repeating: "x", count: bytes)
        })
      return message.problems.map(\.code)
    }
    // {"alert":"…"} has 12 bytes beside the text.
    #expect(codes(1988, [.ios]) == [] && codes(1989, [.ios]) == ["jpush.too_large"])
    #expect(codes(3988, [.android]) == [] && codes(3989, [.android]) == ["jpush.too_large"])
    #expect(codes(3988, [.ios, .android]) == ["jpush.too_large"])
    let long = draft { $0.options.timeToLive = 864_001 }
    #expect(JPushMessage(long).problems.map(\.code) == ["jpush.time_to_live"])
    let findings = Lint.findings(in: long, Lint.Context(jpush: Set(Platform.allCases)))
    let finding = findings.first { $0.problem.code == "jpush.time_to_live" }
    #expect(finding?.severity == .error && finding?.problem.text.contains("1003") == true)
    let large = draft { $0.notification.body = String(repeating: "x", count: 2500) }
    let onAndroid = Lint.findings(in: large, Lint.Context(jpush: [.android]))
    #expect(onAndroid.allSatisfy { $0.problem.code != "jpush.too_large" }, "iPhones get it from Apple")
    #expect(Lint.findings(in: long).allSatisfy { !$0.problem.code.hasPrefix("jpush") }, "without JPush devices")
  }

  @Test("keys of aps that JPush cannot carry are named")
  func lost() {
    let raw = draft { draft in
      draft.platforms = [.ios]
      draft.notification = Notification()
      draft.apns.payload = ["aps": ["alert": "x", "relevance-score": 1, "filter-criteria": "f"], "k": 1]
    }
    let message = JPushMessage(raw)
    #expect(message.lost == ["filter-criteria", "relevance-score"])
    #expect(message.ios == ["alert": "x", "extras": ["k": 1]])
    let codes = Lint.findings(in: raw, Lint.Context(jpush: Set(Platform.allCases))).map(\.problem.code)
    #expect(codes.contains("jpush.lost"))
  }
}
