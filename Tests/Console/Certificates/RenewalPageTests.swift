import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Providers
import SQLite
import Store
import TestSupport
import Testing

@Suite("Pages: a successor in place")
struct RenewalPageTests {
  private static func file(_ bytes: [UInt8], _ name: String = "new.p12") -> [Multipart.Part] {
    [.file("successor", name: name, bytes), .field("password", "secret")]
  }

  /// A certificate that sends for both environments, with devices.
  private static func inUse(_ scene: ConsoleScene) async throws -> Int64 {
    let app = try await scene.addApp()
    try await scene.addDevices(3, of: app)
    let id = try await CertificateSamples.keep(scene)
    try await scene.store.write { database in
      for environment in Environment.allCases {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: id, endpoint: "apple",
          now: ConsoleScene.noon)
      }
    }
    return id
  }

  /// Uploads a successor, and returns the address of its preview.
  private static func preview(_ browser: inout SceneBrowser, of old: Int64, _ file: [UInt8]) async throws -> String {
    let answer = try await browser.upload("/certificates/\(old)/successor", Self.file(file))
    return try #require(answer.location)
  }

  private static func uses(_ scene: ConsoleScene, _ id: Int64) async throws -> Int {
    try await scene.store.read { try TrackedCertificate.uses($0, id: id)[id]?.count ?? 0 }
  }

  @Test("preview, trial, switch, alarms silent, undo: all with plain forms, each with its audit line")
  func life() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let page = ScenePage(try await anna.get("/certificates/\(old)"))
      #expect(page.forms.contains { $0.attributes["action"] == "/certificates/\(old)/successor" })
      let file = try CertificateSamples.p12(days: 400)
      let brought = try await anna.upload("/certificates/\(old)/successor", Self.file(file))
      #expect(brought.status == 303)
      let preview = try #require(brought.location)
      let shown = try await anna.get(preview)
      #expect(shown.status == 200 && shown.text.contains("Same topic and team"))
      #expect(shown.text.contains("named like an Apple certificate but was issued by"), "before somebody switches")
      #expect(shown.text.contains(ConsoleScene.bundleID) && !shown.text.contains("PRIVATE KEY"))
      #expect(try await scene.count("certificates") == 1, "nothing is switched yet")
      #expect(try await Self.uses(scene, old) == 2)
      #expect(scene.provider.tried.isEmpty)

      let tried = try await anna.post(preview, [("action", "try")])
      #expect(tried.status == 200 && tried.text.contains("400 BadDeviceToken"))
      #expect(scene.provider.tried == ["com.example.shop development", "com.example.shop production"])
      #expect(try await scene.count("certificates") == 1)

      let switched = try await anna.post(preview, [("action", "switch")])
      #expect(switched.status == 303 && switched.location == "/certificates/2", "\(switched.text)")
      #expect(try await Self.uses(scene, old) == 0)
      #expect(try await Self.uses(scene, 2) == 2)
      #expect(scene.provider.refreshed >= 1)
      #expect(try await scene.count("certificate_candidates") == 0)
      let sealer = scene.store.sealer
      let report = try await scene.store.read {
        try CertificateTracker.report($0, sealer: sealer, now: ConsoleScene.noon + 86_400 * 364)
      }
      #expect(report.findings.map(\.item.key) == ["certificates/2"], "the replaced one raises no alarms")
      let replaced = ScenePage(try await anna.get("/certificates/\(old)"))
      #expect(replaced.text.contains("Replaced on"))
      #expect(replaced.text.contains("It was replaced, so no reminders are sent."), "as the switch has promised")
      #expect(!replaced.forms.contains { $0.attributes["action"] == "/certificates/\(old)/acknowledge" })
      #expect(try await anna.get("/certificates/2").text.contains("Replaced"))
      let removal = ScenePage(try await anna.get("/certificates/\(old)/remove"))
      #expect(removal.text.contains("If you delete it, you can no longer undo the replacement."))
      let list = try await anna.get("/certificates").text
      #expect(list.contains("<span class=\"dot none\"></span>Replaced"), "without the color of its days")

      let question = try await anna.get("/certificates/\(old)/undo")
      #expect(question.status == 200 && question.text.contains("Switch back from"))
      #expect(try await anna.post("/certificates/\(old)/undo").location == "/certificates/\(old)")
      #expect(try await Self.uses(scene, old) == 2)
      #expect(try await Self.uses(scene, 2) == 0)
      let awake = try await scene.store.read { try CertificateTracker.report($0, now: ConsoleScene.noon) }
      #expect(awake.findings.count == 2)
      #expect(try await anna.get("/certificates/\(old)/undo").status == 404)
      #expect(try await scene.audit("certificate.renew").first?.detail?["credentials"]?.array?.count == 2)
      #expect(try await scene.audit("certificate.undo").count == 1)
      #expect(!(try await scene.audit()).contains { "\($0)".contains("PRIVATE") })
    }
  }

  @Test("the replacement of what nothing sends with is saved; the page does not say that it is in use")
  func unused() async throws {
    try await ConsoleScene.with { scene in
      let old = try await CertificateSamples.keep(scene)
      var anna = try await scene.signIn(.admin)
      let preview = try await Self.preview(&anna, of: old, try CertificateSamples.p12(days: 400))
      let switched = try await anna.post(preview, [("action", "switch")])
      let page = ScenePage(try await anna.get(switched.location ?? "")).text
      #expect(page.contains("The replacement is saved.") && !page.contains("The replacement is in use"))
    }
  }

  @Test("a different topic stops, says how many get nothing, and there is no button")
  func stopped() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let file = try CertificateSamples.p12(topic: "com.example.other", days: 400)
      let preview = try await Self.preview(&anna, of: old, file)
      let shown = try await anna.get(preview)
      #expect(shown.text.contains("Devices of topic com.example.shop will get nothing"))
      #expect(shown.text.contains("Affected devices: 3."))
      #expect(!shown.text.contains("value=\"switch\""))
      let forced = try await anna.post(preview, [("action", "switch"), ("untried", "yes")])
      #expect(forced.status == 422)
      #expect(try await scene.count("certificates") == 1)
      #expect(try await Self.uses(scene, old) == 2)
      #expect(try await anna.post(preview, [("action", "discard")]).location == "/certificates/\(old)")
      #expect(try await anna.get(preview).status == 404)
    }
  }

  @Test("what the push service refuses is not switched, whatever is ticked; what it cannot be asked, only by a tick")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let preview = try await Self.preview(&anna, of: old, try CertificateSamples.p12(days: 400))
      scene.provider.answerTrials(.refused(reason: "BadCertificate"))
      let refused = try await anna.post(preview, [("action", "switch"), ("untried", "yes")])
      #expect(refused.status == 422 && refused.text.contains("BadCertificate"))
      scene.provider.answerTrials(.undecided(reason: "connection refused"))
      let untried = try await anna.post(preview, [("action", "switch")])
      #expect(untried.status == 422 && untried.text.contains("name=\"untried\""))
      #expect(try await Self.uses(scene, old) == 2)
      let anyway = try await anna.post(preview, [("action", "switch"), ("untried", "yes")])
      #expect(anyway.status == 303)
      #expect(try await Self.uses(scene, old) == 0)
      let trials = try await scene.audit("certificate.renew").first?.detail?["trials"]?.array ?? []
      #expect(trials.compactMap { $0["result"]?.string } == ["undecided", "undecided"])
    }
  }

  @Test("the way back is tried, too: refused it stays, whatever is ticked; not asked, only by a tick")
  func undoIsTried() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let preview = try await Self.preview(&anna, of: old, try CertificateSamples.p12(days: 400))
      _ = try await anna.post(preview, [("action", "switch")])
      let undo = "/certificates/\(old)/undo"
      let tried = scene.provider.tried.count
      #expect(try await anna.get(undo).text.contains("First, a test request"))
      #expect(scene.provider.tried.count == tried, "looking tries nothing")
      scene.provider.answerTrials(.refused(reason: "BadCertificate"))
      let refused = try await anna.post(undo, [("untried", "yes")])
      #expect(refused.status == 422 && refused.text.contains("The push service refused the old file"))
      #expect(refused.text.contains("BadCertificate") && scene.provider.tried.count == tried + 2)
      #expect(try await Self.uses(scene, 2) == 2, "nothing went back")
      scene.provider.answerTrials(.undecided(reason: "connection refused"))
      let untried = try await anna.post(undo)
      #expect(untried.status == 422 && untried.text.contains("name=\"untried\""))
      #expect(
        untried.text.contains("connection refused") && !untried.text.contains("name=\"untried\" value=\"yes\" checked"))
      #expect(try await Self.uses(scene, 2) == 2)
      #expect(try await anna.post(undo, [("untried", "yes")]).location == "/certificates/\(old)")
      #expect(try await Self.uses(scene, old) == 2)
      let trials = try await scene.audit("certificate.undo").first?.detail?["trials"]?.array ?? []
      #expect(trials.compactMap { $0["result"]?.string } == ["undecided", "undecided"])
    }
  }

  @Test("the successor inherits what was noted of the old one, unless it has its own")
  func notes() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let labels = [("name", "Push"), ("app", ""), ("made_by", "anna@example.com"), ("note", "Ask Bob")]
      #expect(try await anna.post("/certificates/\(old)", labels).status == 303)
      let preview = try await Self.preview(&anna, of: old, try CertificateSamples.p12(days: 400))
      #expect(try await anna.post(preview, [("action", "switch")]).location == "/certificates/2")
      let notes = try await scene.store.read { try CertificateContents.find($0, certificate: 2)?.notes }
      #expect(notes?.madeBy == "anna@example.com" && notes?.note == "Ask Bob")
    }
  }

  @Test("a wrong password, no file, garbage: the certificate's page comes back with the message, nothing is kept")
  func wrongFiles() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let file = try CertificateSamples.p12(days: 400)
      let wrong = try await anna.upload(
        "/certificates/\(old)/successor", [.file("successor", name: "new.p12", file), .field("password", "guess")])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["password"])
      #expect(!wrong.text.contains("guess"))
      let none = try await anna.upload("/certificates/\(old)/successor", [.field("password", "")])
      #expect(none.status == 422 && ScenePage(none).failedFields == ["successor"])
      let garbage = try await anna.upload("/certificates/\(old)/successor", Self.file(Array("%PDF".utf8), "a.pdf"))
      #expect(garbage.status == 422 && garbage.text.contains("a.pdf"))
      let key = Array(try PrivateKey.generateP256().pkcs8PEM.utf8)
      let noID = try await anna.upload(
        "/certificates/\(old)/successor", [.file("successor", name: "key.p8", key), .field("key_id", "short")])
      #expect(noID.status == 422 && ScenePage(noID).failedFields == ["key_id"])
      #expect(ScenePage(noID).values("key_id") == ["short"])
      #expect(try await scene.count("certificates") == 1)
      #expect(try await scene.count("certificate_candidates") == 0)
    }
  }

  @Test("a key takes a certificate's place; the team is the old one's")
  func key() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let key = Array(try PrivateKey.generateP256().pkcs8PEM.utf8)
      let preview = try #require(
        try await anna.upload(
          "/certificates/\(old)/successor", [.file("successor", name: "AuthKey_ABCDE12345.p8", key)]
        ).location)
      #expect(try await anna.get(preview).text.contains("never expires, sends to every topic"))
      #expect(try await anna.post(preview, [("action", "switch")]).location == "/certificates/2")
      let kept = try await scene.store.read { try TrackedCertificate.get($0, id: 2) }
      #expect(kept.details.teamID == "TEAM123456" && kept.details.keyID == "ABCDE12345")
    }
  }

  @Test("a request made here: the .cer alone is enough, its key was here all the time and no page shows it")
  func request() async throws {
    try await ConsoleScene.with { scene in
      let old = try await Self.inUse(scene)
      var anna = try await scene.signIn(.admin)
      let made = try await anna.post("/certificates/\(old)/requests")
      #expect(made.status == 303 && made.location == "/certificates/\(old)#requests")
      let page = ScenePage(try await anna.get("/certificates/\(old)"))
      let href = try #require(page.links.first { $0.hasSuffix("/file") })
      let file = try await anna.get(href)
      #expect(file.response.headers["Content-Disposition"]?.contains("com.example.shop.certSigningRequest") == true)
      #expect(file.text.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----") && !file.text.contains("PRIVATE"))
      let block = try PEMBlock.all(in: Array(file.text.utf8))[0]
      let request = try #require(CertificateRequest(der: block.content))
      let publicKey = try #require(request.publicKey)
      #expect(publicKey.algorithm == .rsa(bits: 2048))

      let authority = try CertificateAuthority(
        subject: [.commonName("Apple")], notBefore: scene.now - 1e6, notAfter: scene.now + 1e9)
      let issued = try authority.issue(
        .applePush(
          topic: ConsoleScene.bundleID, team: "TEAM123456", notBefore: scene.now - 60,
          notAfter: scene.now + 400 * 86_400), for: publicKey)
      let preview = try #require(
        try await anna.upload(
          "/certificates/\(old)/successor", [.file("successor", name: "aps.cer", Array(issued.der))]
        ).location)
      #expect(!(try await anna.get(preview)).text.contains("no private key"))
      #expect(try await anna.post(preview, [("action", "switch")]).location == "/certificates/2")
      let sealer = scene.store.sealer
      let (kept, material, requests) = try await scene.store.read { database in
        (
          try TrackedCertificate.get(database, id: 2),
          try TrackedCertificate.material(database, id: 2, sealer: sealer), try SigningRequest.all(database)
        )
      }
      #expect(kept.details.hasPrivateKey)
      let key = try PrivateKey(pem: String(decoding: material, as: UTF8.self))
      #expect(key.publicKey == publicKey)
      #expect(requests.map(\.fulfilledBy) == [2])
      let wiped = try await scene.store.read { database in
        try SigningRequest.awaited(database, publicKeySHA256: requests[0].details.publicKeySHA256, sealer: sealer)
      }
      #expect(wiped == nil)
      for target in ["/certificates/requests", "/certificates/\(old)", "/certificates/2"] {
        #expect(!(try await anna.get(target)).text.contains("PRIVATE KEY"))
      }
      #expect(try await anna.post("/certificates/requests/\(requests[0].uid)/remove").status == 303)
      #expect(try await scene.count("certificate_requests") == 0)
    }
  }

  @Test("a request without an app or with no host's name is refused beside its field; a host's asks for its names")
  func requests() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      for (fields, failed) in [
        ([("purpose", "push"), ("app", "")], "app"), ([("purpose", "host"), ("host", "")], "host"),
        ([("purpose", "host"), ("host", "no/name")], "host"),
      ] {
        let answer = try await anna.post("/certificates/requests", fields)
        #expect(answer.status == 422 && ScenePage(answer).failedFields == [failed], "\(fields)")
      }
      let made = try await anna.post(
        "/certificates/requests",
        [("purpose", "host"), ("host", "push.example.com www.example.com"), ("algorithm", "p-256")])
      #expect(made.status == 303)
      let requests = try await scene.store.read { try SigningRequest.all($0) }
      #expect(requests.map(\.details.algorithm) == [.p256] && requests[0].details.subject.contains("push.example.com"))
      #expect(try await scene.audit("certificate_request.create").count == 1)
      try await scene.store.write { database in
        _ = try database.run("UPDATE certificate_requests SET created_by = 'cli root'")
      }
      let list = ScenePage(try await anna.get("/certificates/requests"))
      #expect(list.text.contains("Created by root on"), "as every page names who worked on the command line")
    }
  }
}
