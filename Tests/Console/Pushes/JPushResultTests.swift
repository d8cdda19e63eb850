import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Testing

@testable import Console
@testable import Store

@Suite("Devices, credentials and results of JPush")
struct JPushResultTests {
  private static let id = "13165ffa4e0b5fb6ba3"

  @Test("a device is registered through JPush by the form and by the API, and says so everywhere")
  func devices() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let form = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platform", "android"), ("provider", "jpush"),
      ]
      let wrong = try await ben.post("/devices", form + [("token", ConsoleScene.token(1).hexadecimal)])
      #expect(ScenePage(wrong).failedFields == ["token"] && wrong.status == 422)
      let added = try await ben.post("/devices", form + [("token", Self.id)])
      #expect(added.location == "/devices/1", "\(added.text)")
      let page = ScenePage(try await ben.get("/devices/1"))
      #expect(page.text.contains("JPush") && page.text(id: "token") == Self.id)
      #expect(ScenePage(try await ben.get("/devices?q=\(Self.id)")).links.contains("/devices/1"))
      let put = try await scene.call(
        .put, "/api/v1/devices", as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "platform": "ios", "provider": "jpush",
          "registration_id": "1a0018970a8",
        ])
      #expect(put.status == 201 && put.json?["provider"] == "jpush" && put.json?["token"] == "1a0018970a8")
      for (service, count) in [("jpush", 2), ("fcm", 0), ("apns", 0)] {
        let list = try await scene.call(.get, "/api/v1/devices?provider=\(service)", as: .viewer)
        #expect(list.json?["items"]?.array?.count == count, "\(service)")
        let links = ScenePage(try await ben.get("/devices?provider=\(service)")).links
        #expect(links.contains("/devices/1") == (count > 0), "\(service)")
      }
      let own = try await scene.call(
        .put, "/api/v1/devices", as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "platform": "ios",
          "token": .string(ConsoleScene.token(2).hexadecimal),
        ])
      #expect(own.json?["provider"] == "apns")
    }
  }

  @Test("JPush keys are tried before they are assigned: refused ones stay out with the cause")
  func credential() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      let (material, sealer) = (
        try JPushKeyPair(appKey: "8103a4c628a0b98994ec1949", masterSecret: "711261d45f174d2fa8555e5a").material,
        scene.store.sealer
      )
      let certificate = try await scene.store.write { database in
        var details = TrackedCertificate.Details(kind: "jpush_key_pair", name: "JPush", fileName: "keys.txt")
        details.hasPrivateKey = true
        return try TrackedCertificate.add(
          database, details, material: material, sealer: sealer, by: "lin", now: ConsoleScene.noon
        ).id
      }
      func bind() async throws -> SceneAnswer {
        try await anna.post(
          "/apps/\(app.id)/credentials/production",
          [("provider", "jpush"), ("certificate", String(certificate)), ("endpoint", "jpush")])
      }
      scene.provider.answerTrials(.refused(reason: "JPush 1004"))
      let refused = try await bind()
      #expect(refused.status == 422 && refused.text.contains("JPush 1004"))
      scene.provider.answerTrials(.taken(answer: "400 JPush 1011"))
      #expect(try await bind().status == 303)
      let bound = try await scene.store.read {
        try Credential.find($0, app: app.id, provider: .jpush, environment: .production)
      }
      #expect(bound?.certificateID == certificate && bound?.place == .service)
      #expect(try await anna.get("/apps/\(app.id)").text.contains("AppKey and master secret"))
    }
  }

  @Test("the review names the services, the result page has a line for each, and JPush's own figures stand beside")
  func result() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2, of: app)
      try await scene.store.write { database in
        var registration = Registration(
          token: DeviceToken(bytes: Array(Self.id.utf8)), environment: .development, platform: .android)
        registration.provider = .jpush
        registration.registrationID = .set(Self.id)
        _ = try Device.register(database, app: app.id, [registration], now: ConsoleScene.noon)
        try Credential.bind(
          database, app: app.id, provider: .jpush, environment: .development, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      var ben = try await scene.signIn(.operator)
      let fields = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("platforms", "android"),
        ("audience", "all"), ("body", "World"),
      ]
      let review = try await ben.post("/pushes/preview", fields)
      #expect(review.text.contains("APNs (built-in simulator), JPush (built-in simulator)"), "\(review.text)")
      let json: [String: JSONValue] = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
        "notification": ["body": "World"],
      ]
      let uid = try await scene.send(.object(json))
      let push = try await scene.finished(uid)
      let device = try await scene.store.read { try Device.find($0, app: app.id, registrationID: Self.id) }
      let deviceID = try #require(device?.id)
      try await scene.store.write { database in
        let message = SentJPushMessage(
          push: push.id, id: "1828256757", firstDevice: deviceID, lastDevice: deviceID, devices: 1,
          sentAt: ConsoleScene.noon)
        try SentJPushMessage.add(database, message)
        try SentJPushMessage.asked(
          database, [message], ["1828256757": ["jpush_received": 41]], now: ConsoleScene.noon + 120)
      }
      let answer = try await scene.call(.get, "/api/v1/pushes/\(uid)", as: .viewer)
      let lines = answer.json?["providers"]?.array ?? []
      #expect(lines.map { $0["provider"] } == ["apns", "jpush"])
      #expect(lines.map { $0["counts"]?["accepted"] } == [2, 1])
      #expect(answer.json?["jpush"]?.array?.first?["result"] == ["jpush_received": 41])
      let page = try await ben.get("/pushes/\(uid)").text
      #expect(page.contains("By platform and push service") && page.contains("JPush’s own figures"))
      #expect(page.contains("?platform=ios#devices\""), "all devices of a platform are listed, too")
      #expect(page.contains("1828256757") && page.contains(">41<"))
      let columns = ScenePage(page).tags.filter { $0.name == "th" && $0.attributes["scope"] == "col" }.map(\.text)
      #expect(columns.contains("Received, Android") && !columns.contains("Sent to APNs"), "\(columns)")
      #expect(!columns.contains("Failed") && !columns.contains("Skipped"), "no column of zeros")
      #expect(!columns.contains("Opened"), "no app has reported anything")
      // The script fetches this part again while the push runs.
      let script = try String(contentsOf: ConsoleScene.root.appending(path: "Public/js/progress.js"), encoding: .utf8)
      #expect(page.contains(" data-providers>") && script.contains("'data-providers'"))
      let delivery = try await ben.get("/pushes/\(uid)/deliveries/\(deviceID)").text
      #expect(delivery.contains("POST /v3/push") && delivery.contains(Self.id))
      #expect(delivery.contains("This one named only this device") && delivery.contains("1828256757"))
      #expect(delivery.contains("built-in simulator"))
    }
  }

  @Test("the table has a line for each platform, with what its apps reported, and one for each of several services")
  func platforms() throws {
    let texts = Texts(code: "en", table: ["platform": ["ios": "iOS", "android": "Android"]])
    let reasons = [
      Delivery.ReasonCount(platform: .ios, provider: .apns, outcome: .accepted, reason: nil, count: 7),
      Delivery.ReasonCount(platform: .android, provider: .fcm, outcome: .accepted, reason: nil, count: 2),
      Delivery.ReasonCount(platform: .android, provider: .fcm, outcome: .failed, reason: "INTERNAL", count: 1),
      Delivery.ReasonCount(platform: .android, provider: .jpush, outcome: .accepted, reason: nil, count: 4),
    ]
    var receipts = ReceiptCounts()
    (receipts.devices, receipts.displayed, receipts.opened) = (5, 5, 3)
    let targets = [Reach(.ios, .apns): 7, Reach(.android, .fcm): 3, Reach(.android, .jpush): 4]
    func made(_ reports: [ReceiptCounts.Line]) throws -> ProviderTableView {
      try #require(ProviderTableView(push: "p1", targets, reasons, reports, texts))
    }
    let table = try made([ReceiptCounts.Line(.android, .jpush, receipts)])
    #expect(table.lines.map(\.href).first == "/pushes/p1?platform=ios")
    #expect(table.lines.map(\.href).last == "/pushes/p1?platform=android&provider=jpush")
    #expect(table.lines.map(\.label) == ["iOS · APNs", "Android", "Android · FCM", "Android · JPush"])
    #expect(table.lines.map(\.target) == [7, 7, 3, 4])
    #expect(table.lines.map(\.counts.accepted) == [7, 6, 2, 4] && table.lines.map(\.counts.failed) == [0, 1, 1, 0])
    #expect(table.lines.map { $0.receipts?.opened } == [0, 3, 0, 3])
    let older = try made([ReceiptCounts.Line(.android, nil, receipts), ReceiptCounts.Line(.android, .fcm, receipts)])
    #expect(older.lines.map { $0.receipts?.opened } == [0, 6, nil, nil], "an earlier version counted some together")
    #expect(ProviderTableView(push: "p1", [Reach(.ios, .apns): 7], reasons, [], texts) == nil)
  }

  @Test("a push to Android alone is reviewed as FCM gets it")
  func androidReview() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.store.write { database in
        let registration = Registration(
          token: DeviceToken(bytes: Array("phone-1:APA91bHun4MxP5egoKMwt2KZFBaFUH".utf8)), environment: .development,
          platform: .android)
        _ = try Device.register(database, app: app.id, [registration], now: ConsoleScene.noon)
        try Credential.bind(
          database, app: app.id, provider: .fcm, environment: .development, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      var ben = try await scene.signIn(.operator)
      let review = try await ben.post(
        "/pushes/preview",
        [
          ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "android"), ("audience", "all"),
          ("body", "World"),
        ])
      let page = ScenePage(review)
      #expect(review.text.contains("FCM (built-in simulator)"))
      #expect(page.text(id: "show-payload")?.contains("\"priority\"") == true)
      #expect(page.text(id: "show-headers") == "content-type: application/json")
    }
  }
}
