import Certificates
import Foundation
import HTTP2
import JSON
import OpenSSL
import Model
import Providers
import Simulator
import Store
import Synchronization
import TestSupport
import Testing

@testable import Delivery
@testable import signalbox

@Suite("A successor in place, against the simulator", .timeLimit(.minutes(5)))
struct SwitchTests {
  /// A push certificate with its key, as PEM.
  private static func certificate(
    _ box: CommandRunner, topic: String = DeliveryScene.topic, days: Double = 30, name: String = "new.pem"
  ) throws -> String {
    let now = Date()
    let authority = try CertificateAuthority(
      subject: [.commonName("Apple stand-in")], notBefore: now - 86_400, notAfter: now + 86_400 * 500)
    let (certificate, key) = try authority.issue(
      .applePush(topic: topic, team: "TEAM123456", notBefore: now - 3600, notAfter: now + 86_400 * days))
    return try box.file(name, certificate.pem + key.pkcs8PEM)
  }

  private static func credential(_ scene: DeliveryScene) async throws -> Credential {
    let found = try await scene.store.read { [app = scene.app] in
      try Credential.find($0, app: app.id, provider: .apns, environment: .development)
    }
    return try #require(found)
  }

  @Test("a trial: taken, refused for its environment or its topic, and out of reach")
  func trials() async throws {
    var options = DeliveryScene.Options()
    options.credentials = .certificate
    try await DeliveryScene.run(options) { scene in
      let credential = try await Self.credential(scene)
      let (old, material) = try await scene.store.read { [sealer = scene.store.sealer] database in
        (
          try TrackedCertificate.get(database, id: 1),
          try TrackedCertificate.material(database, id: 1, sealer: sealer)
        )
      }
      func attempt(_ credential: Credential, bundleID: String = DeliveryScene.topic) async -> ProviderVerdict {
        await scene.routes.attempt(
          CredentialTrial(credential, bundleID: bundleID, details: old.details, material: material))
      }
      #expect(await attempt(credential) == .taken(answer: "400 BadDeviceToken"))
      #expect(await attempt(credential, bundleID: "com.example.other") == .refused(reason: "TopicDisallowed"))
      let away = try await scene.store.write { [app = scene.app] database in
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .production, certificate: 1, endpoint: "127.0.0.1:1",
          now: Date())
      }
      guard case .undecided = await attempt(away) else {
        Issue.record("a server that is not there decided")
        return
      }
      let key = try PrivateKey.generateRSA()
      let mixed = await scene.routes.attempt(
        CredentialTrial(
          credential, bundleID: DeliveryScene.topic, details: old.details, material: Array(key.pkcs8PEM.utf8)))
      guard case .refused = mixed else {
        Issue.record("a key that does not fit was not refused: \(mixed)")
        return
      }
    }
  }

  @Test("a broadcast goes on while the switch happens: no device lost, none twice, none failed")
  func underWay() async throws {
    // On a machine that is busy, or under a sanitizer, the switch takes longer; then once more, and more slowly.
    var rate = 2000.0
    for _ in 0..<4 {
      let (isUnderWay, took) = try await switchUnderWay(rate: Int64(rate))
      if isUnderWay { return }
      rate = max(50, min(rate / 2, 3000 / (took / .seconds(1))))
    }
    Issue.record("the push had ended each time before the switch; it would be \(Int(rate)) in a second next")
  }

  /// Switches in the midst of a broadcast to 10 000; returns whether it was still going on then, and how long it took.
  private func switchUnderWay(rate: Int64) async throws -> (isUnderWay: Bool, took: Duration) {
    var options = DeliveryScene.Options()
    options.credentials = .certificate
    var result = (isUnderWay: false, took: Duration.zero)
    try await DeliveryScene.run(options) { scene in
      let phones = try await scene.add(10_000)
      let push = try await scene.push(options: ["at_most_once": true, "rate": .integer(rate)])
      let file = try Self.certificate(scene.box)
      let delivery = Task { try await scene.carryOut(push) }
      try await eventually("some have arrived", every: .milliseconds(5)) { try await scene.progress(push).total > 500 }
      let begin = ContinuousClock.now
      let renewal = await scene.box.run(["certificates", "renew", "1", file], now: Date())
      #expect(
        renewal.code == 0 && renewal.output.contains("2 credentials switched over"),
        "\(renewal.output)\(renewal.errors)")
      #expect(renewal.output.contains("taken, 400 BadDeviceToken"))
      try await scene.engine.credentialsChanged()
      result = (try await scene.progress(push).total < 10_000, ContinuousClock.now - begin)
      try await delivery.value
      let ended = try await scene.store.read { try Push.get($0, id: push.id) }
      #expect(ended.state == .finished && ended.counts == OutcomeCounts(accepted: 10_000), "\(ended.counts)")
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
      #expect(try await Self.credential(scene).certificateID == 2)
      let back = await scene.box.run("certificates", "undo", "1", now: Date())
      #expect(back.code == 0 && back.output.contains("2 credentials switched back"))
      #expect(back.output.contains("taken, 400 BadDeviceToken"), "the way back is tried, too")
      #expect(try await Self.credential(scene).certificateID == 1)
    }
    return result
  }

  @Test("once it has ended, nobody holds the engine, nor the connections of a credential that was changed")
  func letsGo() async throws {
    weak var engine: DeliveryEngine?
    weak var routes: CredentialRoutes?
    try await DeliveryScene.run { scene in
      _ = try await scene.add(3)
      try await scene.carryOut(try await scene.push())
      _ = try await scene.store.write { [app = scene.app] database in
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .development, certificate: 1, endpoint: "127.0.0.1:1",
          now: Date())
      }
      try await scene.engine.credentialsChanged()
      // Its keys and connections go as soon as nothing is in flight, not with the server.
      try await eventually("the replaced credential is let go") {
        try await scene.engine.credentialsChanged()
        return scene.routes.closing.withLock { $0.isEmpty }
      }
      (engine, routes) = (scene.engine, scene.routes)
    }
    try await eventually("they are let go", within: .seconds(20)) { engine == nil && routes == nil }
  }

  @Test("the command refuses what the page refuses, and changes nothing with --dry-run")
  func command() async throws {
    var options = DeliveryScene.Options()
    options.credentials = .certificate
    try await DeliveryScene.run(options) { scene in
      let box = scene.box
      let other = try Self.certificate(box, topic: "com.example.other", name: "other.pem")
      let stopped = await box.run(["certificates", "renew", "1", other], now: Date())
      #expect(
        stopped.code == 1 && stopped.output.contains("STOP    Devices of topic com.example.shop will get nothing"))
      let file = try Self.certificate(box)
      let dry = await box.run(["certificates", "renew", "1", file, "--dry-run", "--json"], now: Date())
      #expect(dry.code == 0 && dry.json?["switched"] == false && dry.json?["trials"]?.array?.count == 2)
      #expect(try await Self.credential(scene).certificateID == 1)
      _ = try await scene.store.write { [app = scene.app] database in
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .production, certificate: 1, endpoint: "127.0.0.1:1",
          now: Date())
      }
      let away = await box.run(["certificates", "renew", "1", file], now: Date())
      #expect(away.code == 1 && away.errors.contains("--untried") && away.errors.contains("nothing was switched"))
      #expect(await box.run(["certificates", "renew", "1", file, "--untried"], now: Date()).code == 0)
      #expect(try await Self.credential(scene).certificateID == 2)
      let list = await box.run(["certificates", "list"], now: Date())
      #expect(list.lines.contains { $0.hasPrefix("1 ") && $0.contains(" replaced ") }, "\(list.output)")
    }
  }

  @Test("openssl verifies the request, and signs the certificate that comes back without its key")
  func request() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", DeliveryScene.topic, "--name", "Shop")
      let openssl = try OpenSSLCommand()
      let path = openssl.folder.path + "/shop.certSigningRequest"
      #expect(await box.run("certificates", "request", "--app", DeliveryScene.topic, "--out", path).code == 0)
      let again = await box.run("certificates", "request", "--app", DeliveryScene.topic, "--out", path)
      #expect(again.code == 1 && again.errors.contains("\(path) already exists and is not overwritten."), "\(again)")
      try openssl("req", "-verify", "-noout", "-in", path)
      let text = String(decoding: try openssl("req", "-noout", "-text", "-in", path), as: UTF8.self)
      #expect(text.contains("CN = \(DeliveryScene.topic)") || text.contains("CN=\(DeliveryScene.topic)"))
      #expect(text.contains("2048 bit"))
      try openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA")
      try openssl(
        "x509", "-req", "-in", path, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "100", "-outform",
        "DER", "-out", "issued.cer")
      let added = await box.run(["certificates", "add", openssl.folder.path + "/issued.cer"], now: Date())
      #expect(added.code == 0, "\(added.errors)")
      let shown = await box.run(["certificates", "show", "1", "--json"], now: Date())
      #expect(shown.json?["has_private_key"] == true, "\(shown.output)")
      let requests = await box.run("certificates", "requests", "--json").json?.array ?? []
      #expect(requests.compactMap { $0["state"]?.string } == ["fulfilled"])
      let host = openssl.folder.path + "/host.csr"
      #expect(
        await box.run(
          "certificates", "request", "--host", "push.example.com", "--host", "127.0.0.1", "--out", host
        ).code == 0)
      let asked = String(decoding: try openssl("req", "-verify", "-noout", "-text", "-in", host), as: UTF8.self)
      #expect(asked.contains("DNS:push.example.com") && asked.contains("IP Address:127.0.0.1"))
      #expect(await box.run("certificates", "request").code == 64)
    }
  }

  @Test("a server starts without its key, says what is lost on its pages, and begins anew there")
  func withoutKey() async throws {
    try await DeliveryScene.run { scene in
      scene.routes.stop()
      try FileManager.default.removeItem(atPath: scene.box.data + "/secret.key")
      let child = try await scene.serve()
      // It says so after it has said where it listens.
      try await eventually("the warning") { child.errorText.contains("start over with a new key") || !child.isRunning }
      #expect(child.errorText.contains("secret.key is missing. Cannot be decrypted: AuthKey_ABCDE12345."))
      #expect(child.errorText.contains("start over with a new key at http"))
      #expect(child.errorText.contains("/certificates/key."))
      let limits = try String(contentsOfFile: "/proc/\(try #require(child.pid))/limits", encoding: .utf8)
      #expect(limits.contains(/Max core file size +0 +0/), "a core dump would hold private keys")
      #expect(await scene.stop(child) == 0)
      #expect(!FileManager.default.fileExists(atPath: scene.box.data + "/secret.key"), "nothing is made by itself")
    }
  }
}
