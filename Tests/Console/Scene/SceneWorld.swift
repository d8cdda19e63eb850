import Calendar
import Console
import Delivery
import Foundation
import JSON
import OpenSSL
import Providers
import Model
import SQLite
import Simulator
import Store
import Testing

/// What stands in a console while its pages are looked at.
enum SceneWorld: String, CaseIterable, Sendable {
  case empty, demo, hostile

  /// Markup, template tags, quotes, and a text that runs backwards.
  static let attack = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{csrf}}{{{csrf}}}\u{202E}שלום&lt;"

  /// Devices are older than the pushes: what a provider says of a token before it was registered does not count.
  private static let yesterday = ConsoleScene.noon.addingTimeInterval(-86_400)

  /// Where something stands in place of a route's parameters, most telling first.
  struct Addresses: Sendable {
    var ids: [String: [String]] = [:]

    /// Routes of which not every certificate has a page.
    private static let renewal = [
      "/certificates/requests/:uid/file": "requests", "/certificates/:id/successor/:uid": "candidates",
      "/certificates/:id/undo": "replaced", "/apps/:id/topics/changes/:change": "changes",
      "/apps/:id/topics/changes/:change/devices.csv": "changes",
      "/apps/:id/topics/changes/:change/devices.json": "changes",
      "/settings/webhooks/:id": "webhooks", "/settings/webhooks/:id/remove": "webhooks",
      "/settings/webhooks/:id/deliveries.csv": "webhooks", "/settings/webhooks/:id/deliveries.json": "webhooks",
      "/apps/:id/phones/:uid": "enrollments",
    ]

    /// Every address of a route; one that leads to nothing if there is none.
    func targets(_ pattern: String) -> [String] {
      guard pattern.contains(":") else { return [pattern] }
      if let group = Self.renewal[pattern] {
        return (ids[group] ?? ["999/999"]).map { place in
          let parts = place.split(separator: "/").map(String.init)
          return ["uid", "change"].reduce(pattern.replacing(":id", with: parts.first ?? "999")) {
            $0.replacing(":\($1)", with: parts.last ?? "999")
          }
        }
      }
      let group = pattern.split(separator: "/").first.map(String.init) ?? ""
      let isDelivery = pattern.hasSuffix("/deliveries/:device")
      let known = ids[isDelivery ? "deliveries" : group] ?? []
      let places = known.isEmpty ? ["999"] : known
      return places.map { place in
        if isDelivery {
          let parts = place.split(separator: "/").map(String.init)
          return "/pushes/\(parts.first ?? "999")/deliveries/\(parts.last ?? "999")"
        }
        let query =
          pattern.hasSuffix("/jpush/remove")
          ? "?environment=development&kind=tag&name=vip"
          : pattern.hasSuffix("/channels/remove") ? "?environment=development&channel=dHN0" : ""
        return pattern.replacing(":uid", with: place).replacing(":id", with: place)
          .replacing(":environment", with: "development").replacing(":section", with: "devices")
          .replacing(":code", with: "BadDeviceToken").replacing(":run", with: "1") + query
      }
    }
  }

  /// Fills a scene that has a simulator.
  func fill(_ scene: ConsoleScene) async throws -> Addresses {
    switch self {
    case .empty: break
    case .demo: try await Self.demo(scene)
    case .hostile: try await Self.hostile(scene)
    }
    if self != .empty {
      try await Self.renewal(scene)
      try await Self.topicChange(scene)
      try await Self.webhook(scene)
    }
    return try await Self.addresses(scene)
  }

  /// A certificate that was replaced, a successor that waits, and a signing request.
  private static func renewal(_ scene: ConsoleScene) async throws {
    let sealer = scene.store.sealer
    let pem = try PrivateKey.generateP256().pkcs8PEM
    let content: JSONValue = [
      "file": .string(Data(pem.utf8).base64EncodedString()), "name": "AuthKey_ABCDE12345.p8", "team_id": "TEAM123456",
    ]
    try await scene.store.write { database in
      for app in try App.all(database) {
        _ = try ClientKey.add(
          database, app: app, by: "anna", for: ClientKey.enrollmentTime, now: ConsoleScene.noon)
        let rule = try SegmentRule(json: ["alias": .string(attack), "last_seen": ["within_days": 30]])
        _ = try Segment.add(database, app: app.id, name: attack, rule, by: attack, now: ConsoleScene.noon)
      }
      let old = try #require(try TrackedCertificate.all(database).first)
      let new = try TrackedCertificate.add(
        database, old.details, material: [2], sealer: sealer, by: attack, now: ConsoleScene.noon)
      try TrackedCertificate.replace(database, id: old.id, by: new.id, now: ConsoleScene.noon)
      _ = try CertificateCandidate.add(
        database, certificate: new.id, content: Array(content.data()), sealer: sealer, by: attack,
        now: ConsoleScene.noon)
      _ = try SigningRequest.add(
        database,
        .init(
          purpose: .push, certificateID: new.id, subject: attack, algorithm: .rsa2048, publicKeySHA256: "ab", pem: "x"),
        key: [1], sealer: sealer, by: attack, now: ConsoleScene.noon)
    }
  }

  /// An audience of one device that joins a topic.
  private static func topicChange(_ scene: ConsoleScene) async throws {
    try await scene.store.write { database in
      let app = try #require(try App.all(database).first)
      let token = DeviceToken(bytes: Array("fWx9kQ2dSxyZ:APA91bHun4MxP5egoKMwt2KZ".utf8))
      _ = try Device.register(
        database, app: app.id, [Registration(token: token, environment: .production, platform: .android)],
        now: yesterday)
      _ = try TopicChange.create(
        database, app: app.id, environment: .production, topic: "news", joins: true, audience: .all, by: attack,
        now: ConsoleScene.noon)
      try TopicChange.work(database, now: ConsoleScene.noon)
    }
  }

  /// A webhook that fails, with an event that was given up.
  private static func webhook(_ scene: ConsoleScene) async throws {
    try await scene.store.write { [sealer = scene.store.sealer] database in
      let webhook = try Webhook.add(
        database, Webhook.Details(name: attack, target: attack), address: attack, sealer: sealer, by: attack,
        now: yesterday
      ).webhook.id
      let answer = WebhookDelivery.Answer(status: nil, milliseconds: 3, words: attack)
      let test = WebhookDelivery.test(webhook, now: yesterday)
      let event = try WebhookDelivery.add(database, test: test, webhook: webhook, answer, now: yesterday)
      _ = try WebhookDelivery.sendAgain(database, webhook: webhook, uid: event.uid, now: yesterday)
      _ = try event.record(database, answer, pause: 60, now: yesterday)
    }
  }

  private static func addresses(_ scene: ConsoleScene) async throws -> Addresses {
    var addresses = try await scene.store.read { database in
      func all(_ sql: String) throws -> [String] { try database.fetchAll(sql) { $0.text(0) } }
      return Addresses(ids: [
        "apps": try all("SELECT id FROM apps"), "devices": try all("SELECT id FROM devices"),
        "certificates": try all("SELECT id FROM certificates"), "pushes": try all("SELECT uid FROM pushes"),
        "deliveries": try all(
          "SELECT p.uid || '/' || d.device_id FROM deliveries d JOIN pushes p ON p.id = d.push_id"),
        "schedules": try all("SELECT uid FROM schedules"),
        "hosts": try all("SELECT id FROM watched_hosts"), "audiences": try all("SELECT id FROM segments"),
        "requests": try all("SELECT uid FROM certificate_requests"),
        "candidates": try all("SELECT certificate_id || '/' || uid FROM certificate_candidates"),
        "replaced": try all("SELECT id FROM certificates WHERE replaced_by IS NOT NULL"),
        "changes": try all("SELECT app_id || '/' || id FROM topic_changes"),
        "settings": try all("SELECT id FROM receivers"), "incidents": try all("SELECT id FROM incidents"),
        "smoke-tests": try all("SELECT id FROM smoke_tests"),
        "templates": try all("SELECT id FROM push_templates"), "webhooks": try all("SELECT id FROM webhooks"),
        "enrollments": try all("SELECT app_id || '/' || key FROM client_keys WHERE expires_at IS NOT NULL"),
      ])
    }
    addresses.ids["phones"] = scene.simulator?.phones.phones().map { String($0.id) }
    return addresses
  }

  /// The demo, after two pushes: one that meets every kind of answer, one that nobody got.
  private static func demo(_ scene: ConsoleScene) async throws {
    let sealer = scene.store.sealer
    try await scene.store.write { database in
      _ = try Receiver.add(
        database, Receiver.Details(channel: .dingtalk, name: "Ops", target: "oapi.dingtalk.com", language: "zh-Hans"),
        Receiver.Secrets(address: "https://oapi.dingtalk.com/robot/send?access_token=x", secret: "SEC"),
        sealer: sealer, by: "anna", now: yesterday)
    }
    let phones = try #require(scene.simulator).phones
    try await DemoInstallation.install(store: scene.store, phones: phones, now: yesterday)
    scene.provider.answer { member in
      switch member.id % 4 {
      case 0: .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil))
      case 1: .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: ConsoleScene.noon))
      case 2: .outcome(.unknown(reason: "connection_lost"))
      default: .outcome(.accepted)
      }
    }
    try await scene.store.write { try HostSamples.add($0) }
    var draft = ConsoleScene.draft
    draft.notification.title = "Hello"
    draft.notification.badge = 3
    draft.options.timeToLive = 3600
    draft.options.collapseID = "news"
    draft.options.atMostOnce = true
    try await scene.send(draft)
    try await scene.addSchedule(draft)
    scene.provider.answer { _ in .notSent(reason: OwnReason.dryRun.rawValue) }
    draft.environment = .production
    try await scene.send(draft)
    let app = try await scene.store.read { try App.all($0).first }
    try await scene.addSmokeTest("Order shipped", of: try #require(app))
    let phone = try #require(phones.phones().first)
    try phones.receive(phone, ["aps": ["alert": "Hello"]])
    try phones.receive(phone, ["aps": ["content-available": 1]], pushType: .background)
    try phones.setPower(phone.id, .off)
    try phones.receive(phone, ["aps": ["alert": ["title": "While off"]]], id: "A2", collapseID: "news")
    try phones.uninstall(try #require(phones.phones().last).id, now: ConsoleScene.noon)
  }

  /// Rows that no form would let in: a former version, another program or a restored file may have written them.
  private static func hostile(_ scene: ConsoleScene) async throws {
    let long = attack + String(repeating: "ﷺ𝕏", count: 5000)
    let sealer = scene.store.sealer
    let app = try await scene.store.write { database -> App in
      let app = try App.add(database, bundleID: attack, name: long, packageName: attack, now: ConsoleScene.noon)
      var details = TrackedCertificate.Details(kind: "apns_certificate", name: long, fileName: long)
      (details.subject, details.issuer, details.serial) = (long, attack, attack)
      (details.teamID, details.keyID, details.appID) = (attack, attack, app.id)
      (details.sha256, details.topics, details.hasPrivateKey) = (attack, [attack, long, attack], true)
      details.notAfter = ConsoleScene.noon.addingTimeInterval(5 * 86_400)
      let certificate = try TrackedCertificate.add(
        database, details, material: [1], sealer: sealer, by: long, now: ConsoleScene.noon)
      let receiver = try Receiver.add(
        database, Receiver.Details(channel: .email, name: long, target: attack, language: attack, appID: app.id),
        Receiver.Secrets(address: attack, secret: attack), sealer: sealer, by: long, now: ConsoleScene.noon)
      let reminder = try Reminder.claim(
        database, .init(key: "certificates/\(certificate.id)", fingerprint: attack), step: 7, name: long,
        now: ConsoleScene.noon)
      try ReminderMessage.add(
        database, uid: attack, to: receiver, reminders: [try #require(reminder)], now: ConsoleScene.noon)
      let message = try #require(try ReminderMessage.pending(database).first)
      try message.record(database, .pending, answer: long, now: ConsoleScene.noon)
      try Acknowledgement.set(
        database, .init(key: "certificates/\(certificate.id)", fingerprint: attack), by: attack,
        until: ConsoleScene.noon.addingTimeInterval(86_400), now: ConsoleScene.noon)
      for environment in Environment.allCases {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: certificate.id,
          endpoint: attack, now: ConsoleScene.noon)
      }
      try HostSamples.add(database, hostile: attack, long: long)
      for host in try WatchedHost.all(database) {
        try Acknowledgement.set(
          database, .init(key: "hosts/\(host.id)", fingerprint: host.seen?.sha256), by: attack,
          until: ConsoleScene.noon.addingTimeInterval(86_400), now: ConsoleScene.noon)
      }
      try APIToken.add(
        database, name: long, hash: [1], scopes: [attack, "admin"], user: nil, now: ConsoleScene.noon)
      let user = try User.add(database, name: long, role: .viewer, now: ConsoleScene.noon)
      try Session.open(
        database, idHash: [1], user: user.id, csrf: attack, lifetime: 60, address: attack, userAgent: long,
        now: ConsoleScene.noon)
      return app
    }
    try await devicesAndPushes(scene, app, long)
    let phones = try #require(scene.simulator).phones
    let phone = try phones.add(
      NewPhone(name: long, model: attack, environment: .production, topic: attack, token: ConsoleScene.token(1)))
    let alert: JSONValue = ["title": .string(attack), "subtitle": .string(long), "body": .string(attack)]
    try phones.receive(phone, ["aps": ["alert": alert], attack: .string(attack)], id: attack, collapseID: attack)
    try phones.receive(phone, ["aps": [.string(attack)], "link": .string(long)])
    try phones.add(NewPhone(name: attack, model: long, environment: .development, topic: long))
  }

  private static func devicesAndPushes(_ scene: ConsoleScene, _ app: App, _ long: String) async throws {
    try await scene.store.write { database in
      var registrations: [Registration] = []
      for number in 1...4 {
        var registration = Registration(token: ConsoleScene.token(number), environment: .production, platform: .ios)
        registration.alias = .set(number == 1 ? long : attack)
        registration.tags = .set([attack, "\(long)\(number)"])
        registration.name = .set(long)
        registration.registrationID = .set(attack)
        registrations.append(registration)
      }
      _ = try Device.register(database, app: app.id, registrations, by: long, now: yesterday)
      try Device.update(database, id: 1, alias: .set(attack), by: attack, now: yesterday)
    }
    scene.provider.answer { member in
      switch member.id {
      case 2: .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil))
      case 4: .outcome(.rejected(status: 400, reason: attack, tokenInvalidSince: nil))
      default: .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: ConsoleScene.noon))
      }
    }
    // Neither an app's id nor a title of that length can be read back: the page must do without the draft.
    var draft = PushDraft(
      app: attack, environment: .production, platforms: [.ios], audience: .all, notification: PushNotification())
    (draft.notification.title, draft.notification.body) = (long, long)
    try await scene.send(draft, app: app, by: long)
    draft.app = "com.example.readable"
    (draft.notification.title, draft.notification.body) = (attack, attack)
    draft.notification.extras = [attack: .string(attack)]
    try await scene.send(draft, app: app, by: attack)
    try await scene.addSchedule(draft, app: app, by: long)
    try await scene.addSmokeTest(attack, by: long, of: app)
  }
}

