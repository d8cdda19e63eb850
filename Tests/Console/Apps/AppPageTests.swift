import Certificates
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Providers
import SQLite
import Store
import Testing

@Suite("Pages: apps and what they send by")
struct AppPageTests {
  /// A file that is kept, as a store has it.
  private static func keep(
    _ scene: ConsoleScene, _ name: String, _ change: (inout TrackedCertificate.Details) -> Void
  ) async throws -> TrackedCertificate {
    var details = TrackedCertificate.Details(kind: "apns_certificate", name: name, fileName: "\(name).p12")
    (details.hasPrivateKey, details.topics) = (true, [ConsoleScene.bundleID])
    change(&details)
    let (kept, sealer) = (details, scene.store.sealer)
    return try await scene.store.write {
      try TrackedCertificate.add($0, kept, material: [1], sealer: sealer, by: "lin", now: ConsoleScene.noon)
    }
  }

  @Test("an app is added, changed and removed, with a line of the audit each")
  func life() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let added = try await anna.post(
        "/apps", [("name", " Shop "), ("bundle_id", "com.example.shop"), ("package_name", ""), ("alias_rule", "jpush")])
      #expect(added.status == 303 && added.location == "/apps/1")
      #expect(try await anna.get("/apps/1").text.contains("App added."))
      let changed = try await anna.post(
        "/apps/1",
        [
          ("name", "Store"), ("bundle_id", "com.example.evil"), ("package_name", "com.example.a"),
          ("alias_rule", "none"),
        ])
      #expect(changed.status == 303)
      let app = try await scene.store.read { try App.get($0, id: 1) }
      #expect(app.name == "Store" && app.packageName == "com.example.a")
      #expect(app.bundleID == "com.example.shop", "a bundle id is for ever")
      let edit = ScenePage(try await anna.get("/apps/1/edit"))
      #expect(edit.values("name") == ["Store"] && edit.values("alias_rule") == ["none"])
      try await scene.addDevices(3, of: app)
      let page = ScenePage(try await anna.get("/apps/1/remove"))
      #expect(page.text.contains("its 3 devices"))
      for word in ["", "store", "Shop"] {
        let refused = try await anna.post("/apps/1/remove", [("confirm", word)])
        #expect(refused.status == 422 && ScenePage(refused).failedFields == ["confirm"])
        #expect(ScenePage(refused).values("confirm") == [word])
      }
      #expect(try await scene.count("apps") == 1)
      #expect(try await anna.post("/apps/1/remove", [("confirm", "Store")]).location == "/apps")
      #expect(try await scene.count("apps") == 0)
      #expect(try await scene.count("devices") == 0)
      #expect(
        try await scene.audit().map(\.action).filter { $0.hasPrefix("app.") } == [
          "app.delete", "app.update", "app.create",
        ])
      for target in ["/apps/1", "/apps/1/edit", "/apps/1/remove", "/apps/x"] {
        #expect(try await anna.get(target).status == 404, "\(target)")
      }
    }
  }

  @Test("an app stays while a push of it waits or is sent, on its page as in the API")
  func removalWhileSending() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(3, of: app)
      var anna = try await scene.signIn(.admin)
      let draft: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
        "notification": ["body": "x"], "send_at": "2026-12-01T09:00:00Z",
      ]
      let uid = try await scene.send(draft)
      let refused = try await anna.post("/apps/\(app.id)/remove", [("confirm", app.name)])
      #expect(refused.status == 422 && ScenePage(refused).error("confirm").contains("scheduled or being sent"))
      #expect(try await scene.call(.delete, "/api/v1/apps/\(app.bundleID)", as: .admin).status == 409)
      #expect(try await scene.count("apps") == 1)
      #expect(try await scene.count("pushes") == 1)
      #expect(try await scene.call(.post, "/api/v1/pushes/\(uid)/cancel", as: .operator).status == 200)
      #expect(try await anna.post("/apps/\(app.id)/remove", [("confirm", app.name)]).location == "/apps")
      #expect(try await scene.count("apps") == 0)
      let entry = try await scene.audit("app.delete").first
      #expect(entry?.detail?["before"]?["pushes"] == 1 && entry?.detail?["after"] == .null)
    }
  }

  @Test(
    "what is wrong with an app is told at its field, and nothing is kept",
    arguments: [
      ([("name", "")], ["name"]), ([("name", String(repeating: "x", count: 101))], ["name"]),
      ([("name", "a\u{7}b")], ["name"]), ([("bundle_id", "")], ["bundle_id"]), ([("bundle_id", "a b")], ["bundle_id"]),
      ([("bundle_id", "com.example.shop.voip")], ["bundle_id"]), ([("bundle_id", "com.example.taken")], ["bundle_id"]),
      ([("package_name", "1x")], ["package_name"]), ([("alias_rule", "other")], ["alias_rule"]),
      ([("name", ""), ("bundle_id", ""), ("package_name", "x")], ["name", "bundle_id", "package_name"]),
    ] as [([(String, String)], Set<String>)])
  func mistakes(changes: [(String, String)], fields: Set<String>) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp("com.example.taken")
      var ben = try await scene.signIn(.operator)
      let typed = [("name", "Shop"), ("bundle_id", "com.example.shop"), ("package_name", ""), ("alias_rule", "none")]
        .map { field in changes.first { $0.0 == field.0 } ?? field }
      let answer = try await ben.post("/apps", typed)
      #expect(answer.status == 422)
      let page = ScenePage(answer)
      #expect(page.failedFields == fields)
      for (name, value) in typed where name != "alias_rule" { #expect(page.values(name) == [value], "\(name)") }
      #expect(try await scene.count("apps") == 1)
      let isAboutID = fields.contains("bundle_id")
      let update = try await ben.post("/apps/1", typed)
      #expect(update.status == (isAboutID && fields.count == 1 ? 303 : 422))
      #expect(ScenePage(update).failedFields == (update.status == 422 ? fields.subtracting(["bundle_id"]) : []))
    }
  }

  @Test("a file that sends to the simulator alone, as that of the demo, is proposed for no other app")
  func simulated() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let key = try await Self.keep(scene, "AuthKey_DEMO") { ($0.kind, $0.topics) = ("apns_key", []) }
      let apps = try await scene.store.write { database in
        try ["com.example.demo", ConsoleScene.bundleID].map {
          try App.add(database, bundleID: $0, name: $0, now: ConsoleScene.noon)
        }
      }
      func bind(_ app: App, to endpoint: String) async throws {
        _ = try await scene.store.write {
          try Credential.bind(
            $0, app: app.id, provider: .apns, environment: .development, certificate: key.id, endpoint: endpoint,
            now: ConsoleScene.noon)
        }
      }
      try await bind(apps[0], to: "simulator")
      var anna = try await scene.signIn(.admin)
      let page = ScenePage(try await anna.get("/apps/\(apps[1].id)"))
      #expect(page.values("certificate").first == "" && page.values("endpoint").first == "simulator")
      #expect(page.text.contains("AuthKey_DEMO"), "it can be chosen all the same")
      try await bind(apps[0], to: "apple")
      #expect(ScenePage(try await anna.get("/apps/\(apps[1].id)")).values("certificate").first == "\(key.id)")
    }
  }

  @Test("the first assignment proposes the one file that can send, else the simulator; of several nothing is chosen")
  func proposal() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let app = try await scene.store.write {
        try App.add($0, bundleID: ConsoleScene.bundleID, name: "Shop", now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.admin)
      func chosen() async throws -> (certificate: String?, endpoint: String?) {
        let page = ScenePage(try await anna.get("/apps/\(app.id)"))
        return (page.values("certificate").first, page.values("endpoint").first)
      }
      #expect(try await chosen() == ("", "simulator"))
      _ = try await Self.keep(scene, "old") { $0.notAfter = ConsoleScene.noon.addingTimeInterval(-86_400 * 2) }
      #expect(try await chosen() == ("", "simulator"), "an expired one cannot send")
      let good = try await Self.keep(scene, "good") { _ in }
      #expect(try await chosen() == ("\(good.id)", "apple"))
      _ = try await Self.keep(scene, "another") { _ in }
      #expect(try await chosen() == ("", "apple"))
    }
  }

  @Test("two files with one name are told apart in the menu by their serial numbers")
  func sameName() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      for (serial, name) in [("0A1111AA", "Push"), ("0A2222BB", "Push"), ("0A3333CC", "Other")] {
        _ = try await Self.keep(scene, name) { details in
          details.serial = serial
          details.notAfter = ConsoleScene.noon + 90.5 * 86_400
        }
      }
      var anna = try await scene.signIn(.admin)
      let page = ScenePage(try await anna.get("/apps/\(app.id)")).text
      #expect(page.contains("Push (90 days left, serial …1111AA)"), "\(page)")
      #expect(page.contains("Push (90 days left, serial …2222BB)") && page.contains("Other (90 days left)"))
      var chinese = try await scene.signIn(.admin, name: "lin@example.com")
      _ = try await chinese.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let other = ScenePage(try await chinese.get("/apps/\(app.id)")).text
      #expect(other.contains("，序列号 …1111AA）") && !other.contains("Push ("))
    }
  }

  @Test("bound, used, bound otherwise, unbound: what sends stands on the page")
  func binding() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.store.write {
        try App.add($0, bundleID: ConsoleScene.bundleID, name: "Shop", now: ConsoleScene.noon)
      }
      let good = try await Self.keep(scene, "good") { $0.notAfter = ConsoleScene.noon.addingTimeInterval(9 * 86_400) }
      let foreign = try await Self.keep(scene, "foreign") { $0.topics = ["com.example.other"] }
      let half = try await Self.keep(scene, "half") { $0.hasPrivateKey = false }
      let onlyProduction = try await Self.keep(scene, "only") { $0.environments = [.production] }
      let web = try await Self.keep(scene, "web") { $0.kind = "tls_certificate" }
      let key = try await Self.keep(scene, "key") {
        ($0.kind, $0.topics, $0.keyID, $0.teamID) = ("apns_key", [], "ABCDE12345", "TEAM123456")
      }
      var anna = try await scene.signIn(.admin)
      func bind(_ environment: String, _ fields: [(String, String)]) async throws -> SceneAnswer {
        try await anna.post("/apps/\(app.id)/credentials/\(environment)", fields)
      }
      func offered(_ environment: String) async throws -> [String] {
        let page = ScenePage(try await anna.get("/apps/\(app.id)"))
        let start = try #require(
          page.tags.firstIndex { $0.attributes["action"]?.hasSuffix("/credentials/\(environment)") == true })
        return page.tags[start...].prefix { $0.name != "/form" }.filter { $0.name == "option" }
          .compactMap { $0.attributes["value"] }
      }
      #expect(Set(try await offered("development")) == ["", "\(good.id)", "\(key.id)"])
      #expect(Set(try await offered("production")) == ["", "\(good.id)", "\(key.id)", "\(onlyProduction.id)"])

      // certificate, endpoint, host, and where the message stands; nil: it is bound
      let id = { (certificate: TrackedCertificate) in String(certificate.id) }
      let table: [(String, String, String, String?)] = [
        (id(good), "apple", "", nil), (id(key), "apple", "", nil), ("", "simulator", "", nil),
        (id(good), "host", "127.0.0.1:2197", nil), ("", "apple", "", "certificate"),
        ("", "host", "127.0.0.1:2197", "certificate"), ("999", "apple", "", "certificate"),
        (id(foreign), "apple", "", "certificate"), (id(half), "apple", "", "certificate"),
        (id(onlyProduction), "apple", "", "certificate"), (id(web), "simulator", "", "certificate"),
        (id(good), "host", "", "host"), (id(good), "host", "nonsense", "host"), (id(good), "host", "a:0", "host"),
        (id(good), "host", "a:70000", "host"), (id(good), "host", "http://a:1", "host"), (id(good), "", "", "host"),
        (id(good), "elsewhere", "", "host"),
      ]
      for (certificate, endpoint, host, failure) in table {
        let words = "“\(certificate)” \(endpoint) “\(host)”"
        let before = try await scene.count("credentials")
        let answer = try await bind(
          "development", [("certificate", certificate), ("endpoint", endpoint), ("host", host)])
        if let failure {
          #expect(answer.status == 422, "\(words)")
          #expect(ScenePage(answer).failedFields == ["\(failure)-development"], "\(words)")
          #expect(try await scene.count("credentials") == before, "\(words)")
        } else {
          #expect(answer.status == 303, "\(words)")
          let bound = try await scene.store.read {
            try Credential.find($0, app: app.id, provider: .apns, environment: .development)
          }
          #expect(bound?.certificateID == Int64(certificate), "\(words)")
          #expect(bound?.endpoint == (endpoint == "host" ? host : endpoint), "\(words)")
        }
      }
      #expect(try await bind("production", [("certificate", id(onlyProduction)), ("endpoint", "apple")]).status == 303)
      let noon = ConsoleScene.noon
      let pem = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + 9).certificate
        .pem
      let own = [("certificate", id(good)), ("endpoint", "host"), ("host", "push.example:2197")]
      let wrong = try await bind("development", own + [("trust", "nonsense")])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["trust-development"])
      #expect(try await bind("development", own + [("trust", pem)]).status == 303)
      let trusted = try await scene.store.read {
        try Credential.find($0, app: app.id, provider: .apns, environment: .development)
      }
      #expect(trusted?.trustPEM == pem)
      let shown = try await anna.get("/apps/\(app.id)").text
      #expect(shown.contains("verified with its own CA certificates") && shown.contains("-----BEGIN CERTIFICATE-----"))
      #expect(
        try await bind("development", [("certificate", id(good)), ("endpoint", "apple"), ("trust", pem)]).status == 303)
      #expect(try await bind("staging", [("certificate", id(good)), ("endpoint", "apple")]).status == 404)
      #expect(try await anna.post("/apps/\(app.id)/credentials/production/unbind").status == 303)
      #expect(try await scene.count("credentials") == 1)
      #expect(try await anna.post("/apps/\(app.id)/credentials/production/unbind").status == 303, "twice does no harm")
      let unbound = try await scene.audit("credential.unbind")
      #expect(unbound.map { $0.detail?["before"]?["certificate"] } == [.integer(onlyProduction.id)])
      #expect(unbound.first?.detail?["environment"] == "production" && unbound.first?.detail?["after"] == .null)
      let bindings = try await scene.audit("credential.bind")
      #expect(bindings.count == 7)
      let bound = try #require(bindings.first?.detail)
      #expect(bound["before"]?["endpoint"] == "push.example:2197" && bound["before"]?["trust"] == .string(pem))
      #expect(bound["after"]?["endpoint"] == "apple" && bound["after"]?["trust"] == .null)
    }
  }

  @Test("a service account is tried before it is bound: a refused one stays out with the cause")
  func serviceAccount() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp(ConsoleScene.bundleID)
      let account = try await Self.keep(scene, "push@shop.iam.gserviceaccount.com") {
        ($0.kind, $0.topics) = ("fcm_service_account", [])
      }
      let key = try await Self.keep(scene, "key") { ($0.kind, $0.topics) = ("apns_key", []) }
      var anna = try await scene.signIn(.admin)
      func bind(_ certificate: TrackedCertificate, _ endpoint: String = "google") async throws -> SceneAnswer {
        try await anna.post(
          "/apps/\(app.id)/credentials/production",
          [("provider", "fcm"), ("certificate", String(certificate.id)), ("endpoint", endpoint)])
      }
      func bound() async throws -> Credential? {
        try await scene.store.read {
          try Credential.find($0, app: app.id, provider: .fcm, environment: .production)
        }
      }
      #expect(ScenePage(try await bind(key)).failedFields == ["certificate-production-fcm"])
      #expect(ScenePage(try await bind(account, "apple")).failedFields == ["host-production-fcm"])
      #expect(scene.provider.tried.isEmpty)

      scene.provider.answerTrials(.refused(reason: "invalid_grant (Invalid JWT Signature.)"))
      let refused = try await bind(account)
      #expect(refused.status == 422)
      #expect(refused.text.contains("invalid_grant (Invalid JWT Signature.)"))
      #expect(refused.text.contains("create a new key"), "the remedy")
      #expect(try await bound() == nil)

      scene.provider.answerTrials(.taken(answer: "200"))
      #expect(try await bind(account).status == 303)
      #expect(try await bound()?.certificateID == account.id)
      #expect(try await bound()?.place == .service)
      #expect(scene.provider.tried.count == 2)
      // APNs' credential of the same environment is another one.
      let ios = try await scene.store.read {
        try Credential.find($0, app: app.id, provider: .apns, environment: .production)
      }
      #expect(ios != nil)
      let page = try await anna.get("/apps/\(app.id)").text
      #expect(page.contains("Credential assigned. New pushes are sent with it."))

      scene.provider.answerTrials(.undecided(reason: "no answer within 15 seconds"))
      #expect(try await bind(account).status == 303)
      #expect(try await anna.get("/apps/\(app.id)").text.contains("Credential assigned without a test"))
      #expect(
        try await anna.post("/apps/\(app.id)/credentials/production/unbind", [("provider", "fcm")]).status == 303)
      #expect(try await bound() == nil)
    }
  }
}
