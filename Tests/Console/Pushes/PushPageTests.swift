import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Store
import Testing

/// The history, one push, one delivery, and the overview, with numbers that are known.
@Suite("Pages: what was sent")
struct PushPageTests {
  private static let dayBefore = ConsoleScene.noon.addingTimeInterval(-86_400)

  private static func draft(_ body: String, _ environment: Environment = .development) -> PushDraft {
    var draft = PushDraft(
      app: ConsoleScene.bundleID, environment: environment, platforms: [.ios], audience: .all, notification: .init())
    draft.notification.body = body
    return draft
  }

  /// Devices that were there before the pushes, so that what is said of their tokens counts.
  private static func addDevices(_ scene: ConsoleScene, _ count: Int) async throws {
    let app = try await scene.addApp()
    _ = try await scene.store.write { database in
      let registrations = (1...count).map { number in
        var registration = Registration(
          token: ConsoleScene.token(number), environment: .development, platform: .ios)
        registration.alias = .set("usr_\(number)")
        return registration
      }
      return try Device.register(database, app: app.id, registrations, now: dayBefore)
    }
  }

  /// Every address of a list, page after page, and back again.
  private static func walk(_ browser: inout SceneBrowser, _ start: String, _ prefix: String) async throws -> [String] {
    var seen: [String] = []
    var pages: [String] = [start]
    var lists: [[String]] = []
    while true {
      let page = ScenePage(try await browser.get(pages[pages.count - 1]))
      let items = page.links.filter { $0.hasPrefix(prefix) && $0.dropFirst(prefix.count).first?.isNumber == true }
      lists.append(items)
      seen += items
      guard let next = page.tags.first(where: { $0.attributes["rel"] == "next" })?.attributes["href"] else {
        break
      }
      pages.append(next)
    }
    for index in pages.indices.reversed().dropLast() {
      let page = ScenePage(try await browser.get(pages[index]))
      let previous = try #require(page.tags.first { $0.attributes["rel"] == "prev" }?.attributes["href"])
      #expect(previous == pages[index - 1], "back leads where one came from")
    }
    return seen
  }

