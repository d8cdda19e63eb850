import Console
import Delivery
import Foundation
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Simulator

@Suite("Pages: phones")
struct PhonePageTests {
  @Test("without the simulator the page says how to start it, and nothing else works")
  func noSimulator() async throws {
    try await ConsoleScene.with { scene in
      var ben = try await scene.signIn(.operator)
      let page = try await ben.get("/phones")
      #expect(page.status == 200 && page.text.contains("signalbox serve --demo"))
      let tags = ScenePage(page).tags
      #expect(tags.contains { $0.attributes["href"] == "/phones" && $0.attributes["aria-current"] == "page" })
      #expect(tags.contains { $0.attributes["class"] == "empty" } && !page.text.contains(">History<"))
      #expect(try await ben.get("/phones/ca.pem").status == 404)
      for target in ["/phones", "/phones/faults", "/phones/1", "/phones/1/remove"] {
        #expect(try await ben.post(target).status == 409, "\(target)")
      }
      #expect(try await ben.get("/phones/events").status == 409)
    }
  }

  @Test("a phone is made with its device, or without; removed, it is gone")
  func life() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp(aliasRule: "jpush")
      var ben = try await scene.signIn(.operator)
      let fields = [
        ("app", ConsoleScene.bundleID), ("environment", "production"), ("name", "Ada’s iPhone"), ("alias", "usr_ada"),
        ("tags", "vip, beta"),
      ]
      let made = try await ben.post("/phones", fields + [("register", "1")])
      #expect(made.status == 303 && made.location == "/phones?phone=1")
      let phone = try #require(phones.phone(1))
      let device = try await scene.store.read { try Device.get($0, id: 1) }
      #expect(device.token == phone.token && device.environment == .production && device.alias == "usr_ada")
      #expect(Set(device.tags) == ["vip", "beta"] && device.name == "Ada’s iPhone")
      let shown = try await ben.get("/phones")
      #expect(ScenePage(shown).links.contains("/devices/1"))
      #expect(phones.changeCount > 0)
      for page in [shown, try await ben.get("/phones/wall")] {
        #expect(page.text.contains("data-changes=\"\(phones.changeCount)\""), "nothing is to be fetched again")
      }
      _ = try await ben.post("/phones", fields)
      #expect(phones.phones().count == 2)
      #expect(try await scene.count("devices") == 1, "not registered")