extension ConsoleScene {
  /// Sends a push around the pages, and waits until it is over.
  @discardableResult
  func send(_ draft: PushDraft, app known: App? = nil, by name: String = "lin@example.com") async throws -> Push {
    let bundleID = draft.app
    let push = try await store.write { database in
      let found = try App.find(database, bundleID: bundleID)
      let app = try #require(known ?? found)
      return try Push.create(database, NewPush(draft, app: app, source: .api, by: name), now: Self.noon)
    }
    engine.enqueue(push.id)
    return try await finished(push.uid)
  }

  /// A schedule that has sent once, missed once, and goes on.
  @discardableResult
  func addSchedule(
    _ draft: PushDraft, app known: App? = nil, by name: String = "lin@example.com"
  ) async throws -> Schedule {
    let start = Self.noon.addingTimeInterval(-172_800)
    return try await store.write { database in
      let found = try App.find(database, bundleID: draft.app)
      let app = try #require(known ?? found)
      var draft = draft
      draft.recurrence = RepeatRule(.daily, minute: 12 * 60, zone: try NamedZone("Europe/Berlin"))
      draft.sendAt = start
      let new = NewSchedule(draft, app: app, source: .web, by: name)
      let schedule = try Schedule.create(database, new, now: start)
      let push = try Schedule.carryOn(
        database, id: schedule.id, now: Self.noon.addingTimeInterval(-86_400 - 3000)
      ) { _, draft, _ in NewPush(draft, app: app, source: .api, by: name) }
      let id = try #require(push).id
      _ = try Push.move(database, id: id, from: [.queued], to: .cancelled, now: Self.noon)
      _ = try Schedule.carryOn(database, id: schedule.id, now: Self.noon) { _, draft, _ in
        NewPush(draft, app: app, source: .api, by: name)
      }
      return try Schedule.get(database, id: schedule.id)
    }
  }

