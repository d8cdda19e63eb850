import Foundation
import JSON
import Model
import Testing

/// A JPush request as a draft (docs/protocols.md §4.2).
@Suite("JPush requests")
struct JPushRequestTests {
  private static let app = "com.example.shop"
  static let plain: JSONValue = ["platform": "all", "audience": "all", "notification": ["alert": "Hi"]]

  private static func read(_ json: JSONValue) throws -> JPushRequest { try JPushRequest(json, app: app) }

  private static func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Data(text.utf8)) }

  /// A request with one member replaced; null removes it.
  private static func with(_ members: [String: JSONValue]) -> JSONValue {
    .object((plain.object ?? [:]).merging(members) { $1 })
  }

  private static func error(_ json: JSONValue) -> JPushError? {
    do throws(JPushError) {
      _ = try JPushRequest(json, app: app)
      return nil
    } catch {
      return error
    }
  }

  @Test("the least push: everyone, in production, for a day")
  func least() throws {
    let request = try Self.read(Self.plain)
    #expect(request.draft.environment == .production, "apns_production is absent")
    #expect(request.draft.audience == .all && request.draft.platforms == [.ios, .android])
    #expect(request.draft.notification.body == "Hi" && request.draft.apns.payload == nil)
    #expect(request.draft.options.timeToLive == 86_400)
    #expect(request.sendno == 0 && request.cid == nil && request.replaces == nil)
    #expect(request.draft.unused == [] && request.draft.jpush.isEmpty)
  }

  @Test("the complete request of JPush's documents")
  func complete() throws {
    let request = try Self.read(
      try Self.parse(
        """
        {"cid":"8103a4c628a0b98994ec1949-711261d4-5f17-4d2f-a855-5e5a8909b26e","platform":["ios","android"],
         "audience":{"alias":["usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d"]},
         "notification":{"alert":"Hi","ios":{"alert":{"title":"t","body":"b"},"sound":"default","badge":"+1",
           "thread-id":"x","extras":{"type":"like"}},
           "android":{"alert":"Hi","title":"t","extras":{"type":"like"}}},
         "message":{"msg_content":"Hi","content_type":"text","title":"m","extras":{"k":"v"}},
         "options":{"sendno":18,"time_to_live":60,"apns_production":false,"apns_collapse_id":"k",
           "big_push_duration":10}}
        """))
    let draft = request.draft
    #expect(request.sendno == 18 && request.cid?.hasSuffix("5e5a8909b26e") == true)
    #expect(draft.environment == .development && draft.options.timeToLive == 60)
    #expect(draft.options.collapseID == "k" && draft.options.spreadMinutes == 10)
    guard case .rule(let rule) = draft.audience else {
      Issue.record("everyone would get it")
      return
    }
    #expect(rule.alias == ["usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d"])
    #expect(draft.notification.title == "t" && draft.notification.body == "Hi")
    let message: JSONValue = [
      "msg_content": "Hi", "content_type": "text", "title": "m", "extras": ["k": "v"],
    ]
    #expect(draft.notification.extras == ["type": "like", "message": message])
    #expect(
      draft.apns.payload == [
        "aps": ["alert": ["title": "t", "body": "b"], "badge": "+1", "sound": "default", "thread-id": "x"],
        "type": "like", "message": message,
      ])
    #expect(request.draft.unused == [] && draft.options.anyAndroid)
    // What differs for iOS is still the push's own: the app drops its duplicates, and reports it.
    let payload = APNsPayload(draft, uid: "u1", signature: "s1").json
    #expect(payload["sbid"] == "u1" && payload["sbsig"] == "s1")
  }

  @Test("the kinds of an audience are taken over, and empty lists are none")
  func audience() throws {
    let request = try Self.read(
      Self.with([
        "audience": [
          "tag": ["深圳", "b"], "tag_and": ["c"], "tag_not": ["d"], "alias": [], "registration_id": ["1a0018970aa"],
        ]
      ]))
    guard case .rule(let rule) = request.draft.audience else {
      Issue.record("everyone would get it")
      return
    }
    #expect(rule.tag == ["深圳", "b"] && rule.tagAnd == ["c"] && rule.tagNot == ["d"] && rule.alias == [])
    #expect(rule.registrationID == ["1a0018970aa"])
  }

  @Test("only platforms with content get something")
  func platforms() throws {
    #expect(
      try Self.read(Self.with(["notification": ["android": ["alert": "Hi"]]])).draft.platforms == [.android])
    #expect(try Self.read(Self.with(["notification": ["ios": ["alert": "Hi"]]])).draft.platforms == [.ios])
    #expect(try Self.read(Self.with(["platform": "ios"])).draft.platforms == [.ios])
    let message = try Self.read(Self.with(["notification": .null, "message": ["msg_content": "x"]])).draft
    #expect(message.platforms == [.ios, .android] && message.notification.contentAvailable)
    #expect(message.notification.extras == ["message": ["msg_content": "x"]])
    #expect(APNsPayload(message).pushType == .background)
  }

  @Test(
    "iOS parts as APNs gets them",
    arguments: [
      (#"{"alert":"Hi","sound":"default","badge":5}"#, #"{"aps":{"alert":"Hi","badge":5,"sound":"default"}}"#),
      (#"{"alert":"","badge":"0","sound":""}"#, #"{"aps":{"badge":0}}"#),
      (
        #"{"alert":{"loc-key":"K","loc-args":["a"]},"extras":{"k":1}}"#,
        #"{"aps":{"alert":{"loc-args":["a"],"loc-key":"K"}},"k":1}"#
      ),
      (
        #"{"alert":"Hi","sound":{"critical":1,"name":"a.caf","volume":0.5}}"#,
        #"{"aps":{"alert":"Hi","sound":{"critical":1,"name":"a.caf","volume":0.5}}}"#
      ),
      (
        #"{"content-available":1,"mutable-content":true,"category":"c","thread-id":"t","alert":{"subtitle":"s","body":"b"}}"#,
        #"{"aps":{"alert":{"body":"b","subtitle":"s"},"category":"c","content-available":1,"mutable-content":1,"thread-id":"t"}}"#
      ),
      (
        #"{"alert":"Hi","interruption-level":"timeSensitive"}"#,
        #"{"aps":{"alert":"Hi","interruption-level":"time-sensitive"}}"#
      ),
      (#"{"sound":"a.caf"}"#, #"{"aps":{"alert":"Default","sound":"a.caf"}}"#),
    ])
  func ios(part: String, payload: String) throws {
    let request = try Self.read(
      Self.with(["platform": ["ios"], "notification": ["alert": "Default", "ios": try Self.parse(part)]]))
    #expect(APNsPayload(request.draft).json == (try Self.parse(payload)))
  }

  @Test("what only changes how Android draws it is named, and what changes who sees it when is refused")
  func android() throws {
    let request = try Self.read(
      Self.with([
        "notification": [
          "android": [
            "alert": "Hi", "title": "T", "builder_id": 1, "channel_id": "news", "style": 1, "extras": ["a": "b"],
          ]
        ]
      ]))
    #expect(request.draft.android == ["notification": ["channel_id": "news"]])
    #expect(request.draft.unused == [] && request.draft.jpush.android == ["builder_id": 1, "style": 1])
    #expect(request.draft.notification.title == "T" && request.draft.notification.extras == ["a": "b"])
    for (name, badge) in [("badge_set_num", Badge.set(3)), ("badge_add_num", .add(3))] {
      let numbered = try Self.read(Self.with(["notification": ["android": ["alert": "Hi", name: 3]]]))
      #expect(numbered.draft.unused.isEmpty && numbered.draft.notification.badge == badge)
      let wrong = Self.error(Self.with(["notification": ["android": ["alert": "Hi", name: 100]]]))
      #expect(wrong?.code == .invalid && wrong?.message.contains(name) == true)
    }
    let hours = Self.error(Self.with(["notification": ["android": ["alert": "x", "show_begin_time": "2026"]]]))
    #expect(hours?.code == .noRight && hours?.message.contains("show_begin_time") == true)
  }

  @Test(
    "a wrong request is refused with JPush's code, and the place is named",
    arguments: [
      (#"{"platform":null}"#, 1002, "platform"), (#"{"audience":null}"#, 1002, "audience"),
      (#"{"notification":null}"#, 1002, "notification"),
      (#"{"notification":{"android":{}}, "platform":"ios"}"#, 1002, ""),
      (#"{"platform":["ios","symbian"]}"#, 1003, "symbian"), (#"{"platform":[]}"#, 1003, "platform"),
      (#"{"platform":["winphone"]}"#, 2007, "winphone"), (#"{"platform":"hmos"}"#, 2007, "hmos"),
      (#"{"audience":{}}"#, 1003, "audience is empty"),
      (#"{"audience":{"tag":[],"alias":[]}}"#, 1003, "audience is empty"),
      (#"{"audience":"everyone"}"#, 1003, "\"all\""), (#"{"audience":{"tag":"a"}}"#, 1003, "JSON Array"),
      (#"{"audience":{"tag":[1]}}"#, 1003, "tag"), (#"{"audience":{"tags":["a"]}}"#, 1009, "audience.tags"),
      (#"{"audience":{"segment":["a","b"]}}"#, 1003, "audience.segment"),
      (#"{"audience":{"segment":[" a"]}}"#, 1003, "segment"),
      (#"{"audience":{"abtest":["a"]}}"#, 2006, "abtest"),
      (#"{"audience":{"registration_id":["no-id"]}}"#, 1003, "registration_id"),
      (#"{"colour":1}"#, 1009, "colour"), (#"{"sms_message":{"temp_id":1}}"#, 2007, "sms_message"),
      (#"{"live_activity":{"ios":{"event":"end"}}}"#, 2007, "live_activity"),
      (#"{"voip":{"k":"v"}}"#, 2007, "voip"), (#"{"notification":{"voip":{"k":"v"}}}"#, 2007, "notification.voip"),
      (#"{"notification_3rd":{"content":"x"}}"#, 2006, "notification_3rd"),
      (#"{"inapp_message":{"inapp_message":true}}"#, 2006, "inapp_message"),
      (#"{"notification":{"alert":"x","ai_opportunity":true}}"#, 2006, "notification.ai_opportunity"),
      (#"{"notification":{"alert":"x","alternate_alert":"y"}}"#, 2006, "notification.alternate_alert"),
      (#"{"message":{"msg_content":"x","alternate_title":"y"}}"#, 2006, "message.alternate_title"),
      (#"{"options":{"target_event":["buy"]}}"#, 2006, "options.target_event"),
      (#"{"options":{"notification_switch_filter":true}}"#, 2006, "options.notification_switch_filter"),
      (#"{"notification":{"ios":{"alert":"x","content_available":true}}}"#, 1009, "Use “content-available”."),
      (#"{"notification":{"ios":{"alert":"x","mutable_content":1}}}"#, 1009, "Use “mutable-content”."),
      (#"{"notification":{"ios":{"alert":"x","threadId":"t"}}}"#, 1009, "Use “thread-id”."),
      (#"{"notification":{"ios":{"alert":"x","body":"y"}}}"#, 1009, "Use “notification.ios.alert.body”."),
      (#"{"audience":{"tags":["a"]}}"#, 1009, "Use “tag”."),
      (#"{"apns_production":true}"#, 1009, "Use “options.apns_production”."),
      (#"{"options":{"colour":1}}"#, 1009, "Remove this key."),
      (#"{"notification":{"winphone":{"alert":"x"}}}"#, 2007, "notification.winphone"),
      (#"{"notification":{"quickapp":{"alert":"x"}}}"#, 2007, "notification.quickapp"),
      (#"{"notification":{"ios":{"alert":"x","title":"y"}}}"#, 1009, "notification.ios.title"),
      (#"{"notification":{"android":{"alert":"x","content_available":true}}}"#, 1009, "content_available"),
      (#"{"notification":{"ios":{"alert":"x","badge":100000}}}"#, 1003, "badge"),
      (#"{"notification":{"ios":{"alert":"x","badge":-1}}}"#, 1003, "badge"),
      (#"{"notification":{"ios":{"alert":7}}}"#, 1003, "alert"),
      (#"{"notification":{"ios":{"alert":"x","interruption-level":"loud"}}}"#, 1003, "interruption-level"),
      (#"{"message":{"title":"x"}}"#, 1002, "msg_content"),
      (#"{"message":{"msg_content":"x","y":1}}"#, 1009, "message.y"),
      (#"{"options":{"options":{"apns_production":true}}}"#, 1009, "options.options"),
      (#"{"options":{"time_to_live":864001}}"#, 1003, "time_to_live"), (#"{"options":{"time_to_live":-1}}"#, 1003, ""),
      (#"{"options":{"big_push_duration":1401}}"#, 1003, "big_push_duration"),
      (#"{"options":{"apns_production":"maybe"}}"#, 1003, "apns_production"),
      (#"{"options":{"sendno":"x"}}"#, 1003, "options.sendno must be a whole number."),
      (#"{"options":{"test_mode":true}}"#, 1009, "options.test_mode"),
      (#"{"options":{"override_msg_id":"x"}}"#, 1003, "override_msg_id"), (#"{"cid":"a b"}"#, 1003, "cid"),
    ])
  func refused(change: String, code: Int, place: String) throws {
    let members = try #require(try Self.parse(change).object)
    let error = try #require(Self.error(Self.with(members)))
    #expect(error.code.rawValue == code, "\(change): \(error.message)")
    #expect(place.isEmpty || error.message.contains(place), "\(error.message)")
  }

  @Test(
    "keys of JPush's libraries that change nothing are taken and named; a value that asks for nothing is one, too",
    arguments: [
      (#"{"notification":{"alert":"x","ai_opportunity":false}}"#, ["notification.ai_opportunity"]),
      (
        #"{"notification":{"alert":"x","hmos":{"alert":"x"},"quickapp":{},"winphone":{"alert":"x"}}}"#,
        ["notification.hmos", "notification.quickapp", "notification.winphone"]
      ),
      (#"{"platform":["android","hmos","hmos"]}"#, ["platform.hmos"]), (#"{"platform":["all"]}"#, []),
      (
        #"{"inapp_message":{"inapp_message":false},"sms_message":{},"live_activity":{}}"#,
        ["inapp_message", "live_activity", "sms_message"]
      ),
      (
        #"{"options":{"alternate_set":false,"test_model":false,"geofence":{}}}"#,
        ["options.alternate_set", "options.geofence", "options.test_model"]
      ),
      (#"{"notification":{"ios":{"alert":"x","badge":"auto"}}}"#, ["notification.ios.badge"]),
    ] as [(String, [String])])
  func unused(change: String, names: [String]) throws {
    let members = try #require(try Self.parse(change).object)
    #expect(try Self.read(Self.with(members)).draft.unused == names)
  }

  @Test("what only JPush knows goes to the devices that JPush reaches, and is written as it came")
  func forJPush() throws {
    let android: [String: JSONValue] = [
      "icon_bg_color": "#fff", "custom_buttons": [["name": "a", "action_type": 1]], "uri_flag": "x",
      "mipns_content_forshort": "m", "oppns_content_forshort": "o", "vpns_content_forshort": "v",
      "mzpns_content_forshort": "z", "style": 2, "inbox": ["a": "b"], "big_text": "t", "category": "c",
      "intent": ["url": "u"], "priority": 2, "alert_type": 7,
    ]
    let options: [String: JSONValue] = [
      "classification": 1, "third_party_channel": ["huawei": ["importance": "NORMAL"]], "receipt_id": "r",
      "notification_3rd_ver": "v2",
    ]
    let callback: JSONValue = ["url": "https://example.com", "params": ["a": 1], "type": 3]
    let draft = try Self.read(
      Self.with([
        "notification": ["android": .object(android.merging(["alert": "Hi"]) { $1 })], "options": .object(options),
        "callback": callback,
      ])
    ).draft
    #expect(draft.jpush.android == android && draft.jpush.options == options && draft.jpush.callback == callback)
    #expect(try draft.unused == [] && PushDraft(json: draft.json) == draft)
    let body = JPushMessage(draft).request(to: [.android], audience: "all", cid: nil)
    for (key, value) in android { #expect(body["notification"]?["android"]?[key] == value, "\(key)") }
    for (key, value) in options { #expect(body["options"]?[key] == value, "\(key)") }
    #expect(body["callback"] == callback && body["notification"]?["android"]?["alert"] == "Hi")
    // FCM's message has nothing of it.
    #expect(FCMMessage(draft).json["android"]?["notification"]?["style"] == nil)
    let long = JSONValue.string(String(repeating: "x", count: 8000))
    let huge = Self.error(Self.with(["options": ["third_party_channel": ["vivo": ["callback_id": long]]]]))
    #expect(huge?.message.contains("8000") == true)
    for wrong in [#"{"android":{"alert":"x"}}"#, #"{"options":{"sendno":1}}"#, #"{"other":{}}"#] {
      var json = draft.json.object ?? [:]
      json["jpush"] = try Self.parse(wrong)
      #expect(throws: Problems.self) { try PushDraft(json: .object(json)) }
    }
  }

  @Test("a subtitle beside the alert, as JPush's library for Java writes it, is shown")
  func subtitle() throws {
    for alert in ["b", ["body": "b", "loc-key": "k"]] as [JSONValue] {
      let request = try Self.read(
        Self.with(["platform": "ios", "notification": ["ios": ["alert": alert, "subtitle": "s"]]]))
      #expect(APNsPayload(request.draft).json["aps"]?["alert"]?["subtitle"] == "s")
    }
  }

  @Test("limits of tags, aliases, names and sizes")
  func limits() throws {
    func error(tags: Int, of kind: String) -> JPushError? {
      Self.error(Self.with(["audience": [kind: .array((0..<tags).map { .string("a\($0)") })]]))
    }
    func size(_ notification: JSONValue) -> JPushError? { Self.error(Self.with(["notification": notification])) }
    for kind in ["tag", "tag_and", "tag_not"] {
      #expect(error(tags: 20, of: kind) == nil && error(tags: 21, of: kind)?.code == .invalid)
    }
    for kind in ["alias", "registration_id"] {
      #expect(error(tags: 1000, of: kind) == nil && error(tags: 1001, of: kind)?.code == .invalid)
    }
    let long = String(repeating: "x", count: 64)
    #expect(Self.error(Self.with(["options": ["apns_collapse_id": .string(long)]])) == nil)
    #expect(Self.error(Self.with(["options": ["apns_collapse_id": .string(long + "x")]]))?.code == .invalid)
    // {"alert":"…"} has 12 bytes around the text.
    func text(_ count: Int) -> JSONValue { .string(String(repeating: "x", count: count)) }
    #expect(size(["ios": ["alert": text(1988)]]) == nil)
    #expect(size(["ios": ["alert": text(1989)]])?.code == .tooLarge)
    #expect(size(["android": ["alert": text(3988)]]) == nil)
    #expect(size(["android": ["alert": text(3989)]])?.code == .tooLarge)
    // An alert of all platforms counts as that of each.
    #expect(size(["alert": text(1988)]) == nil && size(["alert": text(1989)])?.code == .tooLarge)
    #expect(size(["alert": text(1989), "ios": ["alert": "x"]]) == nil)
    #expect(size(["alert": text(3989), "ios": ["alert": "x"]])?.code == .tooLarge)
    #expect(size(["alert": text(3989), "ios": ["alert": "x"], "android": ["alert": "x"]]) == nil)
    func message(_ count: Int) -> JPushError? {
      Self.error(["platform": "ios", "audience": "all", "message": ["msg_content": text(count)]])
    }
    #expect(message(3982) == nil && message(3983)?.code == .tooLarge)
  }

  @Test("a limit of Signalbox's own is refused at the field of the request")
  func ownLimits() {
    let long = JSONValue.string(String(repeating: "x", count: 257))
    for (platform, notification, field) in [
      ("all", ["android": ["alert": "Hi", "title": long]], "notification.android.title"),
      ("ios", ["ios": ["alert": ["title": long, "body": "Hi"]]], "notification.ios.alert.title"),
      ("ios", ["alert": "Hi", "ios": ["thread-id": long]], "notification.ios.thread-id"),
      ("all", ["alert": "Hi", "ios": ["sound": long], "android": ["sound": long]], "notification.ios.sound"),
    ] as [(JSONValue, JSONValue, String)] {
      let error = Self.error(Self.with(["platform": platform, "notification": notification]))
      #expect(error?.code == .invalid && error?.field == field, "\(error?.message ?? "accepted")")
      #expect(error?.message.hasPrefix(field + ": ") == true)
    }
  }

  @Test("what is wrong with a draft is told at the field of the request that it was read from")
  func fields() throws {
    let both = try Self.read(Self.plain).draft
    let apart = try Self.read(
      Self.with(["notification": ["ios": ["alert": ["loc-key": "k"]], "android": ["alert": "Hi"]]])
    ).draft
    let android = try Self.read(Self.with(["platform": "android"])).draft
    for (draft, field, expected) in [
      (both, "notification", "notification"), (both, "notification.body", "notification.alert"),
      (both, "notification.extras.from", "notification.ios.extras.from"),
      (apart, "notification.body", "notification.android.alert"), (apart, "apns.payload", "notification.ios"),
      (apart, "notification", "notification.android"), (android, "notification", "notification.android"),
      (both, "audience.segment[0]", "audience.segment[0]"), (both, "environment", "options.apns_production"),
      (both, "options.spread_minutes", "options.big_push_duration"), (both, "app", ""),
    ] {
      #expect(draft.jpushProblem(Problem(field, DraftMessage.nobody)).field == expected, "\(field)")
    }
  }

  @Test(
    "the three user IDs of the seed: too long, a forbidden character, and the form that the app makes of it",
    arguments: [
      ("user-e6882cab-cedf-4335-9b7c-612cd5b4d37d", 6004, 1003), ("e6882cab-cedf-4335-9b7c-612cd5b4d37d", 6003, 1003),
      ("usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d", 0, nil),
    ] as [(String, Int, Int?)])
  func seed(alias: String, result: Int, code: Int?) {
    #expect(AliasRule.resultCode(for: alias).rawValue == result, "what the client library answers the app")
    let error = Self.error(Self.with(["audience": ["alias": [.string(alias)]]]))
    #expect(error?.code.rawValue == code, "what the server's caller gets")
    if code != nil { #expect(error?.message.contains(alias) == true) }
  }

  @Test("a push in a batch has a target instead of an audience")
  func batch() throws {
    let push: JSONValue = ["platform": "ios", "target": "1a0018970aa", "notification": ["alert": "Hi"]]
    let request = try JPushRequest(push, app: Self.app, target: .registrationID)
    guard case .rule(let rule) = request.draft.audience else {
      Issue.record("everyone would get it")
      return
    }
    #expect(rule.registrationID == ["1a0018970aa"])
    #expect(throws: JPushError.self) { try JPushRequest(push, app: Self.app) }
    #expect(throws: JPushError.self) {
      try JPushRequest(Self.plain, app: Self.app, target: .alias)
    }
    #expect(throws: JPushError.self) {
      try JPushRequest(
        ["platform": "ios", "target": "a-b", "notification": ["alert": "Hi"]], app: Self.app, target: .alias)
    }
  }

  @Test("override_msg_id takes the collapse ID of the push that it replaces")
  func replacing() throws {
    var request = try Self.read(Self.with(["options": ["override_msg_id": "7"]]))
    #expect(request.replaces == 7)
    #expect(throws: JPushError.self) { try request.replace(nil) }
    #expect(throws: JPushError.self) { try request.replace(try Self.read(Self.plain).draft) }
    let earlier = try Self.read(Self.with(["options": ["apns_collapse_id": "k"]])).draft
    try request.replace(earlier)
    #expect(request.draft.options.collapseID == "k")
  }

  @Test("a draft survives storage, whatever the request has")
  func storage() throws {
    let draft = try Self.read(
      Self.with(["notification": ["ios": ["alert": ["loc-key": "K"]], "android": ["alert": "x"]]])
    ).draft
    #expect(try PushDraft(json: draft.json) == draft)
  }
}

@Suite("JPush codes")
struct JPushErrorTests {
  @Test("each part of the API has its own codes for the same failure")
  func families() {
    for (path, family) in [
      ("/v3/push/cid", JPushFamily.push), ("/v3/grouppush", .push), ("/v1/app", .push), ("/v3", .push),
      ("/v3/devices/1/", .device), ("/v3/aliases/a", .device), ("/v3/tags/", .device), ("/v3/schedules", .schedule),
      ("/v3/received/detail", .report), ("/v3/users", .report), ("/v3/status/message", .report),
    ] { #expect(JPushFamily(path: path) == family, "\(path)") }
    for path in ["/", "/api/v1/apps", "/v31/push", "/pushes/v3/x", ""] { #expect(JPushFamily(path: path) == nil) }
    #expect(JPushFamily.allCases.map { $0.code(status: 401).rawValue } == [1004, 7004, 3001, 8101])
    #expect(JPushFamily.allCases.map { $0.code(status: 404).rawValue } == [1003, 7002, 1003, 8104])
    #expect(JPushFamily.allCases.map { $0.code(status: 405).rawValue } == [1001, 7002, 1003, 8100])
    #expect(JPushFamily.allCases.map { $0.code(status: 413).rawValue } == [1005, 7002, 1003, 8100])
    #expect(JPushFamily.allCases.map { $0.code(status: 429).rawValue } == [2002, 2002, 2002, 2002])
    #expect(JPushFamily.allCases.map { $0.code(status: 500).rawValue } == [1000, 7000, 10, 8200])
    #expect(JPushFamily.allCases.map { $0.code(status: 503).rawValue } == [1030, 7030, 10, 8203])
    #expect(JPushFamily.allCases.map(\.quota) == [600, 600, 2400, 100])
  }

  @Test("the statuses of JPush's table")
  func statuses() {
    let table: [Int: [Int]] = [
      400: [1002, 1003, 1005, 1009, 1011, 7002, 7013, 7015, 3004, 3005, 8100], 401: [1004, 7001, 7004, 3001, 8101],
      403: [2006, 2007], 404: [8104], 405: [1001], 429: [2002], 500: [1000, 7000, 10, 8200], 503: [1030, 7030, 8203],
    ]
    let found = Dictionary(grouping: JPushCode.allCases) { $0.status }.mapValues { Set($0.map(\.rawValue)) }
    #expect(found == table.mapValues(Set.init))
    #expect(JPushError(.unknownKey, "x").answered(by: .schedule) == JPushError(.scheduleInvalid, "x"))
    #expect(JPushError(.unknownKey, "x").answered(by: .push).code == .unknownKey)
    #expect(JPushError(.aliasFull, "x").answered(by: .device).code == .aliasFull)
  }
}
