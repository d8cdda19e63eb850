import Foundation
import JSON
import Model
import Testing

@Suite("Dialects: one push in the words of each service")
struct DialectTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private static let token = String(repeating: "0f", count: 32)

  private static func draft(_ change: (inout PushDraft) -> Void = { _ in }) -> PushDraft {
    var draft = PushDraft(
      app: "com.example.app", environment: .production, platforms: Set(Platform.allCases), audience: .all,
      notification: Notification())
    draft.notification.title = "It's lunch"
    draft.notification.body = "two\nlines, \"quoted\" \\ 午饭"
    draft.options.timeToLive = 3600
    change(&draft)
    return draft
  }

  private static func text(_ draft: PushDraft, _ dialect: Dialect) -> DialectText {
    DialectText(draft, in: dialect, sentAt: now, address: "http://127.0.0.1:8080")
  }

  struct Trip: Sendable, CustomTestStringConvertible {
    let name: String
    let draft: PushDraft
    var testDescription: String { name }

    init(_ name: String, _ change: (inout PushDraft) -> Void) {
      (self.name, draft) = (name, DialectTests.draft(change))
    }
  }

  private static func rule(_ change: (inout Audience.Rule) -> Void) -> Audience {
    var rule = Audience.Rule()
    change(&rule)
    return .rule(rule)
  }

  static let trips: [Trip] = [
    Trip("a title and a text") { _ in },
    Trip("a text alone") { $0.notification.title = nil },
    Trip("every field of the notification") {
      $0.notification.subtitle = "at noon"
      $0.notification.badge = 3
      $0.notification.sound = "bell"
      $0.notification.category = "MEAL"
      $0.notification.threadID = "kitchen"
      $0.notification.interruptionLevel = .timeSensitive
      $0.notification.link = "comment"
      $0.notification.contentAvailable = true
      $0.notification.mutableContent = true
      $0.notification.extras = ["order": 7, "paid": true, "name": "Anna", "list": [1, "2"]]
    },
    Trip("a picture") {
      $0.notification.image = "https://example.com/a.png"
      $0.notification.mutableContent = true
    },
    Trip("a collapse ID, and one attempt") {
      $0.options.collapseID = "lunch"
      $0.options.timeToLive = 0
    },
    Trip("nothing to show") {
      $0.notification = Notification()
      $0.notification.contentAvailable = true
      $0.notification.extras = ["sync": "1"]
    },
    Trip("development") { $0.environment = .development },
  ]

  /// What the dialect carries of the draft; the platforms that it can reach.
  private static func expected(_ draft: PushDraft, _ dialect: Dialect) -> PushDraft {
    var draft = draft
    switch dialect {
    case .signalbox, .jpush, .fcm, .legacy: break
    case .apns: draft.platforms = [.ios]
    case .simulator:
      draft.platforms = [.ios]
      draft.options = .init()
    }
    return draft
  }

  @Test("written and read back it is the same push", arguments: trips, Dialect.written)
  func roundTrip(trip: Trip, dialect: Dialect) throws {
    let written = Self.text(trip.draft, dialect)
    let read = try DialectReading(written.text, now: Self.now)
    #expect(read.dialect == dialect)
    var draft = read.draft
    let open: [String] =
      switch dialect {
      case .signalbox: []
      case .jpush: ["app"]
      case .apns: ["audience"]
      case .simulator: ["environment", "audience"]
      case .fcm, .legacy: ["app", "environment", "audience"]
      }
    #expect(read.missing == open)
    for name in open { #expect(read.json[name] == nil) }
    if open.contains("app") { draft.app = trip.draft.app }
    if open.contains("environment") { draft.environment = trip.draft.environment }
    if open.contains("audience") { draft.audience = trip.draft.audience }
    var expected = Self.expected(trip.draft, dialect)
    if draft.apns.payload != nil {
      #expect(read.losses.contains { $0.code == DialectMessage.rawPayload.code })
      let uid: String? = nil
      #expect(APNsPayload(draft, uid: uid).json == APNsPayload(expected, uid: uid).json)
      (draft.apns.payload, draft.notification, expected.notification) = (nil, Notification(), Notification())
    }
    #expect(draft == expected)
  }

  @Test("a title and a text, and every field that both platforms have, come back as fields and not as raw JSON")
  func asFields() throws {
    for trip in Self.trips.prefix(3) {
      for dialect in Dialect.written {
        let read = try DialectReading(Self.text(trip.draft, dialect).text, now: Self.now)
        #expect(read.draft.apns.payload == nil, "\(trip.name) in \(dialect)")
      }
    }
  }

  @Test(
    "the receivers that a dialect knows are in it",
    arguments: [
      (Dialect.apns, rule { $0.deviceToken = [DeviceToken(bytes: [UInt8](repeating: 15, count: 32))] }),
      (.signalbox, rule { $0.tag = ["a b"] }), (.signalbox, .all),
      (.jpush, rule { ($0.tag, $0.tagAnd, $0.tagNot) = (["a"], ["b"], ["c"]) }), (.jpush, rule { $0.alias = ["anna"] }),
      (.jpush, rule { $0.registrationID = ["13165ffa4e0b5fb6ba3"] }), (.jpush, .all),
    ])
  func receivers(dialect: Dialect, audience: Audience) throws {
    let draft = Self.draft { ($0.audience, $0.platforms) = (audience, [.ios]) }
    let written = Self.text(draft, dialect)
    #expect(!written.losses.contains { $0.field.hasPrefix("audience") })
    let read = try DialectReading(written.text, now: Self.now)
    #expect(read.draft.audience == audience && !read.missing.contains("audience"))
  }

  @Test("a token of Android is in FCM's message")
  func androidToken() throws {
    let token = "abc:APA91bHPRgkF3JUikC4ENAHEeMrd41Zxv3hVZjC9KtT8OvPVGJ"
    let parsed = try DeviceToken(parsing: token, platform: .android)
    let draft = Self.draft { ($0.audience, $0.platforms) = (Self.rule { $0.deviceToken = [parsed] }, [.android]) }
    let written = Self.text(draft, .fcm)
    #expect(written.text.contains(token) && written.losses.isEmpty)
    let read = try DialectReading(written.text, now: Self.now)
    #expect(read.draft.audience == draft.audience && read.draft.platforms == [.android])
  }

  @Test("what a dialect cannot carry is named")
  func losses() {
    let draft = Self.draft {
      $0.audience = Self.rule { $0.tag = ["a"] }
      $0.sendAt = Self.now
      $0.android = ["notification": ["channel_id": "news"]]
      $0.options.rate = 10
      $0.options.priority = .normal
      $0.options.pushType = .alert
      $0.options.atMostOnce = true
      $0.options.collapseID = "c"
    }
    func fields(_ dialect: Dialect) -> [String] { Self.text(draft, dialect).losses.map(\.field) }
    let common = ["send_at", "options.rate", "options.at_most_once"]
    #expect(fields(.signalbox) == [])
    #expect(fields(.apns) == ["audience", "platforms", "android"] + common)
    #expect(fields(.fcm) == ["audience"] + common)
    #expect(fields(.jpush) == ["android"] + common + ["options.priority", "options.push_type"])
    #expect(
      fields(.simulator) == ["audience", "platforms", "android"] + common + [
        "environment", "options.time_to_live", "options.collapse_id", "options.priority", "options.push_type",
      ])
    let dry = Self.draft { $0.options.dryRun = true }
    #expect(Self.text(dry, .apns).losses.contains { $0.code == DialectMessage.reallySends.code })
    #expect(Self.text(dry, .fcm).text.contains("\"validate_only\" : true"))
  }

  @Test("a badge that is counted stays so where the other side counts, too; elsewhere it is a number, and that is said")
  func countedBadge() throws {
    let draft = Self.draft { $0.notification.badge = .add(1) }
    for dialect in Dialect.written {
      let written = Self.text(draft, dialect)
      let read = try DialectReading(written.text, now: Self.now)
      let isCounted = dialect == .jpush || dialect == .signalbox
      #expect(read.draft.notification.badge == (isCounted ? .add(1) : .set(1)), "\(dialect)")
      #expect(written.losses.contains { $0.code == DialectMessage.counted.code } == !isCounted, "\(dialect)")
    }
  }

  @Test("JPush's own limits are named before JPush names them")
  func refused() {
    let long = Self.draft { $0.notification.body = String(repeating: "x", count: 2100) }
    let loss = Self.text(long, .jpush).losses.first { $0.code == DialectMessage.refused.code }
    #expect(loss?.text.contains("2000") == true)
    #expect(Self.text(Self.draft { $0.options.timeToLive = nil }, .jpush).losses.map(\.code) == ["dialect.a_day"])
  }

  // MARK: What others wrote

  @Test("a command as Apple's page and people write it")
  func foreignCommand() throws {
    let text = #"""
      $ curl -v -d '{"aps":{"alert":{"title":"It'\''s","body":"b"},"badge":1,"content-available":1},"a":"b"}' \
        -H "apns-topic: com.example.app" -H 'apns-push-type: alert' -H "apns-priority: 5" \
        -H "apns-expiration: 1800000060" -H "apns-id: 8e0f" --http2 --cert "cert.pem:pass" \
        https://api.sandbox.push.apple.com/3/device/\#(Self.token) | jq .
      """#
    let read = try DialectReading(text, now: Self.now)
    #expect(read.dialect == .apns && read.missing.isEmpty)
    #expect(read.draft.environment == .development && read.draft.app == "com.example.app")
    #expect(read.draft.audience.json == ["device_token": [.string(Self.token)]])
    #expect(read.draft.notification.title == "It's" && read.draft.notification.badge == 1)
    #expect(read.draft.options.priority == .normal && read.draft.options.timeToLive == 60)
    #expect(read.losses.map(\.field) == ["authorization", "apns-id"])
  }

  @Test("a request as the page of a delivery shows it", arguments: ["\n", ""])
  func request(emptyLine: String) throws {
    let text = """
      POST /3/device/\(Self.token) HTTP/2
      host: api.sandbox.push.apple.com
      authorization: bearer …
      apns-topic: com.example.app
      apns-priority: 5
      \(emptyLine){
        "aps" : { "alert" : "Hi" }
      }
      """
    let read = try DialectReading(text, now: Self.now)
    #expect(read.dialect == .apns && read.missing.isEmpty && read.draft.app == "com.example.app")
    #expect(read.draft.environment == .development && read.draft.notification.body == "Hi")
    #expect(read.draft.audience.json == ["device_token": [.string(Self.token)]])
    #expect(read.draft.options.priority == .normal && read.losses.map(\.field) == ["authorization"])
  }

  @Test("a payload alone, a payload that no field can express, and the push's old ID and signature")
  func payloads() throws {
    let plain = try DialectReading(#"{"aps":{"alert":"Hi"},"sbid":"x","sbsig":"y"}"#, now: Self.now)
    #expect(plain.draft.notification.body == "Hi" && plain.missing == ["app", "environment", "audience"])
    #expect(plain.losses.map(\.field) == ["sbid", "sbsig"] && plain.draft.notification.extras.isEmpty)
    let firebase = #"{"message":{"notification":{"body":"Hi"},"data":{"k":"v","sbid":"x","sbsig":"y"}}}"#
    let android = try DialectReading(firebase, now: Self.now)
    #expect(android.draft.notification.extras == ["k": "v"])
    #expect(android.losses.map(\.field).prefix(2) == ["data.sbid", "data.sbsig"])
    let payload: JSONValue = ["aps": ["alert": ["loc-key": "HELLO", "loc-args": ["Anna"]], "sound": ["critical": 1]]]
    let raw = try DialectReading(payload.text(), now: Self.now)
    #expect(raw.draft.apns.payload == payload && raw.losses.map(\.field) == ["apns.payload"])
  }

  @Test("JPush's own example: what is not taken over is named")
  func foreignJPush() throws {
    let text = """
      {"cid":"8103a4c628a0b98994ec1949-711261d4","platform":["ios","android"],
       "audience":{"alias":["usr_e6882cab"]},
       "notification":{"alert":"Hi","ios":{"alert":{"title":"t","body":"b"},"sound":"default","extras":{"type":"like"}},
         "android":{"alert":"Hi","title":"t","style":1,"extras":{"type":"like"}}},
       "options":{"sendno":18,"time_to_live":60,"apns_production":false}}
      """
    let read = try DialectReading(text, now: Self.now)
    #expect(read.dialect == .jpush && read.missing == ["app"] && read.draft.environment == .development)
    #expect(read.draft.audience.json == ["alias": ["usr_e6882cab"]] && read.draft.options.timeToLive == 60)
    #expect(
      read.losses.map(\.field) == ["cid", "options.sendno", "apns.payload"])
    #expect(read.draft.jpush.android == ["style": 1] && read.draft.unused == [] && !read.draft.options.anyAndroid)
    let open = try DialectReading(#"{"platform":"all","audience":"all","notification":{"alert":"Hi"}}"#, now: Self.now)
    #expect(open.missing == ["app", "environment"] && open.draft.audience == .all)
    #expect(open.draft.notification.body == "Hi" && open.draft.apns.payload == nil)
  }

  @Test("FCM's own example, in the letters of its libraries: Android's own settings stay, the rest is named")
  func foreignFCM() throws {
    let text = """
      {"message":{"topic":"common","notification":{"title":"t","body":"b"},"data":{"type":"follow","link":"9"},
        "android":{"priority":"high","ttl":"3600s","collapseKey":"k","notification":{"channelId":"c","tag":"x"}},
        "apns":{"headers":{"apns-priority":"5","apns-push-type":"alert","apns-collapse-id":"k"},
          "payload":{"aps":{"alert":{"title":"t","body":"b"},"badge":3,"sound":"default"},"type":"follow","link":"9"}},
        "webpush":{"headers":{"TTL":"60"}},"fcmOptions":{"analyticsLabel":"a"}}}
      """
    let read = try DialectReading(text, now: Self.now)
    #expect(read.dialect == .fcm && read.missing == ["app", "environment"])
    #expect(read.losses.map(\.field) == ["webpush", "fcm_options", "apns"])
    let draft = read.draft
    #expect(draft.audience == .topic("common") && draft.platforms == [.android])
    let written = DialectText(draft, in: .fcm, sentAt: Self.now, address: "")
    #expect(try JSONValue(parsing: Array(written.text.utf8))["message"]?["topic"] == "common")
    #expect(!written.losses.map(\.field).contains("audience"))
    #expect(draft.notification.link == "9" && draft.notification.extras == ["type": "follow"])
    let android = FCMMessage(draft).json["android"]
    #expect(
      android == [
        "priority": "HIGH", "ttl": "3600s", "collapse_key": "k", "notification": ["channel_id": "c", "tag": "x"],
      ])
  }

  @Test(
    "what is none of them, or broken, is refused with the reason",
    arguments: [
      ("hello", "dialect.unknown"), ("[]", "dialect.unknown"), ("{}", "dialect.unknown"),
      ("{\"aps\":", "json.ended"), ("curl -d @push.json https://x/v3/push", "dialect.curl_file"),
      ("curl -d '{}", "dialect.curl_quote"), ("curl https://x --data", "dialect.curl_value"),
      ("curl https://x/", "json.ended"), (#"{"aps":{"badge":100000}}"#, "field.out_of_range"),
      (#"{"app":7,"notification":{"titel":"x"}}"#, "field.expected"),
      (#"{"message":{"token":"x","colour":"blue"}}"#, "dialect.not_taken"),
    ])
  func invalid(text: String, code: String) {
    var problem: Problem?
    do { _ = try DialectReading(text, now: Self.now) } catch { problem = error.all.first }
    #expect(problem?.code == code, "\(problem?.description ?? "")")
  }
}
