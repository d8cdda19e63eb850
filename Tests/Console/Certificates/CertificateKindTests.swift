import Certificates
import Foundation
import HTTPServer
import JSON
import Logging
import OpenSSL
import Model
import Providers
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Every kind of file, by page and API")
struct CertificateKindTests {
  private static func parts(_ kind: FileKind) -> [Multipart.Part] {
    var parts: [Multipart.Part] = [.file("file", name: kind.fileName, Array(kind.data))]
    if let password = kind.password { parts.append(.field("password", password)) }
    if let take = kind.take { parts.append(.field("take", take)) }
    return parts
  }

  private static func call(
    _ scene: ConsoleScene, _ parts: [Multipart.Part], dry: Bool = false
  ) async throws -> SceneAnswer {
    let form = Multipart(parts + (dry ? [.field("dry_run", "true")] : []))
    return try await scene.call(
      .post, "/api/v1/certificates", as: .admin, headers: ["Content-Type": form.contentType], body: form.body)
  }

  @Test("a look at each and each refusal keep nothing, and show no key, no secret and no password")
  func looking() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let before = try await scene.audit().count
      for kind in try FileKinds.all() {
        let parts = Self.parts(kind)
        let dry = try await Self.call(scene, parts, dry: true)
        let page = try await anna.upload("/certificates", parts + [.field("action", "inspect")])
        if let truth = kind.truth {
          #expect(dry.status == 200 && page.status == 200, "\(kind): \(dry.text)")
          #expect(dry.json?["kind"]?.string == truth.kind && dry.json?["facts"]?["kind"]?.string == truth.kind)
          #expect(dry.json?["has_private_key"]?.bool == truth.hasKey)
          #expect(dry.json?["facts"]?["has_private_key"]?.bool == truth.hasKey)
        } else {
          #expect([413, 422].contains(dry.status) && page.status == 422, "\(kind): \(dry.status), \(page.status)")
          let refused = try await Self.call(scene, parts)
          #expect([413, 422].contains(refused.status), "\(kind)")
        }
        for secret in kind.secrets {
          #expect(!dry.text.contains(secret) && !page.text.contains(secret), "\(kind) shows a secret")
        }
      }
      #expect(try await scene.audit().count == before)
      #expect(try await scene.count("certificates") == 0)
      #expect(try await scene.count("certificate_facts") == 0)
      let words = scene.log.entries.map { "\($0)" } + (try await scene.audit()).map { "\($0)" }
      for secret in Set(try FileKinds.all().flatMap(\.secrets)) {
        #expect(!words.contains { $0.contains(secret) })
      }
    }
  }

  @Test("one of each sort is kept sealed, listed, and shown with what its file says, a year later too")
  func keeping() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      var seen: Set<String> = []
      for kind in try FileKinds.all() {
        guard let truth = kind.truth, seen.insert(truth.kind).inserted else { continue }
        let answer = try await Self.call(
          scene,
          Self.parts(kind) + [
            .field("key_id", "ABCDE12345"), .field("team_id", "TEAM123456"), .field("made_by", "lin@example.com"),
            .field("note", "Renew with <b>Lin</b>"),
          ])
        #expect(answer.status == 201, "\(kind): \(answer.text)")
        #expect(answer.json?["made_by"] == "lin@example.com")
        let id = try #require(answer.json?["id"]?.integer)
        let page = try await anna.get("/certificates/\(id)")
        #expect(page.status == 200 && page.text.contains("lin@example.com"))
        #expect(page.text.contains("Renew with &lt;b&gt;Lin&lt;/b&gt;"))
        if truth.notAfter == nil { #expect(page.text.contains("Never")) }
        let list = try await anna.get("/certificates")
        let json = try await scene.call(.get, "/api/v1/certificates", as: .viewer)
        let sealed = try await scene.store.read {
          try $0.fetchOne("SELECT sealed FROM certificates WHERE id = ?", id) { $0.blob(0) }
        }
        for secret in kind.secrets {
          #expect(![page.text, list.text, json.text, answer.text].contains { $0.contains(secret) }, "\(kind)")
          #expect(sealed.map { String(decoding: $0, as: UTF8.self).contains(secret) } == false)
        }
      }
      #expect(seen.count == CertificateKind.allCases.filter { $0 != .host }.count, "all but hosts, which have no file")
      let pages = try await scene.count("certificates")
      #expect(pages == seen.count)
    }
  }

  @Test("JPush's keys are typed, checked beside their fields, kept sealed, and never come back")
  func typed() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let (key, secret) = ("0123456789abcdef01234567", "fedcba9876543210fedcba98")
      for (appKey, master, fields) in [
        ("", secret, ["app_key"]), (key, "", ["master_secret"]), ("xyz", "abc", ["app_key", "master_secret"]),
        (key, key, ["master_secret"]),
      ] as [(String, String, [String])] {
        let typed: [Multipart.Part] = [.field("app_key", appKey), .field("master_secret", master)]
        let refused = try await anna.upload("/certificates", typed + [.field("action", "keep")])
        #expect(refused.status == 422 && ScenePage(refused).failedFields == Set(fields), "\(fields)")
        #expect(ScenePage(refused).values("app_key") == [appKey])
        #expect(master.count < 10 || master == appKey || !refused.text.contains(master))
        let api = try await Self.call(scene, typed)
        #expect(api.status == 422 && Set(api.fields) == Set(fields))
      }
      #expect(try await scene.count("certificates") == 0)
      let kept = try await anna.upload(
        "/certificates", [.field("app_key", key), .field("master_secret", secret), .field("action", "keep")])
      #expect(kept.status == 303)
      let page = try await anna.get("/certificates/1")
      #expect(page.text.contains(key) && !page.text.contains(secret) && page.text.contains("They never expire."))
      let sealer = scene.store.sealer
      let material = try await scene.store.read { try TrackedCertificate.material($0, id: 1, sealer: sealer) }
      #expect(JPushKeyPair(material: material)?.masterSecret == secret)
      let twice = try await Self.call(scene, [.field("app_key", key), .field("master_secret", secret)])
      #expect(twice.status == 409)
      let both = try await Self.call(
        scene, [.file("file", name: "x", [1]), .field("app_key", key), .field("master_secret", secret)])
      #expect(both.status == 422 && both.fields == ["file"])
    }
  }

  @Test("the page of a file asks only for what the replacement of its kind needs, and names no account of others")
  func replacements() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      var pages: [String: (id: Int64, page: ScenePage)] = [:]
      for kind in try FileKinds.all() {
        guard let truth = kind.truth, truth.hasKey || truth.kind == "provisioning_profile", pages[truth.kind] == nil
        else { continue }
        let ids: [Multipart.Part] =
          truth.kind == "apns_key" ? [.field("key_id", "ABCDE12345"), .field("team_id", "TEAM123456")] : []
        let kept = try await Self.call(scene, Self.parts(kind) + ids)
        let id = try #require(kept.json?["id"]?.integer, "\(kind): \(kept.text)")
        pages[truth.kind] = (id, ScenePage(try await anna.get("/certificates/\(id)")))
      }
      func fields(_ kind: String) -> Set<String> {
        Set(CertificateRenewal.fields.filter { pages[kind]?.page.values($0).isEmpty == false })
      }
      #expect(fields("apns_key") == ["successor", "password", "key_id", "team_id"])
      #expect(fields("fcm_service_account") == ["successor"])
      #expect(fields("provisioning_profile") == ["successor"])
      #expect(fields("jpush_key_pair") == ["app_key", "master_secret"])
      let google = try #require(pages["fcm_service_account"]?.page.text)
      #expect(google.contains(".json, as downloaded"))
      #expect(google.contains("The account that created it was not recorded."))
      #expect(google.contains("It never expires, so no reminders are sent."))
      // What cannot send is not offered to an app.
      #expect(pages["provisioning_profile"]?.page.text.contains("Assign it to an app") == false)

      let id = try #require(pages["jpush_key_pair"]?.id)
      let path = "/certificates/\(id)/successor"
      let wrong = try await anna.upload(path, [.field("app_key", "x"), .field("master_secret", "")])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["app_key", "master_secret"])
      let (key, secret) = ("89abcdef0123456789abcdef", "0123fedcba98765476543210")
      let held = try await anna.upload(path, [.field("app_key", key), .field("master_secret", secret)])
      #expect(held.status == 303 && held.location?.hasPrefix(path + "/") == true)
      let preview = try await anna.get(held.location ?? "")
      #expect(preview.status == 200 && !preview.text.contains(secret))
      #expect(!preview.text.contains("no private key"), "the master secret is the key")
    }
  }

  @Test("an expired certificate's page says so everywhere, and promises nothing that is over")
  func expired() async throws {
    try await ConsoleScene.with { scene in
      let id = try await CertificateSamples.keep(scene, days: 3)
      var anna = try await scene.signIn(.admin)
      let before = ScenePage(try await anna.get("/certificates/\(id)")).text
      #expect(before.contains("The old certificate works until 23 Nov 2026, 12:00 UTC."))
      scene.clock.advance(5 * 86_400)
      var berta = try await scene.signIn(.admin, name: "berta@example.com")
      let page = ScenePage(try await berta.get("/certificates/\(id)")).text
      #expect(page.contains("has expired") && page.contains("It expired on 23 Nov 2026, 12:00 UTC."))
      #expect(page.contains("It has expired. A reminder goes out at the next check."))
      let list = ScenePage(try await berta.get("/certificates")).text
      #expect(list.contains("Apr 2027") && !list.contains("2027-04"))
      for over in ["works until", "It expires within a day", "Next reminder: expired"] {
        #expect(!page.contains(over), "\(over)")
      }
    }
  }

  @Test("who made it and a note are changed on its page, with their limits")
  func notes() async throws {
    try await ConsoleScene.with { scene in
      let id = try await CertificateSamples.keep(scene)
      var anna = try await scene.signIn(.admin)
      let saved = try await anna.post(
        "/certificates/\(id)", [("name", "Shop"), ("app", ""), ("made_by", "lin@example.com"), ("note", "a\nb")])
      #expect(saved.status == 303)
      let page = ScenePage(try await anna.get("/certificates/\(id)"))
      #expect(page.values("made_by") == ["lin@example.com"] && page.text.contains("Created by (account)"))
      let long = try await anna.post(
        "/certificates/\(id)",
        [("name", "Shop"), ("app", ""), ("made_by", ""), ("note", String(repeating: "x", count: 2001))])
      #expect(long.status == 422 && ScenePage(long).failedFields == ["note"])
      let json = try await scene.call(.get, "/api/v1/certificates/\(id)", as: .viewer)
      #expect(json.json?["made_by"] == "lin@example.com" && json.json?["facts"]?["format"] == "p12")
    }
  }

  @Test("the send form offers only what the certificate may send, and the linter names what it may not")
  func sending() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(1, of: app)
      let topics = [AppleExtensions.Topic(name: ConsoleScene.bundleID + ".voip", kinds: ["voip"])]
      let p12 = try CertificateSamples.p12(
        days: 100,
        extensions: AppleMarks(isDevelopment: true, isProduction: true, isVoIP: true, topics: topics))
      let kept = try await Self.call(scene, [.file("file", name: "voip.p12", p12), .field("password", "secret")])
      let id = try #require(kept.json?["id"]?.integer)
      _ = try await scene.store.write { database in
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .development, certificate: id, endpoint: "apple",
          now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.operator)
      let form = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("audience", "all"),
        ("body", "Hello"), ("edit", "1"),
      ]
      let page = try await anna.post("/pushes/preview", form)
      let select = try #require(page.text.firstMatch(of: /<select[^>]*name="push_type".*?<\/select>/)?.output)
      #expect(select.contains("voip") && !select.contains("background") && !select.contains("liveactivity"))
      func push(_ type: String?) async throws -> SceneAnswer {
        var options: [String: JSONValue] = ["dry_run": true]
        if let type { options["push_type"] = .string(type) }
        let json: JSONValue = [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
          "notification": ["body": "Hello"], "options": .object(options),
        ]
        return try await scene.call(
          .post, "/api/v1/pushes", as: .operator, headers: ["Content-Type": "application/json"],
          body: Array(json.data()))
      }
      let alert = try await push(nil)
      #expect(alert.status == 422 && alert.text.contains("lint.credential_topic"), "\(alert.text)")
      #expect(alert.text.contains("needs the topic \(ConsoleScene.bundleID),"))
      #expect(try await push("voip").status == 200)
    }
  }
}
