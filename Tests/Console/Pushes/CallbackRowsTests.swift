import JSON
import Model
import Simulator
import Store
import Testing

@testable import Console

/// Where each row of the table “What the app sees” comes from.
@Suite("Callbacks of a payload: each row names its source")
struct CallbackRowsTests {
  private static let payloads: [JSONValue] = [
    ["alert": "x"], ["alert": "x", "content-available": 1], ["content-available": 1], ["badge": 1], [:],
  ]

  private static func rows(_ aps: JSONValue, _ texts: Texts) -> [CallbackRow] {
    CallbackRows(APNsPayload.Facts(payload: ["aps": aps])).rows(texts)
  }

  @Test("a row names its source and leads to disagreements and notes that stand on the page", arguments: payloads)
  func anchors(aps: JSONValue) async throws {
    try await ConsoleScene.with { scene in
      var vera = try await scene.signIn(.viewer)
      let page = ScenePage(try await vera.get("/docs/callbacks"))
      let known = Set(page.tags.compactMap { $0.attributes["id"] }.map { "/docs/callbacks#\($0)" })
      for (language, label) in [("en", "Source: "), ("zh-Hans", "来源：")] {
        let rows = Self.rows(aps, scene.console.locales[language])
        #expect(rows.count >= 9)
        for row in rows {
          #expect(row.origin.source.hasPrefix(label) && row.origin.source.count > label.count)
          #expect(Set(row.origin.links.map(\.href)).isSubset(of: known))
        }
      }
    }
  }

  @Test("the summary names the iOS versions that it counts, because older ones may still call the app")
  func summary() async throws {
    try await ConsoleScene.with { scene in
      let texts = scene.console.locales["en"]
      let facts = APNsPayload.Facts(payload: ["aps": [:]])
      #expect(CallbackRows(facts).summary(texts) == "On iOS 10 and later, this push never calls the app’s code.")
      #expect(CallbackTable(facts).cells.contains { $0.generation != .from10 && $0.calls.upperBound > 0 })
    }
  }

  @Test("a push that is no notification has no rows, and its summary names what gets it", arguments: PushType.allCases)
  func receivers(type: PushType) async throws {
    try await ConsoleScene.with { scene in
      let texts = scene.console.locales["en"]
      let callbacks = CallbackRows(APNsPayload.Facts(payload: ["aps": ["alert": "x"]]), type: type)
      let isNotification = [PushType.alert, .background].contains(type)
      #expect(callbacks.rows(texts).isEmpty != isNotification)
      #expect(callbacks.summary(texts).hasSuffix("none of the app’s notification methods.") != isNotification)
    }
  }