  @Test("long lists are walked forth and back; nothing is left out, nothing comes twice, filters stay")
  func paging() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 120)
      let push = try await scene.send(Self.draft("Hello"))
      var anna = try await scene.signIn(.viewer)
      let devices = try await Self.walk(&anna, "/devices", "/devices/")
      #expect(devices.count == 120 && Set(devices).count == 120)
      let filtered = try await Self.walk(&anna, "/devices?environment=development&state=active", "/devices/")
      #expect(filtered == devices)
      let rows = try await Self.walk(&anna, "/pushes/\(push.uid)?outcome=accepted", "/pushes/\(push.uid)/deliveries/")
      #expect(rows.count == 120 && Set(rows).count == 120)
    }
  }

  @Test("the history is searched and filtered")
  func history() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 1)
      let pushes = [
        try await scene.send(Self.draft("Winter sale")), try await scene.send(Self.draft("Hello", .production)),
      ]
      var anna = try await scene.signIn(.viewer)
      for (query, expected) in [
        ("", [0, 1]), ("q=winter", [0]), ("q=SALE", [0]), ("q=nothing", []), ("environment=production", [1]),
        ("state=finished", [0, 1]), ("state=queued", []), ("source=api", [0, 1]),
        ("source=web", []), ("app=1", [0, 1]), ("from=2026-11-20", [0, 1]), ("from=2026-11-21", []),
        ("to=2026-11-20", [0, 1]), ("to=2026-11-19", []),
        ("q=winter&environment=production", []),
      ] {
        let page = ScenePage(try await anna.get("/pushes?\(query)"))
        for (index, push) in pushes.enumerated() {
          #expect(page.links.contains("/pushes/\(push.uid)") == expected.contains(index), "?\(query)")
        }
        if expected.isEmpty { #expect(page.text.contains("No pushes match these filters"), "?\(query)") }
      }
    }
  }

  @Test("a push tells its outcomes, the reasons in groups with their remedy, and each device")
  func result() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 10)
      scene.provider.answer { member in
        switch member.id {
        case 1...5: .outcome(.accepted)
        case 6, 7: .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: ConsoleScene.noon))
        case 8, 9: .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil))
        default: .outcome(.unknown(reason: "connection_lost"))
        }
      }
      let push = try await scene.send(Self.draft("Hello"))
      var anna = try await scene.signIn(.viewer)
      let target = "/pushes/\(push.uid)"
      let page = ScenePage(try await anna.get(target))
      let counts = Dictionary(
        page.tags.filter { $0.attributes["data-live"] != nil }.map { ($0.attributes["data-live"] ?? "", $0.text) }
      ) { $1 }
      for (name, number) in [
        ("accepted", "5"), ("dead_token", "2"), ("failed", "2"), ("unknown", "1"), ("skipped", "0"), ("pending", "0"),
      ] { #expect(counts[name] == number, "\(name)") }
      let reasons = page.tags.filter { $0.attributes["href"]?.contains("?reason=") == true }
      #expect(
        Dictionary(reasons.map { ($0.attributes["href"] ?? "", $0.text) }) { $1 } == [
          "\(target)?reason=Unregistered#devices": "2 devices", "\(target)?reason=BadDeviceToken#devices": "2 devices",
          "\(target)?reason=connection_lost#devices": "1 device",
        ])
      #expect(page.links.contains { $0.hasPrefix("/devices?app=") && $0.contains("quarantined") })
      func rows(_ query: String) async throws -> [String] {
        let page = ScenePage(try await anna.get("\(target)?\(query)"))
        return page.links.filter { $0.hasPrefix("\(target)/deliveries/") }.map {
          String($0.split(separator: "/").last ?? "")
        }
      }
      #expect(Set(try await rows("outcome=accepted")) == ["1", "2", "3", "4", "5"])
      #expect(Set(try await rows("reason=Unregistered")) == ["6", "7"])
      #expect(try await rows("q=usr_9") == ["9"])
      #expect(try await rows("q=\(ConsoleScene.token(3).hexadecimal.prefix(8))") == ["3"])
      #expect(try await rows("q=nobody") == [])
      let delivery = ScenePage(try await anna.get("\(target)/deliveries/8"))
      #expect(delivery.text.contains("BadDeviceToken") && delivery.text.contains("HTTP/2 400"))
      #expect(delivery.links.count { $0 == "/devices/8" } == 2, "below the heading, and among the facts")
      #expect(delivery.text.contains("authorization: bearer …"), "the secret is left out")
      #expect(delivery.text.contains("POST /3/device/\(ConsoleScene.token(8).hexadecimal)"))
      #expect(ScenePage(try await anna.get("\(target)/deliveries/10")).text.contains("No answer."))
      #expect(try await anna.get("\(target)/deliveries/11").status == 404)
      #expect(try await anna.get("\(target)/deliveries/x").status == 404)
      #expect(try await anna.get("/pushes/none").status == 404)
      let links = page.links.filter { $0.contains("deliveries.") }
      #expect(links == ["\(target)/deliveries.csv", "\(target)/deliveries.json"])
    }
  }

  @Test("a delivery that a refused credential stopped shows the provider's clock beside ours, where it told it")
  func clock() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 2)
      scene.provider.answer { member in
        .outcome(
          .rejected(
            status: 403, reason: member.id == 1 ? "ExpiredProviderToken" : "BadTopic", tokenInvalidSince: nil))
      }
      let push = try await scene.send(Self.draft("Hello"))
      var anna = try await scene.signIn(.viewer)
      for (lead, words) in [
        (nil, nil), (0, "clock agrees"), (-65, "65 s behind this server"), (7200, "7,200 s ahead of this server"),
      ] as [(Int?, String?)] {
        scene.provider.stand(ProviderHealth(clockLead: lead))
        let text = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/1")).text
        #expect(text.contains("’s clock ") == (lead != nil) && words.map(text.contains) != false, "\(text)")
        #expect(!ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/2")).text.contains("’s clock "))
      }
    }
  }

  @Test("an Android device's delivery shows the request to FCM and its answer")
  func android() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let (token, dayBefore) = ("cXyz:APA91bHun4MxP5egoKMwt2KZFBaFUH", Self.dayBefore)
      try await scene.store.write { database in
        let phone = Registration(
          token: DeviceToken(bytes: Array(token.utf8)), environment: .development, platform: .android)
        _ = try Device.register(database, app: app.id, [phone], now: dayBefore)
      }
      scene.provider.answer { _ in .outcome(.rejected(status: 404, reason: "UNREGISTERED", tokenInvalidSince: nil)) }
      var draft = Self.draft("Hello")
      draft.platforms = [.android]
      let push = try await scene.send(draft)
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/1"))
      for text in [
        "POST /v1/projects/$PROJECT/messages:send HTTP/2", "host: fcm.googleapis.com", "authorization: Bearer …", token,
        "HTTP/2 404", "UNREGISTERED", "The app was removed",
      ] { #expect(page.text.contains(text), "\(text)") }
      #expect(!page.text.contains("apns-id"))
      let result = ScenePage(try await anna.get("/pushes/\(push.uid)")).text
      #expect(result.contains("\"notification\"") && !result.contains("\"aps\""), "\(result)")
      let device = try await scene.store.read { try Device.get($0, id: 1) }
      #expect(device.state == .dead)
      #expect(try await anna.get("/devices?q=\(token.prefix(8))").text.contains("cXyz:APA"))
    }
  }

  @Test("an iPhone of FCM's: registered by form, previewed, sent and shown as what FCM gets for APNs")
  func appleByFCM() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let token = "cXyz:APA91bHun4MxP5egoKMwt2KZFBaFUH"
      _ = try await scene.store.write { database in
        try Credential.bind(
          database, app: app.id, provider: .fcm, environment: .development, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      var lin = try await scene.signIn(.operator)
      #expect(try await lin.get("/devices/new").text.contains("value=\"fcm\""))
      let fields = [
        ("app", app.bundleID), ("environment", "development"), ("platform", "ios"), ("provider", ""),
        ("token", token), ("name", "Flutter phone"),
      ]
      #expect(try await lin.post("/devices", fields).status == 303)
      let device = try await scene.store.read { try Device.list($0, DeviceFilter(), limit: 9).items[0] }
      #expect(device.platform == .ios && device.provider == .fcm && device.tokenText == token)
      let page = ScenePage(try await lin.get("/devices?provider=fcm")).text
      #expect(page.contains("Flutter phone") && page.contains("FCM"), "\(page)")
      var draft = Self.draft("Hello")
      draft.options.timeToLive = 60
      let dry = try await scene.call(
        .post, "/api/v1/pushes", as: .operator, json: draft.json.with("options", ["dry_run": true]))
      #expect(dry.status == 200 && dry.json?["reachable"] == 1, "\(dry.text)")
      let push = try await scene.send(draft)
      #expect(scene.provider.sent == [device.id])
      let delivery = ScenePage(try await lin.get("/pushes/\(push.uid)/deliveries/\(device.id)")).text
      for text in [
        "POST /v1/projects/simulator/messages:send HTTP/2", "apns-push-type", "\"aps\"", token,
      ] { #expect(delivery.contains(text), "\(text)") }
      #expect(!delivery.contains("apns-topic") && !delivery.contains("\"android\""))
      let result = ScenePage(try await lin.get("/pushes/\(push.uid)")).text
      #expect(result.contains("\"apns\"") && result.contains("\"aps\""), "\(result)")
      let listed = try await scene.call(.get, "/api/v1/pushes/\(push.uid)/deliveries?provider=fcm", as: .viewer)
      let item = listed.json?["items"]?.array?.first
      #expect(item?["token"] == .string(token) && item?["platform"] == "ios" && item?["apns_id"] == .null)
    }
  }

  @Test("the delivery to an Android device names the project, and the message as FCM called it")
  func messageName() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let dayBefore = Self.dayBefore
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        let phones = ["cXyz:APA91bHun4MxP5egoKMwt2KZFBaFUH", "dXyz:APA91bHun4MxP5egoKMwt2KZFBaFUH"].map {
          Registration(token: DeviceToken(bytes: Array($0.utf8)), environment: .development, platform: .android)
        }
        _ = try Device.register(database, app: app.id, phones, now: dayBefore)
        let account = try TrackedCertificate.add(
          database, .init(kind: "fcm_service_account", name: "shop", fileName: "shop.json"), material: [1],
          sealer: sealer, by: "test", now: dayBefore)
        try CertificateContents.add(
          database, certificate: account.id, says: ["service_account": ["project_id": "shop-1a2b3"]],
          .init(madeBy: nil, note: nil))
        try Credential.bind(
          database, app: app.id, provider: .fcm, environment: .development, certificate: account.id,
          endpoint: "google", now: dayBefore)
      }
      var draft = Self.draft("Hello")
      draft.platforms = [.android]
      let push = try await scene.send(draft)
      let name = "projects/shop-1a2b3/messages/0:1500415314455276%31bd1c9631bd1c96"
      try await scene.store.write { try Delivery.keep($0, names: [1: name], push: push.id) }
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/1")).text
      for text in ["FCM message name", name, "POST /v1/projects/shop-1a2b3/messages:send", "{\"name\":"] {
        #expect(page.contains(text), "\(text)")
      }
      #expect(!page.contains("$PROJECT"))
      #expect(try await !anna.get("/pushes/\(push.uid)/deliveries/2").text.contains("FCM message name"))
      let list = try await scene.call(.get, "/api/v1/pushes/\(push.uid)/deliveries", as: .viewer)
      let items = try #require(list.json?["items"]?.array)
      #expect(items.map { $0["message_name"] } == [.string(name), .null])
      #expect(try document.errors(list, to: .init(method: "GET", path: "/api/v1/pushes/{id}/deliveries")) == [])
    }
  }

  @Test("what a service answered is shown as it came, and in the API; what was not kept is rebuilt")
  func keptAnswer() async throws {
    let document = try OpenAPIDocument()
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      let push = try await scene.send(Self.draft("Hello"))
      let answer = KeptAnswer(
        status: 200,
        fields: [("apns-id", "1234"), ("apns-unique-id", "unique-1"), ("set-cookie", "secret")].map {
          KeptAnswer.Field(name: $0.0, value: $0.1)
        }, body: "")
      try await scene.store.write { try KeptAnswer.keep($0, [1: answer], push: push.id) }
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/1")).text
      for text in ["apns-unique-id: unique-1", "The response is shown as it came."] {
        #expect(page.contains(text), "\(text)")
      }
      #expect(!page.contains("secret"))
      let rebuilt = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/2")).text
      #expect(!rebuilt.contains("apns-unique-id") && rebuilt.contains("Reconstructed from what is stored"))
      let list = try await scene.call(.get, "/api/v1/pushes/\(push.uid)/deliveries", as: .viewer)
      let items = try #require(list.json?["items"]?.array)
      #expect(items.map { $0["apns_unique_id"] } == ["unique-1", .null])
      #expect(
        items.map { $0["answer"] } == [
          [
            "status": 200, "body": "",
            "fields": [
              ["name": "apns-id", "value": "1234"], ["name": "apns-unique-id", "value": "unique-1"],
            ],
          ], .null,
        ])
      #expect(try document.errors(list, to: .init(method: "GET", path: "/api/v1/pushes/{id}/deliveries")) == [])
    }
  }

  @Test("an answer to an earlier attempt is not shown as the last one's; one that proves nothing is")
  func earlierAnswer() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      let push = try await scene.send(Self.draft("Hello"))
      try await scene.store.write { database in
        let page = KeptAnswer(status: 200, fields: [], body: "<html>Sign in</html>")
        try KeptAnswer.keep(database, [1: KeptAnswer(status: 503, fields: [], body: "{}"), 2: page], push: push.id)
        try database.run("INSERT INTO reasons(text) VALUES ('UnreadableAnswer (200 without a msg_id: <html>)')")
        try database.run(
          """
          UPDATE deliveries SET outcome = 5, status = 0, reason_id = (SELECT max(id) FROM reasons) WHERE device_id = 2
          """)
      }
      var anna = try await scene.signIn(.viewer)
      #expect(try await !ScenePage(anna.get("/pushes/\(push.uid)/deliveries/1")).text.contains("HTTP/2 503"))
      #expect(try await ScenePage(anna.get("/pushes/\(push.uid)/deliveries/2")).text.contains("<html>Sign in</html>"))
    }
  }

  @Test("a badge that is counted is shown with the number that each device got")
  func badge() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 1)
      var draft = Self.draft("Hello")
      draft.notification.badge = .add(2)
      var anna = try await scene.signIn(.viewer)
      for number in [2, 4] {
        let push = try await scene.send(draft)
        let page = ScenePage(try await anna.get("/pushes/\(push.uid)/deliveries/1")).text
        #expect(page.contains("+2 → \(number)") && page.contains("\"badge\" : \(number)"), "\(page)")
        let whole = ScenePage(try await anna.get("/pushes/\(push.uid)")).text
        #expect(whole.contains("\"badge\" : \"+2\""), "\(whole)")
        #expect(whole.contains("Badge +2: each device gets its own number"))
      }
      draft.notification.badge = nil
      draft.apns.payload = ["aps": ["alert": "Hello", "badge": "+2"]]
      let raw = try await scene.send(draft)
      let page = ScenePage(try await anna.get("/pushes/\(raw.uid)/deliveries/1")).text
      #expect(page.contains("\"badge\" : 6") && !page.contains("\"+2\""), "\(page)")
      draft.apns.payload = ["aps": ["alert": "Hello", "badge": 3]]
      let fixed = try await scene.send(draft)
      let whole = ScenePage(try await anna.get("/pushes/\(fixed.uid)")).text
      #expect(!whole.contains("each device gets its own number"))
    }
  }

  @Test("a page that is asked for while its push ends shows it before or after, never half of each")
  func oneMoment() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 1)
      let push = try await scene.send(Self.draft("Hello"))
      let anna = try await scene.signIn(.viewer)
      let hasLooked = SceneFlag()
      async let flips: Void = {
        var (state, next) = (PushState.finished, PushState.sending)
        while !hasLooked.isSet {
          let (from, to) = (state, next)
          _ = try await scene.store.write {
            try Push.move($0, id: push.id, from: [from], to: to, now: ConsoleScene.noon)
          }
          (state, next) = (to, from)
        }
      }()
      // Side by side, so that each has to wait for its reads, and the push has time to move between them.
      try await withThrowingTaskGroup(of: Void.self) { group in
        defer { hasLooked.set() }
        for _ in 0..<16 {
          group.addTask {
            var browser = anna
            for _ in 0..<10 {
              let page = ScenePage(try await browser.get("/pushes/\(push.uid)"))
              let state = page.tags.first { $0.attributes["data-live"] == "state_text" }?.text
              let isFollowed = page.tags.contains { $0.attributes["data-progress"] != nil }
              #expect(isFollowed == (state == "Sending"), "it says \(state ?? "nothing")")
            }
          }
        }
        try await group.waitForAll()
      }
      try await flips
    }
  }

  @Test("receipts are shown where an app may still report; none are if no device got the push")
  func reports() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 2)
      var anna = try await scene.signIn(.viewer)
      func hasReceipts(_ push: Push) async throws -> Bool {
        try await anna.get("/pushes/\(push.uid)").text.contains("data-receipts=")
      }
      scene.provider.answer { _ in .outcome(.accepted) }
      #expect(try await hasReceipts(try await scene.send(Self.draft("Hello"))))
      scene.provider.answer { _ in .outcome(.unknown(reason: "connection_lost")) }
      #expect(try await hasReceipts(try await scene.send(Self.draft("Hello"))), "it may have arrived all the same")
      scene.provider.answer { _ in
        .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: ConsoleScene.noon))
      }
      #expect(try await !hasReceipts(try await scene.send(Self.draft("Hello"))))
    }
  }

  @Test("a link to the devices that a reason parked shows them")
  func parkedLink() async throws {
    try await ConsoleScene.with { scene in
      try await Self.addDevices(scene, 3)
      scene.provider.answer { member in
        member.id == 1
          ? .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)) : .outcome(.accepted)
      }
      let push = try await scene.send(Self.draft("Hello"))
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes/\(push.uid)"))
      let link = try #require(page.links.first { $0.contains("state=quarantined") })
      let devices = ScenePage(try await anna.get(link))
      #expect(devices.links.filter { $0.hasPrefix("/devices/") && $0.last?.isNumber == true } == ["/devices/1"])
      let names = ["app", "environment", "state"].map { devices.values($0) }
      #expect(
        names == [[ConsoleScene.bundleID], ["development"], ["quarantined"]], "the filters say what is shown")
    }
  }

  @Test("the overview says what needs somebody: failed pushes, dead tokens, what expires; or that nothing does")
  func overview() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer)
      #expect(ScenePage(try await anna.get("/")).text.contains("All clear"))
      try await Self.addDevices(scene, 60)
      scene.provider.answer { member in
        member.id <= 25
          ? .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: ConsoleScene.noon))
          : member.id == 26
            ? .outcome(.rejected(status: 400, reason: "PayloadEmpty", tokenInvalidSince: nil)) : .outcome(.accepted)
      }
      let push = try await scene.send(Self.draft("Winter sale"))
      let sealer = scene.store.sealer
      _ = try await scene.store.write { database in
        for (name, days) in [("old", -3.0), ("near", 5), ("month", 25), ("far", 300)] {
          var details = TrackedCertificate.Details(kind: "apns_certificate", name: name, fileName: name)
          details.notAfter = ConsoleScene.noon.addingTimeInterval(days * 86_400 + 60)
          try TrackedCertificate.add(
            database, details, material: [1], sealer: sealer, by: "lin", now: ConsoleScene.noon)
        }
      }
      let page = ScenePage(try await anna.get("/"))
      let text = page.text
      #expect(text.contains("5 things need attention Most urgent: Shop, "), "what failed, before what expires")
      for word in ["old", "near", "month"] { #expect(text.contains(word), "\(word)") }
      #expect(!text.contains("far"))
      #expect(page.links.contains("/pushes/\(push.uid)"))
      var links: [String] = []
      for incident in page.links where incident.hasPrefix("/incidents/") {
        links += ScenePage(try await anna.get(incident)).links
      }
      let dead = try #require(links.first { $0.contains("state=dead") })
      let devices = ScenePage(try await anna.get(dead)).links.filter {
        $0.hasPrefix("/devices/") && $0.last?.isNumber == true
      }
      #expect(devices.count == 25, "the link shows the dead ones")
      #expect(text.contains("34 accepted, 1 failed, 25 unregistered"))
      // The numbers of a day lead to its pushes; a day without any leads nowhere.
      let days = page.links.filter { $0.hasPrefix("/pushes?from=") }
      #expect(days.count == 1)
      #expect(ScenePage(try await anna.get(try #require(days.first))).links.contains("/pushes/\(push.uid)"))
    }
  }
}
