import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages and API: a push in several languages")
struct LocalizationPageTests {
  /// Three devices: one in German, one in Chinese, one that says nothing.
  private static func with(_ body: @Sendable (ConsoleScene, [Device]) async throws -> Void) async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let devices = try await scene.addDevices(3, of: app)
      try await speak(scene, devices[0], "de-DE")
      try await speak(scene, devices[1], "zh_CN")
      try await body(scene, devices)
    }
  }

  private static func speak(_ scene: ConsoleScene, _ device: Device, _ language: String) async throws {
    try await scene.store.write { database in
      var input = AppRegistration(
        app: device.appID, Registration(token: device.token, environment: .development, platform: .ios))
      input.details = DeviceDetails(language: language)
      _ = try AppRegistration.register(database, [input], now: ConsoleScene.noon)
    }
  }

  private static let push: JSONValue = [
    "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
    "notification": [
      "title": "Order", "body": "On its way",
      "localizations": ["de": ["body": "Unterwegs"], "zh-hans": ["title": "订单", "body": "已发货"]],
    ],
  ]

  @Test("the API takes the texts, says which one each device got, and the device page shows that request for good")
  func api() async throws {
    try await Self.with { scene, devices in
      let sent = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: Self.push)
      #expect(sent.status == 202, "\(sent.text)")
      let uid = try #require(sent.json?["id"]?.string)
      _ = try await scene.finished(uid)
      let push = try await scene.call(.get, "/api/v1/pushes/\(uid)", as: .viewer)
      #expect(
        push.json?["draft"]?["notification"]?["localizations"]?["zh-Hans"] == ["title": "订单", "body": "已发货"],
        "\(push.text)")
      // The devices' languages change later.
      for device in devices { try await Self.speak(scene, device, "zh-Hans") }
      let list = try await scene.call(.get, "/api/v1/pushes/\(uid)/deliveries", as: .viewer)
      let languages = (list.json?["items"]?.array ?? []).map { $0["language"] }
      #expect(languages == ["de", "zh-Hans", .null], "\(list.text)")

      var ben = try await scene.signIn(.operator)
      let german = ScenePage(try await ben.get("/pushes/\(uid)/deliveries/\(devices[0].id)")).text
      #expect(german.contains("Unterwegs") && german.contains("Order") && !german.contains("On its way"), "\(german)")
      let chinese = ScenePage(try await ben.get("/pushes/\(uid)/deliveries/\(devices[1].id)")).text
      #expect(chinese.contains("已发货") && !chinese.contains("On its way") && chinese.contains("zh-Hans"))
      let other = ScenePage(try await ben.get("/pushes/\(uid)/deliveries/\(devices[2].id)")).text
      #expect(other.contains("On its way") && other.contains("Default text") && !other.contains("已发货"))
      let result = ScenePage(try await ben.get("/pushes/\(uid)")).text
      #expect(result.contains("zh-Hans") && result.contains("Default text"))
      try await scene.served(to: ben) { served in
        let csv = try await served.get("/pushes/\(uid)/deliveries.csv")
        let rows = csv.components(separatedBy: "\r\n").filter { $0.contains(",accepted,") }
        #expect(csv.contains(",dismissed_at,language\r\n"), "\(csv)")
        #expect(rows.map { $0.components(separatedBy: ",").last } == ["de", "zh-Hans", ""], "\(csv)")
      }

      // What nobody kept is derived, and said to be.
      try await scene.store.write { _ = try $0.run("UPDATE deliveries SET variant = NULL") }
      let derived = ScenePage(try await ben.get("/pushes/\(uid)/deliveries/\(devices[0].id)")).text
      #expect(derived.contains("zh-Hans, from the device’s current language") && derived.contains("已发货"))
    }
  }

  @Test("the API names each mistake, and the text that is too large, by its path")
  func mistakes() async throws {
    try await Self.with { scene, _ in
      let path = "notification.localizations"
      for (texts, field, code) in [
        (["zh_CN": ["body": "x"]], "\(path).zh_CN", "localization.tag_similar"),
        (["de": [:]], "\(path).de", "localization.empty"),
        (
          ["de": ["title": "x", "body": .string(String(repeating: "ä", count: 2100))]], "\(path).de",
          "localization.too_large"
        ),
      ] as [(JSONValue, String, String)] {
        let notification: JSONValue = ["title": "Order", "body": "On its way", "localizations": texts]
        let answer = try await scene.call(
          .post, "/api/v1/pushes", as: .operator, json: Self.push.with("notification", notification))
        #expect(answer.status == 422 && answer.fields == [field] && answer.codes == [code], "\(answer.text)")
      }
      #expect(try await scene.count("pushes") == 0)
    }
  }

  private static let fields: [(String, String)] = [
    ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("audience", "tag"),
    ("tag", "odd"), ("title", "Order"), ("body", "On its way"),
  ]

  private static func row(_ number: Int, _ language: String, _ body: String) -> [(String, String)] {
    [("localization.\(number).language", language), ("localization.\(number).body", body)]
  }

  @Test("a row whose number is out of range is none: the next row is counted from those that are")
  func rowNumbers() async throws {
    try await Self.with { scene, _ in
      var ben = try await scene.signIn(.operator)
      let forms: [(path: String, more: [(String, String)])] = [
        ("/pushes/preview", []), ("/templates", [("name", "Order")]),
      ]
      for number in [Int.max, Int.min, 0, 10_000] {
        let typed = Self.fields + Self.row(number, "de", "Unterwegs") + Self.row(7, "fr", "En route")
        for (path, more) in forms {
          let answer = try await ben.post(path, typed + more + [("add_language", "1")])
          let page = ScenePage(answer)
          #expect(answer.status == 200 && page.values("localization.8.language") == [""], "\(path) \(number)")
          #expect(page.values("localization.\(number).body").isEmpty, "\(path) \(number)")
        }
      }
    }
  }

  @Test("without script: rows come and go, mistakes stand beside them, and the review shows each language")
  func form() async throws {
    try await Self.with { scene, devices in
      var ben = try await scene.signIn(.operator)
      let added = ScenePage(try await ben.post("/pushes/preview", Self.fields + [("add_language", "1")]))
      #expect(added.values("localization.1.language") == [""] && added.values("title") == ["Order"])
      let second = ScenePage(
        try await ben.post("/pushes/preview", Self.fields + Self.row(1, "de", "Unterwegs") + [("add_language", "1")]))
      #expect(second.values("localization.1.body") == ["Unterwegs"] && second.values("localization.2.body") == [""])
      let both = Self.fields + Self.row(1, "de", "Unterwegs") + Self.row(2, "zh-cn", "已发货")
      let removed = ScenePage(try await ben.post("/pushes/preview", both + [("remove_language", "1")]))
      #expect(removed.values("localization.1.body").isEmpty && removed.values("localization.2.body") == ["已发货"])

      let wrong = ScenePage(
        try await ben.post(
          "/pushes/preview",
          Self.fields + Self.row(1, "Chinese", "x") + Self.row(2, "de", "") + Self.row(3, "", "y")
            + Self.row(4, "DE", "z")))
      #expect(
        wrong.failedFields == [
          "localization.1.language", "localization.2.title", "localization.3.language", "localization.4.language",
        ],
        "\(wrong.failedFields)")
      #expect(wrong.error("localization.1.language").contains("zh-Hans"))
      let empty = ScenePage(try await ben.post("/pushes/preview", Self.fields + Self.row(1, "de", "")))
      #expect(empty.failedFields == ["localization.1.title"])
      let blank = ScenePage(try await ben.post("/pushes/preview", Self.fields + Self.row(1, "", "")))
      #expect(blank.failedFields.isEmpty && blank.text.contains("On its way"), "an empty row is nothing")

      let review = ScenePage(try await ben.post("/pushes/preview", both))
      #expect(review.text.contains("Default text: 0") && review.text.contains("zh-CN: 1"), "\(review.text)")
      #expect(review.texts(class: "cut").contains("Order") && review.text.contains("On its way"))
      let chinese = ScenePage(
        try await ben.post("/pushes/preview", both + [("review", "1"), ("preview_language", "zh-CN")]))
      #expect(chinese.text.contains("已发货") && chinese.text.contains("Order"))
      #expect(chinese.values("preview_language").isEmpty, "it is nothing of the push's")
      let live = try await ben.post(
        "/pushes/preview", both + [("preview_language", "de")], headers: ["Accept": "application/json"])
      #expect(live.json?["body"] == "Unterwegs" && live.json?["payload"]?.string?.contains("Unterwegs") == true)
      #expect(live.json?["languages"]?.array?.map { $0["value"] } == ["", "de", "zh-CN"], "\(live.text)")

      let sent = try await ben.post("/pushes", both)
      #expect(sent.status == 303)
      let uid = try #require(sent.location?.split(separator: "/").last.map(String.init))
      _ = try await scene.finished(uid)
      let delivery = try await scene.store.read {
        let push = try Push.find($0, uid: uid)
        return try Delivery.find($0, push: push?.id ?? 0, device: devices[1].id)
      }
      #expect(delivery?.variant == 2)
      // Sending it again brings the rows back.
      let again = ScenePage(try await ben.get("/pushes/new?from=\(uid)"))
      #expect(
        again.values("localization.2.language") == ["zh-CN"] && again.values("localization.1.body") == ["Unterwegs"])
    }
  }

  @Test("drafts and templates keep the texts; places work in them")
  func kept() async throws {
    try await Self.with { scene, _ in
      var ben = try await scene.signIn(.operator)
      let typed = Self.fields + Self.row(1, "de", "Bestellung {{order}}")
      #expect(try await ben.post("/pushes/drafts", typed).status == 303)
      let draft = ScenePage(try await ben.get("/pushes/new?draft=1"))
      #expect(draft.values("localization.1.body") == ["Bestellung {{order}}"])
      let form = ScenePage(try await ben.post("/templates/new", typed))
      #expect(form.values("localization.1.body") == ["Bestellung {{order}}"])
      #expect(try await ben.post("/templates", typed + [("name", "Shipped")]).status == 303)
      let filled = ScenePage(try await ben.post("/templates/1/use", [("value.order", "48213")]))
      #expect(filled.values("localization.1.language") == ["de"])
      #expect(filled.values("localization.1.body") == ["Bestellung 48213"])
      let push: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
        "template": ["name": "Shipped", "values": ["order": 48213]],
      ]
      let uid = try await scene.send(push)
      let stored = try await scene.finished(uid)
      #expect(stored.draftJSON.contains("Bestellung 48213"))
      // Pasted back, the texts come along in Signalbox's own dialect.
      let live = try await ben.post(
        "/pushes/preview", Self.fields + Self.row(1, "de", "Unterwegs"), headers: ["Accept": "application/json"])
      let command = try #require(live.json?["dialect_signalbox"]?.string)
      let pasted = ScenePage(try await ben.post("/pushes/paste", [("pasted", command)]))
      #expect(pasted.values("localization.1.body") == ["Unterwegs"])
      #expect(live.json?["losses_apns"]?.string?.contains("localizations") == true, "\(live.text)")
    }
  }
}