      for (changes, place) in [
        ([("name", "")], "name"), ([("alias", "a-b")], "alias"), ([("tags", "ok, a-b")], "tags"),
        ([("app", "")], "app"),
        ([("app", "com.example.none")], "app"), ([("environment", "")], "environment"),
      ] {
        let typed = fields.map { field in changes.first { $0.0 == field.0 } ?? field }
        let answer = try await ben.post("/phones", typed + [("register", "1")])
        #expect(answer.status == 422, "\(changes)")
        let page = ScenePage(answer)
        #expect(page.failedFields == [place])
        for name in ["name", "alias", "tags"] { #expect(page.values(name) == typed.filter { $0.0 == name }.map(\.1)) }
        #expect(page.values("register") == ["1"])
      }
      #expect(phones.phones().count == 2)
      #expect(try await ben.post("/phones/2/remove").location == "/phones")
      #expect(phones.phone(2) == nil)
      #expect(try await ben.post("/phones/2/remove").status == 404)
      #expect(try await ben.post("/phones/2", [("action", "off")]).status == 404)
    }
  }

  @Test("what a person does with a phone happens; what cannot be is told")
  func actions() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      _ = try phones.add(NewPhone(name: "A", environment: .development, topic: ConsoleScene.bundleID))
      var ben = try await scene.signIn(.operator)
      func act(_ action: String) async throws -> Int {
        try await ben.post("/phones/1", [("action", action), ("notification", "1")]).status
      }
      func phone() throws -> SimulatedPhone { try #require(phones.phone(1)) }
      #expect(try await act("foreground") == 303)
      #expect(try phone().appState == .foreground)
      #expect(try await act("not_running") == 303)
      #expect(try phone().appState == .notRunning)
      #expect(try await act("background") == 303)
      #expect(try phone().appState == .background)
      #expect(try await act("off") == 303)
      #expect(try phone().power == .off)
      #expect(try await act("foreground") == 409, "a phone that is off shows nothing")
      #expect(try await act("on") == 303)
      #expect(try phone().power == .on)
      #expect(try await act("clear") == 303)
      #expect(try await act("tap") == 409, "there is nothing to tap on")
      #expect(try await act("uninstall") == 303)
      #expect(try phone().state != .installed)
      #expect(try await act("uninstall") == 409)
      #expect(try await act("dance") == 422)
      #expect(try await act("") == 422)
    }
  }

  @Test("what a phone got is shown with its exact request; tapped on, it says when")
  func received() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      let phone = try phones.add(NewPhone(name: "A", environment: .development, topic: ConsoleScene.bundleID))
      try phones.receive(
        phone, ["aps": ["alert": ["title": "Hello", "body": "World"]]], id: "ID-1", collapseID: "news")
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(try await ben.get("/phones"))
      for word in ["Hello", "World", "just now", "1 unread"] { #expect(page.text.contains(word), "\(word)") }
      let headers = try await ben.get("/phones?show=headers").text
      for word in ["apns-id: ID-1", "apns-collapse-id: news", "apns-push-type: alert"] {
        #expect(headers.contains(word), "\(word)")
      }
      let present = "userNotificationCenter(<wbr>willPresent)"
      #expect(try await ben.get("/phones?show=callbacks").text.contains(present) == false, "in the background")
      let callbacks = try await ben.get("/phones?show=callbacks").text
      #expect(callbacks.contains("<code title=\"userNotificationCenter(_:didReceive:withCompletionHandler:)\">"))
      let name = "userNotificationCenter(<wbr>didReceive)"
      #expect(callbacks.components(separatedBy: name).count == 3, "in the facts and in the list: \(callbacks)")
      let id = try #require(phones.phone(1)?.received.first?.id)
      let buttons = { (page: ScenePage) in
        page.values("action").filter { $0 == "tap" }.count
          + page.tags.filter {
            $0.name == "button" && $0.attributes["value"] == "tap"
          }.count
      }
      #expect(buttons(page) == 1)
      scene.clock.advance(295)
      #expect(try await ben.post("/phones/1", [("action", "tap"), ("notification", "\(id)")]).status == 303)
      let tapped = ScenePage(try await ben.get("/phones"))
      #expect(tapped.text.contains("Tapped") && !tapped.text.contains("unread"), "and says so")
      #expect(tapped.text.contains("+4 min"), "a long wait is not told in seconds")
      #expect(buttons(tapped) == 0)
      #expect(try await ben.post("/phones/1", [("action", "clear")]).status == 303)
      #expect(!(try await ben.get("/phones").text.contains("Hello")))
    }
  }

  @Test("the inbox has everything that arrived, newest first, by phone, by what is searched for, and page by page")
  func inbox() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      let ada = try phones.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      let ben = try phones.add(NewPhone(name: "Ben", environment: .development, topic: ConsoleScene.bundleID))
      for number in 1...45 {
        try phones.receive(
          number % 3 == 0 ? ben : ada, ["aps": ["alert": ["title": .string("Order \(number)."), "body": "x"]]],
          id: "ID-\(number)")
      }
      var reader = try await scene.signIn(.viewer)
      func titles(_ path: String) async throws -> [Int] {
        let page = try await reader.get(path)
        #expect(page.status == 200)
        let list = page.text.components(separatedBy: "<ul class=\"inbox\">").last?.components(separatedBy: "</ul>")
          .first
        return try #require(list).matches(of: /Order (\d+)\./).compactMap { Int($0.1) }
      }
      let newest = try await titles("/phones")
      #expect(newest == Array((6...45).reversed()))
      let ids = try #require(phones.phone(ada.id)).received + #require(phones.phone(ben.id)).received
      let last = ids.map(\.id).sorted()[5]
      #expect(try await reader.get("/phones").text.contains("/phones?before=\(last)"))
      let older = try await titles("/phones?before=\(last)")
      #expect(older == [5, 4, 3, 2, 1])
      let own = try await titles("/phones?phone=\(ben.id)")
      #expect(own == (1...15).reversed().map { $0 * 3 })
      let found = try await titles("/phones?q=order%207.")
      #expect(found == [7])
      let named = try await titles("/phones?q=ben")
      #expect(named == own, "a phone's name finds what it received")
      #expect(try await reader.get("/phones?q=nobody").text.contains("No push in the inbox matches"))
      // A chosen notification puts its phone on the stage.
      let chosen = try #require(phones.phone(ben.id)?.received.dropFirst().first)
      let page = ScenePage(try await reader.get("/phones?n=\(chosen.id)"))
      #expect(
        page.tags.contains { $0.attributes["id"] == "arrival-\(chosen.id)" && $0.attributes["aria-current"] != nil })
      #expect(
        page.tags.contains {
          $0.attributes["class"] == "handset" && $0.attributes["aria-label"]?.hasPrefix("Ben") == true
        })
      #expect(try await reader.get("/phones?phone=99&n=x&show=y&before=z").status == 200)
    }
  }

  @Test("what became of a push is told step by step, from the console to the app's report")
  func story() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      let app = try await scene.addApp()
      let phone = try phones.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      var rule = Audience.Rule()
      rule.deviceToken = [phone.token]
      let draft = PushDraft(
        app: app.bundleID, environment: .development, platforms: [.ios], audience: .rule(rule),
        notification: PushNotification())
      let push = try await scene.store.write {
        try Push.create($0, NewPush(draft, app: app, source: .api, by: "lin"), now: ConsoleScene.noon)
      }
      var ben = try await scene.signIn(.viewer)
      let inbox = "/phones?q=\(push.uid)"
      #expect(try await !ben.get("/pushes/\(push.uid)").text.contains(inbox), "nothing has arrived")
      try phones.receive(phone, ["aps": ["alert": "Hi"], "sbid": .string(push.uid)], id: "ID-1")
      // The push leads to the phones, and they show what arrived of it.
      #expect(try await ben.get("/pushes/\(push.uid)").text.contains("href=\"\(inbox)\""))
      #expect(try await ben.get(inbox).text.contains("arrival-"))
      let page = try await ben.get("/phones")
      for word in ["Created (", "Shown on the phone", "/pushes/\(push.uid)"] {
        #expect(page.text.contains(word), "\(word)")
      }
      #expect(page.text.contains("On the screen"))
      // A program of somebody else's has no push here.
      try phones.receive(phone, ["aps": ["alert": "Other"], "sbid": "unknown-unknown"], id: "ID-2")
      let other = try await ben.get("/phones").text
      #expect(other.contains("Shown on the phone") && !other.contains("Created ("))
      try phones.uninstall(phone.id, now: ConsoleScene.noon)
      let gone = try await ben.get("/phones").text
      #expect(gone.contains("Removed with the app") && !gone.contains("On the screen"))
    }
  }

  @Test("what a phone makes of a push without an alert, with keys for texts, or in the foreground, is said")
  func effects() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      let phone = try phones.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      var ben = try await scene.signIn(.viewer)
      let cases: [(PushType, JSONValue, shown: Bool, text: String)] = [
        (.background, ["content-available": 1], false, "Silent: nothing is shown"),
        (.alert, ["badge": 3], false, "No alert: only the badge or a sound"),
        (.alert, ["alert": ""], false, "Empty: nothing is shown"),
        (.voip, ["alert": "Ring"], false, "Not a notification: nothing is shown"),
        (.alert, ["alert": ["title-loc-key": "REQUEST", "loc-key": "PLAY"]], true, "REQUEST"),
        (.alert, ["alert": ["loc-key": "PLAY"]], true, "PLAY"),
      ]
      for (index, one) in cases.enumerated() {
        try phones.receive(phone, ["aps": one.1], id: "ID-\(index)", pushType: one.0)
        let got = try #require(phones.phone(phone.id)).received.first
        #expect(got?.isShown == one.shown, "\(one.text)")
        let page = try await ben.get("/phones")
        #expect(ScenePage(page).text.contains(one.text), "\(one.text)")
        try phones.clear(phone.id)
      }
      try phones.setAppState(phone.id, .foreground, now: ConsoleScene.noon)
      try phones.receive(phone, ["aps": ["alert": "Hi"]], id: "ID-9")
      let page = try await ben.get("/phones")
      #expect(ScenePage(page).text.contains("As a banner, if willPresent asks for one"))
    }
  }

  @Test("with notifications off the screen is empty, and the page says why")
  func notificationsOff() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      let phone = try phones.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      try phones.receive(phone, ["aps": ["alert": "Earlier"]], id: "ID-1")
      var ben = try await scene.signIn(.operator)
      func page() async throws -> ScenePage { ScenePage(try await ben.get("/phones")) }
      func arrivals(_ page: ScenePage) -> Int { page.tags.count { $0.attributes["data-arrival"] != nil } }
      #expect(try await ben.post("/phones/1", [("action", "notifications_off")]).status == 303)
      let off = try await page()
      #expect(arrivals(off) == 0)
      for word in ["Notifications are off: push services", "Removed when notifications were turned off"] {
        #expect(off.text.contains(word), "\(word)")
      }
      #expect(
        off.tags.contains {
          $0.attributes["value"] == "notifications_off" && $0.attributes["aria-pressed"] == "true"
        })
      try phones.receive(phone, ["aps": ["alert": "Later"]], id: "ID-2")
      let denied = try await page()
      for word in ["Not shown: the app’s notifications were off", "Arrived, nothing shown", "never calls the app"] {
        #expect(denied.text.contains(word), "\(word)")
      }
      try phones.receive(phone, ["aps": ["alert": "Both", "content-available": 1]], id: "ID-3")
      let both = try await page()
      #expect(both.text.contains("Handed to the app, nothing shown"))
      #expect(try await ben.post("/phones/1", [("action", "notifications_allowed")]).status == 303)
      let allowed = try await page()
      #expect(arrivals(allowed) == 1 && !allowed.text.contains("Notifications are off"))
      _ = try phones.add(
        NewPhone(name: "Pixel", platform: .android, environment: .development, topic: ConsoleScene.bundleID))
      let android = ScenePage(try await ben.get("/phones?phone=2"))
      #expect(android.tags.contains { $0.attributes["value"] == "notifications_off" })
      #expect(try await ben.post("/phones/1", [("action", "uninstall")]).status == 303)
      #expect(try await ben.post("/phones/1", [("action", "notifications_off")]).status == 409)
    }
  }

  @Test("the lock screen stacks notifications of one thread, with the newest on top")
  func threads() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      let phone = try phones.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      let threads: [String?] = ["chat", nil, "chat", "news", "chat", nil]
      for (number, thread) in threads.enumerated() {
        var aps: [String: JSONValue] = ["alert": .string("Text \(number)")]
        aps["thread-id"] = thread.map { .string($0) }
        try phones.receive(phone, ["aps": .object(aps)], id: "ID-\(number)")
      }
      let ids = try #require(phones.phone(phone.id)).received.map(\.id)
      var ben = try await scene.signIn(.viewer)
      let page = ScenePage(try await ben.get("/phones"))
      let shown = page.tags.compactMap { $0.attributes["data-arrival"] }
      #expect(shown == [ids[0], ids[1], ids[2]].map { "\($0)" })
      #expect(page.text.contains("2 more notifications") && !page.text.contains("1 more notification"))
    }
  }

  @Test("a Live Activity is one notification, whose page lists its updates")
  func liveActivity() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      let phone = try phones.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      for (time, event, score) in [(10, "start", "0:0"), (30, "update", "2:0"), (20, "update", "1:0")] {
        try phones.receive(
          phone,
          [
            "aps": [
              "timestamp": .integer(Int64(time)), "event": .string(event), "content-state": ["score": .string(score)],
            ]
          ], id: "ID-\(time)", pushType: .liveactivity)
      }
      let ids = try #require(phones.phone(phone.id)).received.map(\.id)
      var ben = try await scene.signIn(.viewer)
      let page = try await ben.get("/phones")
      let (tags, text) = (ScenePage(page).tags, ScenePage(page).text)
      #expect(tags.compactMap { $0.attributes["id"] }.filter { $0.hasPrefix("arrival-") } == ["arrival-\(ids[1])"])
      #expect(tags.compactMap { $0.attributes["data-arrival"] } == ["\(ids[1])"], "one on the lock screen")
      for word in ["1 unread", "Started · score: 0:0", "Updated · score: 2:0", "On the screen"] {
        #expect(text.contains(word), "\(word)")
      }
      let late = ScenePage(try await ben.get("/phones?n=\(ids[0])")).text
      #expect(late.contains("Not shown: its timestamp is older"))
      let first = ScenePage(try await ben.get("/phones?n=\(ids[2])")).text
      #expect(first.contains("A later update replaced its content"))
    }
  }

  @Test("requests are listed by their outcome, refused ones with a reason that leads on; one is shown with its answer")
  func requests() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let simulator = try #require(scene.simulator)
      var ben = try await scene.signIn(.viewer)
      #expect(ScenePage(try await ben.get("/phones/requests")).text.contains("No requests yet"))
      for index in 1...60 {
        let body: JSONValue = ["to": .string("x\(index)"), "notification": ["title": .string("Sale \(index)")]]
        _ = try await simulator.fcm.answer(
          SimulatedCall(method: "POST", target: "/fcm/send", authorization: "key=secret", body: body.bytes))
      }
      _ = try await simulator.jpush.answer(
        SimulatedCall(
          method: "POST", target: "/v3/push", authorization: "Basic YTpi",
          body: Array(#"{"platform":"all","audience":{"alias":["none"]},"notification":{"alert":"Hi"}}"#.utf8)))
      _ = try await simulator.jpush.answer(
        SimulatedCall(method: "GET", target: "/v3/push/cid", authorization: "Basic YTpi", body: []))
      let answer = try await ben.get("/phones/requests")
      let page = ScenePage(answer)
      for text in ["All 62", "Refused 61", "No push 1", "GET /v3/push/cid", "Refused · JPush 1011", "Sale 60"] {
        #expect(page.text.contains(text), "\(text): \(page.text)")
      }
      #expect(!page.text.contains("Sale 1 ") && page.links.contains("/phones/requests?before=13"))
      #expect(ScenePage(try await ben.get("/phones/requests?before=13")).text.contains("Sale 1 "))
      let refused = ScenePage(try await ben.get("/phones/requests?outcome=refused"))
      #expect(!refused.text.contains("/v3/push/cid"))
      for text in ["Hi", "cannot find user by this audience", "HTTP 400", "POST /v3/push"] {
        #expect(refused.text.contains(text), "\(text)")
      }
      #expect(refused.links.contains("/codes/JPush%201011"), "\(refused.links)")
      let one = try await ben.get("/phones/requests?request=1")
      #expect(ScenePage(one).text.contains(#""error":"InvalidRegistration""#) && !one.text.contains("key=secret"))
      #expect(ScenePage(try await ben.get("/phones")).links.contains("/phones/requests") == false, "there is no phone")
    }
  }

  @Test("the wall shows six phones: those that are chosen, or those that received something last")
  func wall() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      let all = try (1...8).map {
        try phones.add(NewPhone(name: "P\($0)", environment: .development, topic: ConsoleScene.bundleID))
      }
      try phones.receive(all[7], ["aps": ["alert": "Hi"]], id: "ID-1")
      try phones.setPower(all[0].id, .off)
      try phones.uninstall(all[1].id, now: ConsoleScene.noon)
      var ben = try await scene.signIn(.viewer)
      func shown(_ path: String) async throws -> [String] {
        try await ben.get(path).text.matches(of: /<h2 class="cut"><a href="[^"]*">(P\d)</).map { String($0.1) }
      }
      let usual = try await shown("/phones/wall")
      #expect(usual == ["P1", "P2", "P3", "P4", "P5", "P8"])
      let page = try await ben.get("/phones/wall").text
      for word in ["6 phones", "Switched off", "App uninstalled", "shown, not opened", "Nothing arrived yet"] {
        #expect(page.contains(word), "\(word)")
      }
      let chosen = try await shown("/phones/wall?phone=\(all[6].id)&phone=\(all[2].id)&phone=99")
      #expect(chosen == ["P3", "P7"])
    }
  }

  @Test("a phone is deleted only after a question")
  func question() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      let phone = try phones.add(NewPhone(name: "Ada", environment: .development, topic: ConsoleScene.bundleID))
      var ben = try await scene.signIn(.operator)
      #expect(try await ben.get("/phones/\(phone.id)/remove").text.contains("Delete Ada?"))
      #expect(phones.phone(phone.id) != nil)
      #expect(try await ben.get("/phones/99/remove").status == 404)
    }
  }

  @Test("an app that is installed again registers its new token, with everything the device had")
  func reinstall() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      _ = try await ben.post(
        "/phones",
        [
          ("app", ConsoleScene.bundleID), ("environment", "development"), ("name", "Ada"), ("alias", "usr_ada"),
          ("tags", "vip"), ("register", "1"),
        ])
      let before = try #require(phones.phone(1)).token
      _ = try await ben.post("/phones/1", [("action", "uninstall")])
      #expect(try await ben.post("/phones/1", [("action", "reinstall")]).status == 303)
      let after = try #require(phones.phone(1)).token
      #expect(after != before)
      let devices = try await scene.store.read { database in try (1...2).map { try Device.get(database, id: $0) } }
      #expect(devices.map(\.token) == [before, after])
      #expect(devices[1].alias == "usr_ada" && devices[1].tags == ["vip"] && devices[1].name == "Ada")
      #expect(ScenePage(try await ben.get("/phones")).links.contains("/devices/2"))
      // A phone whose token nobody registered does not begin to after all.
      _ = try phones.add(NewPhone(name: "B", environment: .development, topic: ConsoleScene.bundleID))
      for action in ["uninstall", "reinstall"] { _ = try await ben.post("/phones/2", [("action", action)]) }
      #expect(try await scene.count("devices") == 2)
    }
  }

  @Test("an Android phone is added with its FCM token, and the page shows what arrived and what the app is told")
  func android() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let simulator = try #require(scene.simulator)
      let phones = simulator.phones
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      #expect(ScenePage(try await ben.get("/phones/new?platform=android")).values("platform") == ["android"])
      let fields = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("name", "Pixel"), ("register", "1"),
      ]
      #expect(try await ben.post("/phones", fields + [("platform", "windows")]).status == 422)
      #expect(try await ben.post("/phones", fields + [("platform", "android")]).status == 303)
      let phone = try #require(phones.phone(1))
      let device = try await scene.store.read { try Device.get($0, id: 1) }
      #expect(device.platform == .android && device.token == phone.token)
      func act(_ name: String, _ value: String) async throws -> Int {
        try await ben.post("/phones/1", [(name, value)]).status
      }
      func send(_ title: String?, _ android: JSONValue) throws {
        var message: [String: JSONValue] = ["token": .string(phone.tokenText), "android": android, "data": ["k": "v"]]
        message["notification"] = title.map { ["title": .string($0), "body": "Text"] }
        let body: JSONValue = ["message": .object(message)]
        let sent = phones.deliver(
          try FCMMessage.read(body.bytes).message, name: "projects/p/messages/1", isDry: false, now: ConsoleScene.noon)
        if case .failure(let refusal) = sent { Issue.record("\(refusal)") }
      }
      try send("Shown", ["notification": ["channel_id": "orders", "image": "https://a.b/c.png"]])
      let shown = ScenePage(try await ben.get("/phones"))
      for word in ["Shown", "Channel orders, image https://a.b/c.png", "onNewIntent"] {
        #expect(shown.text.contains(word), "\(word)")
      }
      #expect(try await ben.get("/phones?show=headers").text.contains("priority: NORMAL"))
      #expect(shown.text.contains(phone.tokenText) && shown.links.contains("/devices/1"))
      #expect(try await act("channel_off", "orders") == 303)
      #expect(try await act("action", "doze") == 303)
      #expect(try #require(phones.phone(1)?.android).mutedChannels == ["orders"])
      #expect(try await ben.get("/phones").text.contains("In Doze"))
      #expect(try await act("action", "wake") == 303)
      #expect(try await act("channel_on", "orders") == 303)
      #expect(try #require(phones.phone(1)?.android) == AndroidState())
      #expect(try await act("action", "refresh") == 303)
      #expect(try #require(phones.phone(1)).token != phone.token)
      #expect(try await scene.count("devices") == 2, "the app registers its new token")
      #expect(try await act("action", "uninstall") == 303)
      #expect(try await act("action", "refresh") == 409)
    }
  }

  @Test("a phone that is registered with JPush shows what JPush's library tells the app")
  func jpush() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      try await scene.addApp()
      _ = try phones.add(
        NewPhone(
          name: "Mi", platform: .android, provider: .jpush, environment: .development, topic: ConsoleScene.bundleID))
      var draft = PushDraft(
        app: ConsoleScene.bundleID, environment: .development, platforms: [.android], audience: .all,
        notification: Model.Notification())
      draft.notification.title = "Hello"
      _ = phones.deliver(draft, message: 7, isDry: false, now: ConsoleScene.noon)
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(try await ben.get("/phones?show=callbacks"))
      for word in ["onNotifyMessageArrived", "onNotifyMessageOpened"] {
        #expect(page.text.contains(word), "\(word)")
      }
      #expect(!page.text.contains("onNewIntent"))
    }
  }

  @Test("faults are set for one environment, shown, and taken back; a count out of range changes nothing")
  func faults() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let simulator = try #require(scene.simulator)
      var ben = try await scene.signIn(.operator)
      func set(_ environment: String, _ fault: String, _ count: String) async throws -> SceneAnswer {
        try await ben.post("/phones/faults", [("server", environment), ("fault", fault), ("count", count)])
      }
      let kinds = ["429", "500", "503", "410", "slow", "goaway", "cut", "none"]
      for kind in kinds {
        for count in ["", "3"] {
          #expect(try await set("production", kind, count).status == 303, "\(kind)")
          let faults = simulator.faults(.production).faults
          #expect((faults == Faults()) == (kind == "none"), "\(kind)")
          let page = ScenePage(try await ben.get("/phones"))
          #expect(page.values("fault") == ["none", kind, "none", "none"], "\(kind)")
          #expect(simulator.faults(.development).faults == Faults(), "the other one goes on as it was")
        }
      }
      for kind in ["fcm_400", "fcm_401", "fcm_403", "fcm_404", "fcm_429", "fcm_500", "fcm_503", "slow", "none"] {
        #expect(try await set("fcm", kind, "").status == 303, "\(kind)")
        #expect(ScenePage(try await ben.get("/phones")).values("fault") == ["none", "none", kind, "none"])
      }
      for kind in ["jpush_401", "jpush_400", "jpush_429", "jpush_500", "slow", "none"] {
        #expect(try await set("jpush", kind, "").status == 303, "\(kind)")
        #expect(ScenePage(try await ben.get("/phones")).values("fault") == ["none", "none", "none", kind])
      }
      #expect(try await set("fcm", "410", "").status == 422, "an error of APNs")
      #expect(try await set("production", "fcm_404", "").status == 422, "an error of FCM")
      _ = try await set("production", "503", "")
      for count in ["0", "-1", "1000001", "x", "1.5"] {
        let answer = try await set("production", "429", count)
        #expect(answer.status == 422)
        #expect(ScenePage(answer).failedFields == ["count-production"])
        let focused = ScenePage(answer).tags.first { $0.attributes["autofocus"] != nil }
        #expect(focused?.attributes["id"] == "count-production")
        #expect(ScenePage(answer).values("count").contains(count), "what was typed stays")
      }
      #expect(simulator.faults(.production).faults.answers.first?.status == 503)
      let stopped = try await ben.post("/phones/faults", [("server", "production"), ("fault", "503"), ("stop", "1")])
      #expect(stopped.status == 303 && simulator.faults(.production).faults == Faults())
      #expect(try await set("nowhere", "429", "").status == 422)
      #expect(try await set("production", "dance", "").status == 422)
    }
  }

  @Test("the demo is set up once: a second start leaves what somebody worked with as it is")
  func demo() async throws {
    try await ConsoleScene.with { scene in
      let book = try await PhoneBook.open(StoredPhones(scene.store) { ConsoleScene.noon })
      try await DemoInstallation.install(store: scene.store, phones: book, now: ConsoleScene.noon)
      let channel = try ChannelBook(book).create(.storesLatest, app: ConsoleScene.bundleID, .development)
      try await book.flush()
      #expect(try await scene.count("apps") == 1)
      #expect(try await scene.count("devices") == DemoWorld.shop.phones.count)
      #expect(try await scene.count("credentials WHERE endpoint = 'simulator'") == 6)
      _ = try await scene.store.write { database in
        try App.update(database, id: 1, name: "Mine", packageName: nil, aliasRule: nil)
      }
      let again = try await PhoneBook.open(StoredPhones(scene.store) { ConsoleScene.noon })
      #expect(again.phones().map(\.token) == book.phones().map(\.token), "phones are kept with the database")
      #expect(ChannelBook(again).all.map(\.id) == [channel], "channels, too")
      try await DemoInstallation.install(store: scene.store, phones: again, now: ConsoleScene.noon)
      #expect(try await scene.count("apps WHERE name = 'Mine'") == 1)
      #expect(try await scene.count("devices") == DemoWorld.shop.phones.count)
      #expect(try await scene.count("certificates") == 1)
    }
  }
}
