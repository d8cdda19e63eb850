import Calendar
import Foundation
import JSON
import Testing

@testable import Model

@Suite("The linter")
struct LintTests {
  private func found(
    _ context: Lint.Context = .init(), _ change: (inout PushDraft) -> Void
  ) -> [Lint.Finding] {
    let findings = Lint.findings(in: draft(change), context)
    for finding in findings { expectFilled(finding.problem) }
    return findings
  }

  /// After the button was pressed the finding is gone.
  private func expectFixed(_ finding: Lint.Finding?, _ context: Lint.Context = .init()) throws {
    let finding = try #require(finding)
    let fixed = try #require(finding.fix)
    let after = Lint.findings(in: fixed, context).map(\.problem.code)
    #expect(!after.contains(finding.problem.code))
  }

  @Test("a plain push is clean")
  func clean() {
    #expect(found { _ in } == [])
    #expect(found { $0.notification.contentAvailable = true } == [])
  }

  @Test("the keys of a payload that is too large are not looked at")
  func tooManyKeys() {
    let many = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("own\($0)", JSONValue.integer(1)) })
    let inside = found { $0.apns.payload = ["aps": .object(many)] }
    #expect(lines(inside).contains("error apns.payload payload.too_large") && inside.count < 10)
    let extras = found { $0.notification.extras = many.merging(["content_available": 1]) { $1 } }
    #expect(lines(extras).contains("error notification payload.too_large") && extras.count < 10)
  }

  @Test("background with something to see")
  func backgroundVisible() throws {
    let findings = found {
      $0.options.pushType = .background
      $0.notification.sound = "default"
    }
    #expect(
      lines(findings) == [
        "error notification lint.background_visible", "hint notification lint.background_often",
      ])
    #expect(findings.first?.problem.arguments == ["keys": "alert, sound"])
    try expectFixed(findings.first)
  }

  @Test("background with priority 10")
  func backgroundPriority() throws {
    let findings = found {
      $0.notification = PushNotification()
      $0.notification.contentAvailable = true
      $0.options.priority = .high
    }
    #expect(lines(findings).first == "error options.priority lint.background_priority")
    try expectFixed(findings.first)
    let header = found {
      $0.apns.payload = ["aps": ["content-available": 1]]
      $0.apns.headers["apns-priority"] = "10"
    }
    #expect(lines(header).first == "error options.priority lint.background_priority")
    try expectFixed(header.first)
  }

  @Test("background without content-available")
  func backgroundNotAvailable() throws {
    let findings = found {
      $0.notification = PushNotification()
      $0.options.pushType = .background
    }
    #expect(lines(findings).first == "error notification lint.background_without_content_available")
    try expectFixed(findings.first)
  }

  @Test(
    "content-available misspelt among the extras",
    arguments: ["content-available", "content_available", "contentAvailable", "Content-Available", "content-availible"])
  func misspelt(key: String) throws {
    let findings = found { $0.notification.extras = [key: 1] }
    #expect(lines(findings) == ["warning notification.extras.\(key) lint.misspelt_key"])
    try expectFixed(findings.first)
    #expect(findings.first?.fix?.notification.contentAvailable == true)
    #expect(findings.first?.fix?.notification.extras == [:])
  }

  @Test("keys of a raw payload, misspelt or at the wrong place")
  func rawKeys() throws {
    let table: [(JSONValue, String, JSONValue?)] = [
      (
        ["aps": ["alert": "x", "content_available": 1]], "apns.payload.aps.content_available lint.misspelt_key",
        ["aps": ["alert": "x", "content-available": 1]]
      ),
      (
        ["aps": ["alert": "x"], "content-available": 1], "apns.payload.content-available lint.misspelt_key",
        ["aps": ["alert": "x", "content-available": 1]]
      ),
      (
        ["aps": ["alert": "x"], "badge": 3], "apns.payload.badge lint.key_outside_aps",
        ["aps": ["alert": "x", "badge": 3]]
      ),
      (
        ["aps": ["alert": "x", "userId": 3]], "apns.payload.aps.userId lint.key_inside_aps",
        ["aps": ["alert": "x"], "userId": 3]
      ),
      (
        ["aps": ["alert": "x", "mutableContent": 1]], "apns.payload.aps.mutableContent lint.misspelt_key",
        ["aps": ["alert": "x", "mutable-content": 1]]
      ),
    ]
    for (payload, line, fixed) in table {
      let findings = found {
        $0.notification = PushNotification()
        $0.apns.payload = payload
      }
      #expect(lines(findings) == ["warning \(line)"])
      #expect(findings.first?.fix?.apns.payload == fixed)
      try expectFixed(findings.first)
    }
  }

  @Test(
    "an app's own words among the extras are left alone", arguments: ["category", "event", "url", "type", "content"])
  func ownWords(key: String) {
    #expect(found { $0.notification.extras = [key: "x"] } == [])
  }

  @Test("extras that get lost: aps, and our own keys")
  func reserved() throws {
    let aps = found { $0.notification.extras = ["aps": ["alert": "x"]] }
    #expect(lines(aps) == ["error notification.extras.aps payload.reserved_key"])
    try expectFixed(aps.first)
    let link = found {
      $0.notification.extras = ["link": "x", "image": "fine"]
      $0.notification.link = "comment"
    }
    #expect(lines(link) == ["warning notification.extras.link lint.key_shadowed"])
    try expectFixed(link.first)
    let id = found { $0.notification.extras = ["sbid": "y", "sbsig": "z"] }
    #expect(lines(id) == ["sbid", "sbsig"].map { "warning notification.extras.\($0) lint.key_shadowed" })
  }

  @Test(
    "JSON pasted as text", arguments: [#"{"aps":{"alert":"x"}}"#, " {\"aps\":{\"alert\":\"x\"}}\n"])
  func pasted(text: String) throws {
    let findings = found { $0.notification.body = text }
    #expect(lines(findings) == ["warning notification.body lint.json_as_text"])
    #expect(findings.first?.fix?.apns.payload == ["aps": ["alert": "x"]])
    try expectFixed(findings.first)
  }

  @Test(
    "JSON that is no payload has no button, and brackets are no JSON",
    arguments: [(#"{"a":1}"#, 1), (#"[{"a":1}]"#, 1), ("[Shop] Hi", 0), ("[1]", 0), ("{}", 0), ("{name}, hi", 0)])
  func brackets(text: String, count: Int) {
    let findings = found { $0.notification.title = text }
    #expect(findings.count == count)
    #expect(findings.first?.fix == nil)
  }

  @Test("a push with nothing in it")
  func empty() throws {
    let empty = found { $0.notification = PushNotification() }
    #expect(lines(empty) == ["error notification lint.empty"])
    let extras = found {
      $0.notification = PushNotification()
      $0.notification.extras = ["k": 1]
    }
    #expect(lines(extras) == ["error notification lint.extras_only"])
    try expectFixed(extras.first)
    let raw = found {
      $0.notification = PushNotification()
      $0.apns.payload = ["k": 1]
    }
    #expect(lines(raw) == ["warning apns.payload lint.empty"])
  }

  @Test("over the limit is an error, close to it a hint")
  func size() {
    func body(_ count: Int) -> [String] {
      lines(found(.init(uid: "0123456789")) { $0.notification.body = String(repeating: "x", count: count) })
    }
    let frame = #"{"aps":{"alert":""},"sbid":"0123456789","sbsig":"0123456789"}"#.utf8.count
    let signed = found(.init(uid: "0123456789", signature: "01234567890123")) {
      $0.notification.body = String(repeating: "x", count: 3683 - frame)
    }
    #expect(lines(signed) == ["hint notification lint.payload_near_limit"], "a longer signature counts")
    #expect(body(3686 - frame) == [])
    #expect(body(3687 - frame) == ["hint notification lint.payload_near_limit"])
    #expect(body(4096 - frame) == ["hint notification lint.payload_near_limit"])
    #expect(body(4097 - frame) == ["error notification payload.too_large"])
  }

  @Test("an image needs mutable_content")
  func image() throws {
    let findings = found { $0.notification.image = "https://a.b/c.png" }
    #expect(lines(findings) == ["warning notification.image lint.image_not_mutable"])
    try expectFixed(findings.first)
  }

  @Test("interruption levels")
  func levels() throws {
    #expect(
      lines(found { $0.notification.interruptionLevel = .critical })
        == ["hint notification.interruption_level lint.critical"])
    let passive = found {
      $0.notification.interruptionLevel = .passive
      $0.notification.sound = "default"
    }
    #expect(lines(passive) == ["hint notification.sound lint.passive_sound"])
    try expectFixed(passive.first)
  }

  @Test("a collapse id over 64 bytes, and a topic of another push type")
  func headers() throws {
    let long = found { $0.options.collapseID = String(repeating: "x", count: 65) }
    #expect(lines(long) == ["error options.collapse_id header.collapse_id"])
    let topic = found { $0.apns.headers["apns-topic"] = "com.example.app.voip" }
    #expect(lines(topic) == ["warning apns.headers.apns-topic header.topic_suffix"])
    try expectFixed(topic.first)
    #expect(topic.first?.fix?.options.pushType == .voip, "the topic tells the type")
    let given = found {
      $0.apns.headers["apns-topic"] = "com.example.app.voip"
      $0.options.pushType = .alert
    }
    #expect(given.first?.fix?.options.pushType == .alert)
  }

  private static let token: Audience = {
    var rule = Audience.Rule()
    rule.deviceToken = [DeviceToken(bytes: [UInt8](repeating: 1, count: 32))]
    return .rule(rule)
  }()

  @Test("a push type with tokens of its own, to devices that are registered for notifications")
  func ownTokens() {
    func codes(_ scope: CredentialScope? = nil, _ change: (inout PushDraft) -> Void) -> [String] {
      found(Lint.Context(credential: scope)) {
        $0.apns.payload = ["caller": "Ada"]
        $0.notification = PushNotification()
        $0.options.pushType = .voip
        $0.options.timeToLive = 0
        change(&$0)
      }.map(\.problem.code)
    }
    #expect(codes { _ in } == ["lint.own_tokens"])
    #expect(codes { $0.audience = Self.token } == [])
    #expect(codes(CredentialScope(name: "VoIP", topics: ["com.example.app.voip"])) { _ in } == [])
  }

  @Test("push types that need more than a notification")
  func special() {
    let activity = found {
      $0.audience = Self.token
      $0.options.pushType = .liveactivity
    }
    #expect(lines(activity) == Array(repeating: "error apns.payload lint.live_activity", count: 3))
    #expect(
      lines(
        found {
          $0.audience = Self.token
          $0.options.pushType = .widgets
        }) == ["warning options.push_type lint.special_without_payload"])
    let whole = found {
      $0.audience = Self.token
      $0.notification = PushNotification()
      $0.apns.payload = ["aps": ["timestamp": 1, "event": "update", "content-state": ["n": 1]]]
    }
    #expect(whole == [])
  }

  @Test("an expiration that is over, or in milliseconds, and a call that may ring late")
  func expirations() throws {
    let context = Lint.Context(now: Date(timeIntervalSince1970: 1_800_000_000))
    func found(_ expiration: String, _ change: (inout PushDraft) -> Void = { _ in }) -> [Lint.Finding] {
      self.found(context) {
        $0.apns.headers["apns-expiration"] = expiration
        change(&$0)
      }
    }
    #expect(found("0") == [] && found("1800000001") == [])
    let past = found("1800000000")
    #expect(lines(past) == ["error apns.headers.apns-expiration lint.expiration_past"])
    try expectFixed(past.first, context)
    let later = found("1800000060") { $0.sendAt = Date(timeIntervalSince1970: 1_800_000_100) }
    #expect(lines(later) == ["error apns.headers.apns-expiration lint.expiration_past"])
    let long = found("1800000060000")
    #expect(lines(long) == ["error apns.headers.apns-expiration lint.expiration_milliseconds"])
    #expect(long.first?.fix?.apns.headers["apns-expiration"] == "1800000060")
    func call(_ seconds: Int?) -> [Lint.Finding] {
      self.found(context) {
        $0.audience = Self.token
        $0.options.pushType = .voip
        $0.options.timeToLive = seconds
      }
    }
    #expect(call(0) == [] && call(30) == [])
    #expect(lines(call(nil)) == ["hint options.time_to_live lint.voip_late"])
    try expectFixed(call(86_400).first, context)
  }

  @Test("a payload for ActivityKit or WidgetKit that is sent as another type is not called empty")
  func otherType() throws {
    func raw(_ aps: JSONValue, _ type: PushType? = nil) -> [Lint.Finding] {
      found {
        $0.notification = PushNotification()
        $0.audience = Self.token
        $0.options.pushType = type
        $0.apns.payload = ["aps": aps]
      }
    }
    let alert = raw(["timestamp": 1, "event": "update", "content-state": [:]], .alert)
    #expect(lines(alert) == ["warning options.push_type lint.other_type"])
    try expectFixed(alert.first)
    let end = raw(["timestamp": 1, "event": "end"])
    #expect(lines(end) == ["warning options.push_type lint.other_type"])
    try expectFixed(end.first)
    let reload = raw(["content-changed": true])
    #expect(lines(reload) == ["warning options.push_type lint.other_type"] && reload.first?.fix == nil)
    #expect(raw(["content-changed": true], .widgets) == [] && raw(["content-changed": true], .controls) == [])
    let nothing = raw([:], .controls)
    #expect(lines(nothing) == ["warning apns.payload lint.content_changed"])
    try expectFixed(nothing.first)
  }

  @Test("what a phone would ignore in the payload of a Live Activity")
  func liveActivity() throws {
    func activity(_ aps: JSONValue, _ change: (inout PushDraft) -> Void = { _ in }) -> [Lint.Finding] {
      found {
        $0.notification = PushNotification()
        $0.audience = Self.token
        $0.options.pushType = .liveactivity
        $0.apns.payload = ["aps": aps]
        change(&$0)
      }
    }
    let start = activity(["timestamp": 1, "event": "start", "content-state": [:]])
    #expect(lines(start) == Array(repeating: "error apns.payload lint.live_activity_start", count: 3))
    #expect(start.map { $0.problem.arguments["key"] } == ["attributes-type", "attributes", "alert"])
    let whole: JSONValue = [
      "timestamp": 1, "event": "start", "content-state": [:], "attributes-type": "Match", "attributes": [:],
      "alert": ["title": "Kick-off"],
    ]
    #expect(activity(whole) == [])
    let end: JSONValue = ["timestamp": 1, "event": "end", "dismissal-date": 1]
    #expect(lines(activity(end)) == ["hint apns.payload lint.live_activity_end"])
    #expect(
      lines(activity(["timestamp": 1, "event": "begin", "content-state": "1:0"])) == [
        "error apns.payload lint.live_activity_object", "error apns.payload lint.live_activity_event",
      ])
    let dates = activity([
      "timestamp": 1_800_000_000_000, "event": "update", "content-state": [:], "stale-date": "soon",
      "dismissal-date": .double(1_800_000_000.5),
    ])
    #expect(lines(dates) == Array(repeating: "error apns.payload lint.live_activity_date", count: 2))
    #expect(dates.first?.fix == nil)
    #expect(dates.last?.fix?.apns.payload?["aps"]?["timestamp"] == 1_800_000_000)
    let low = activity(["timestamp": 1, "event": "update", "content-state": [:]]) { $0.options.priority = .low }
    #expect(lines(low) == ["warning options.priority lint.live_activity_priority"])
    try expectFixed(low.first)
  }

  @Test("aliases and tags under JPush's rule, with the app's own form on offer")
  func aliases() throws {
    let context = Lint.Context(aliasRule: .jpush)
    var rule = Audience.Rule()
    rule.alias = [
      "user-e6882cab-cedf-4335-9b7c-612cd5b4d37d", "fine", "e6882cab-cedf-4335-9b7c-612cd5b4d37d", "a b",
    ]
    rule.tag = ["ok", "beta-1"]
    let findings = found(context) { $0.audience = .rule(rule) }
    #expect(
      lines(findings) == [
        "error audience.tag[1] tag.character", "error audience.alias[0] lint.alias_form",
        "error audience.alias[2] lint.alias_form", "error audience.alias[3] alias.character",
      ])
    #expect(findings.map { $0.problem.arguments["result"] } == [nil, "6004", "6003", nil])
    #expect(
      findings[1].problem.arguments["form"] == "usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d")
    try expectFixed(findings[1], context)
    #expect(found { $0.audience = .rule(rule) } == [])
  }

  @Test("an alias that needs another form is corrected in one way, though a similar one is known")
  func aliasForm() {
    var context = Lint.Context(aliasRule: .jpush)
    context.missingAliases = ["user-5": "usr_0"]
    var rule = Audience.Rule()
    rule.alias = ["user-5"]
    #expect(lines(found(context) { $0.audience = .rule(rule) }) == ["error audience.alias[0] lint.alias_form"])
    context.aliasRule = .none
    #expect(
      lines(found(context) { $0.audience = .rule(rule) }) == ["warning audience.alias[0] lint.no_alias_similar"])
  }

  @Test("a text that sleeping Android phones show late; data that nobody sees may wait")
  func androidPriority() throws {
    let findings = found {
      $0.platforms = [.android]
      $0.options.priority = .normal
    }
    #expect(lines(findings) == ["hint options.priority lint.android_priority"])
    try expectFixed(findings.first)
    let silent = found {
      $0.platforms = [.android]
      ($0.notification.title, $0.notification.body) = (nil, nil)
      $0.notification.extras = ["k": "v"]
      $0.options.priority = .normal
    }
    #expect(!lines(silent).contains { $0.contains("android_priority") })
  }

  @Test("a message restricted to another Android app is told, if the app's package name is known")
  func otherPackage() throws {
    var context = Lint.Context()
    func restricted(to package: String) -> [Lint.Finding] {
      found(context) {
        $0.platforms = [.android]
        $0.android = ["restricted_package_name": .string(package)]
      }
    }
    #expect(restricted(to: "com.example.other") == [])
    context.packageName = "com.example.shop"
    #expect(restricted(to: "com.example.shop") == [])
    let other = restricted(to: "com.example.other")
    #expect(lines(other) == ["warning android.restricted_package_name lint.other_package"])
    try expectFixed(other.first, context)
  }

  @Test("a tag that no device has is told, with the nearest one on offer")
  func missingTags() throws {
    var context = Lint.Context()
    context.missingTags = ["BETA": "beta", "gold": nil]
    var rule = Audience.Rule()
    rule.tag = ["vip", "BETA"]
    rule.tagNot = ["gold"]
    let findings = found(context) { $0.audience = .rule(rule) }
    #expect(
      lines(findings) == ["warning audience.tag[1] lint.no_tag_similar", "warning audience.tag_not[0] lint.no_tag"])
    try expectFixed(findings[0], context)
    rule.tag = ["vip", "beta"]
    #expect(findings[0].fix?.audience == .rule(rule))
  }

  @Test("times")
  func times() throws {
    let now = Date(timeIntervalSince1970: 1000)
    let context = Lint.Context(now: now)
    let once = found(context) {
      $0.options.timeToLive = 0
      $0.sendAt = now.addingTimeInterval(60)
    }
    #expect(lines(once) == ["warning options.time_to_live lint.scheduled_without_storage"])
    try expectFixed(once.first)
    let past = found(context) { $0.sendAt = now }
    #expect(lines(past) == ["hint send_at lint.send_at_past"])
    try expectFixed(past.first, context)
    let late = found(context) { $0.sendAt = now.addingTimeInterval(-3600) }
    #expect(lines(late) == ["error send_at lint.send_at_too_late"])
    try expectFixed(late.first, context)
    let stillGood = found(context) {
      $0.sendAt = now.addingTimeInterval(-3600)
      $0.options.timeToLive = 3601
    }
    #expect(lines(stillGood) == ["hint send_at lint.send_at_past"])
    let farthest = now.addingTimeInterval(PushLimits.ahead)
    #expect(found(context) { $0.sendAt = farthest } == [])
    #expect(
      lines(found(context) { $0.sendAt = farthest.addingTimeInterval(1) }) == ["error send_at lint.send_at_too_far"])
    let daily = RepeatRule(.daily, minute: 0, zone: .utc)
    #expect(found(context) { $0.recurrence = daily } == [])
    #expect(
      lines(
        found(context) {
          $0.recurrence = daily
          $0.sendAt = now.addingTimeInterval(-1)
        }) == ["hint send_at lint.repeat_start_past"])
    #expect(
      lines(
        found(context) {
          $0.recurrence = daily
          $0.recurrence?.until = now
          $0.sendAt = now.addingTimeInterval(1)
        }) == ["error repeat lint.repeat_never"])
    // A time to live counts from the hand-over of each device; a moment in the header is the same for all.
    #expect(found(context) { ($0.options.spreadMinutes, $0.options.timeToLive) = (2, 60) } == [])
    for (seconds, expected) in [(119, ["warning options.spread_minutes lint.spread_outlives"]), (120, [])] {
      let end = String(Int(now.timeIntervalSince1970) + seconds)
      let spread = found(context) {
        ($0.options.spreadMinutes, $0.apns.headers[APNsHeader.expiration]) = (2, end)
      }
      #expect(lines(spread) == expected)
    }
  }

  @Test("tokens that look as if something was lost")
  func tokens() {
    var rule = Audience.Rule()
    rule.deviceToken = [
      DeviceToken(bytes: [0xe3, 0x2b, 0xe0] + Array(repeating: 7, count: 29)),
      DeviceToken(bytes: Array(repeating: 7, count: 80)), DeviceToken(bytes: Array(repeating: 7, count: 32)),
      DeviceToken(text: DeviceTokenTests.firebase),
    ]
    #expect(
      lines(found { $0.audience = .rule(rule) }) == [
        "warning audience.device_token[0] lint.token_lossy", "hint audience.device_token[1] lint.token_length",
      ])
  }

  @Test("great audiences are remarked on")
  func broadcast() {
    #expect(
      lines(found { $0.environment = .production }) == ["hint audience lint.broadcast_production"])
    var rule = Audience.Rule()
    rule.tagNot = ["beta"]
    #expect(lines(found { $0.audience = .rule(rule) }) == ["hint audience.tag_not lint.only_exclusions"])
  }

  @Test("only pushes to APNs are checked by its rules")
  func androidOnly() {
    #expect(
      found {
        $0.platforms = [.android]
        $0.notification.extras = ["aps": 1]
      } == [])
  }

  @Test("what FCM refuses is refused, if the app sends to Android")
  func android() {
    let reserved = draft {
      $0.platforms = [.ios, .android]
      $0.notification.extras = ["gcm_id": "x"]
    }
    #expect(lines(Lint.findings(in: reserved)) == ["error notification.extras.gcm_id fcm.reserved_key"])
    #expect(Lint.findings(in: reserved, Lint.Context(services: [.apns])).isEmpty)
    let empty = draft {
      $0.platforms = [.android]
      $0.notification = Notification()
    }
    #expect(lines(Lint.findings(in: empty)) == ["error notification lint.android_empty"])
    let raw = draft {
      $0.platforms = [.ios, .android]
      $0.notification = Notification()
      $0.apns.payload = ["aps": ["alert": "x"]]
    }
    #expect(lines(Lint.findings(in: raw)) == ["warning notification lint.android_empty"])
  }

  @Test("more severe findings come first, and errors must be refused by the caller")
  func order() {
    let bad = draft {
      $0.environment = .production
      $0.notification.image = "https://a.b"
      $0.options.pushType = .background
    }
    let severities = Lint.findings(in: bad).map(\.severity)
    #expect(severities == severities.sorted())
    #expect(Set(severities).count == 3)
    #expect(Lint.findings(in: bad).filter { $0.severity == .error }.map(\.problem.code) == ["lint.background_visible"])
    #expect(!Lint.findings(in: draft()).contains { $0.severity == .error })
  }
}