  /// A smoke test of an app's newest push, with a run that failed for one device, and one whose push was refused.
  func addSmokeTest(_ text: String, by name: String = "lin@example.com", of app: App) async throws {
    try await store.write { database in
      let push = try #require(try Push.list(database, PushFilter(), limit: 1).items.first)
      let differences = JSONValue.array([
        ["device": 1, "name": .string(text), "expected": "accepted", "got": "BadDeviceToken"],
        ["device": .null, "name": .string(text), "expected": .string(text), "got": .string(text)],
      ])
      try database.run(
        """
        INSERT INTO smoke_tests(app_id, name, draft, expected, created_by, created_at, changed_at)
        VALUES (?1, ?2, ?3, '{"others":"accepted","devices":{"x":"Unregistered"},"displayed_within":5}', ?4, ?5, ?5)
        """, app.id, text, push.draftJSON, name, Self.noon)
      let test = database.lastInsertedID
      let content = JSONValue.object(["notification": ["title": .string(text), "body": "{{place}}"]])
      try database.run(
        """
        INSERT INTO push_templates(name, content, created_by, created_at, changed_at) VALUES (?1, ?2, ?3, ?4, ?4)
        """, text, content.text(), name, Self.noon)
      for (push, detail) in [(Optional(push.id), String?.none), (nil, text)] {
        try database.run(
          """
          INSERT INTO smoke_runs(test_id, state, error, detail, expected, push_id, devices, differences, source,
            started_by, started_at, ended_at)
          VALUES (?1, 'failed', ?2, ?3, '{}', ?4, 3, ?5, 'web', ?6, ?7, ?7)
          """, test, detail == nil ? nil : "not_sent", detail, push, differences.text(), name, Self.noon)
      }
    }
  }

  /// How many rows were ever changed: nothing was written between two equal answers.
  func changes() async throws -> Int {
    // That somebody was refused is recorded.
    try await store.write {
      try $0.int(
        """
        SELECT total_changes() - (SELECT count(*) FROM audit WHERE action IN ('user.refused', 'token.refused'))
        """)
    }
  }

  /// How many rows a table has.
  func count(_ table: String) async throws -> Int {
    try await store.read { try $0.int("SELECT count(*) FROM \(table)") }
  }
}