  @Test("a push to Android has rows of its own, and those of iOS only if it goes there too")
  func android() async throws {
    try await ConsoleScene.with { scene in
      let texts = scene.console.locales["en"]
      let facts = APNsPayload.Facts(payload: ["aps": ["alert": "x"]])
      func table(_ message: JSONValue, isJPush: Bool = false) -> CallbackRows {
        CallbackRows(facts, reachesIOS: false, message: message, isJPush: isJPush)
      }
      let shown = table(["notification": ["title": "x"]])
      let rows = shown.rows(texts)
      #expect(rows.map(\.state) == ["Foreground", "Background", "Not running"])
      #expect(rows.allSatisfy { $0.system == "Android" && $0.effect.calls == "1" })
      #expect(rows.map { $0.effect.arrival.map(\.name) } == [["onMessageReceived"], [], []])
      #expect(rows.map { $0.effect.tap.map(\.name) } == [[], ["onNewIntent"], ["onCreate"]])
      #expect(shown.summary(texts) == "On Android, the app’s code is called at most once per push.")
      let data = table(["data": ["a": "1"]]).rows(texts)
      #expect(data.allSatisfy { $0.effect.arrival.map(\.name) == ["onMessageReceived"] && $0.effect.tap.isEmpty })
      #expect(table(["notification": ["title": "x"]], isJPush: true).summary(texts).contains("up to 2 times"))

      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      func preview(_ platforms: [String]) async throws -> ScenePage {
        let rest = SendPageTests.fields.filter { $0.0 != "platforms" }
        let answer = try await ben.post(
          "/pushes/preview", rest + platforms.map { ("platforms", $0) }, headers: ["Accept": "application/json"])
        return ScenePage(try #require(answer.json?["callbacks_html"]?.string))
      }
      let both = try await preview(["ios", "android"])
      #expect(both.text.contains("Background Android Source: Firebase’s documentation"))
      #expect(both.text.contains("Background iOS 10+"))
      let alone = try await preview(["android"])
      #expect(alone.text.contains("Not running Android") && !alone.text.contains("iOS"))
    }
  }

  @Test("the preview of a disputed payload has the sources and the links in its rows")
  func preview() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let headers = ["Accept": "application/json"]
      func table(_ fields: [(String, String)]) async throws -> ScenePage {
        let answer = try await ben.post("/pushes/preview", SendPageTests.fields + fields, headers: headers)
        return ScenePage(try #require(answer.json?["callbacks_html"]?.string))
      }
      let alert = try await table([])
      // With and without the background mode, one row: its sources are those of both.
      #expect(alert.text.contains("Background iOS 10+ Source: 3 developer guides; sources disagree (C4)"))
      let names = Set(alert.links.compactMap { $0.split(separator: "#").last.map(String.init) })
      #expect(names == ["C1", "C4", "C6", "C8", "C9", "C10", "N1", "N2", "N3", "N10", "N11"])
      let both = try await table([("content_available", "1")])
      #expect(
        both.text.contains(
          "Source: Apple’s documentation, 1 developer guide; sources disagree (C5) ; C8 ; note (N5)"))
      #expect(both.links.contains("/docs/callbacks#C7") && both.links.contains("/docs/callbacks#C2"))
      for page in [alert, both] {
        let rows = page.tags.count { $0.name == "tr" }
        #expect(page.texts(class: "hint").count { $0.contains("Source: ") } == rows && rows >= 9)
      }
    }
  }

  @Test("a phone's callbacks name their source, what sources disagree about, and their notes")
  func phone() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      let phone = try phones.add(NewPhone(name: "A", environment: .development, topic: ConsoleScene.bundleID))
      var ben = try await scene.signIn(.operator)
      #expect(try await ben.post("/phones/1", [("action", "foreground")]).status == 303)
      try phones.receive(phone, ["aps": ["alert": "Hello", "content-available": 1]], id: "ID-1")
      let page = ScenePage(try await ben.get("/phones?show=callbacks"))
      #expect(page.text.contains("Source: 2 developer guides; sources disagree (C6)"))
      #expect(page.links.contains("/docs/callbacks#C6"))
      let texts = scene.console.locales["en"]
      #expect(page.text.contains(texts.text(Problem("", CallbackNote.dropRepeats))))
      #expect(!(try await ben.get("/phones?show=payload").text.contains("Source: ")), "it belongs to the callbacks")

      #expect(try await ben.post("/phones/1", [("action", "not_running")]).status == 303)
      try phones.receive(phone, ["aps": ["alert": "Hello", "content-available": 1]], id: "ID-2")
      let asleep = ScenePage(try await ben.get("/phones?show=callbacks"))
      for words in [
        "application(didFinishLaunching) on arrival, not after a force quit",
        "application(didFinishLaunching) on tap, only after a force quit; launch options contain the push",
      ] {
        #expect(asleep.text.lowercased().contains(words.lowercased()), "\(asleep.text)")
      }
      let jpush = try phones.add(
        NewPhone(name: "C", provider: .jpush, environment: .development, topic: ConsoleScene.bundleID))
      let tapped = ReceivedNotification(
        id: 2, apnsID: "2", topic: ConsoleScene.bundleID, pushType: .alert, priority: 10,
        payload: #"{"aps":{"alert":"x"}}"#, receivedAt: ConsoleScene.noon)
      let calls = PhoneNotificationRow(tapped, on: jpush, app: "Shop", texts: texts, now: ConsoleScene.noon).calls
      #expect(calls.map(\.signature) == ["jpushNotificationCenter(_:didReceive:withCompletionHandler:)"])

      let android = try phones.add(
        NewPhone(name: "B", platform: .android, environment: .development, topic: ConsoleScene.bundleID))
      let item = ReceivedNotification(
        id: 1, apnsID: "1", topic: ConsoleScene.bundleID, pushType: nil, priority: 10, payload: "{}",
        receivedAt: ConsoleScene.noon)
      let row = PhoneNotificationRow(
        item, on: android, app: "Shop", texts: texts, now: ConsoleScene.noon)
      #expect(row.origin?.source == "Source: Firebase’s documentation" && row.notes.isEmpty)

      func received(_ type: PushType, _ payload: String) -> PhoneNotificationRow {
        let item = ReceivedNotification(
          id: 2, apnsID: "2", topic: ConsoleScene.bundleID, pushType: type, priority: 10, payload: payload,
          receivedAt: ConsoleScene.noon)
        return PhoneNotificationRow(item, on: android, app: "Shop", texts: texts, now: ConsoleScene.noon)
      }
      let call = received(.voip, #"{"aps":{"alert":"Ada calls"}}"#)
      #expect(call.calls.isEmpty && call.uncalled.contains("PushKit") && call.hidden != nil)
      let end = received(.liveactivity, #"{"aps":{"timestamp":1,"event":"end"}}"#)
      #expect(end.title == texts("phones.activity_end") && end.body == nil && end.isShown)
    }
  }

  @Test("the preview of a push that is no notification has no empty table of callbacks")
  func noTable() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      var lin = try await scene.signIn(.operator)
      let activity = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#
      let cases: [([(String, String)], Bool)] = [
        ([], false), ([("push_type", "liveactivity"), ("payload", activity)], true),
      ]
      for (typed, isHidden) in cases {
        let page = ScenePage(try await lin.post("/pushes/preview", SendPageTests.fields + typed))
        let table = try #require(page.tags.first { $0.attributes["data-callbacks"] != nil })
        #expect((table.attributes["hidden"] != nil) == isHidden, "\(typed)")
      }
    }
  }
}
