import Delivery
import Foundation
import Glibc
import JSON
import Model
import OpenSSL
import Providers
import Store
import TestSupport
import Testing

/// Our providers against a server of APNs, FCM and JPush that stands on Python's h2 and PyJWT.
@Suite("Services that are not ours", .timeLimit(.minutes(3)))
struct OtherServiceTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_PYTHON"]
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/services.py").path
  private static let count = 40

  /// What the server was asked, as `method path`, with the body.
  private struct Seen {
    let method: String
    let path: String
    let body: JSONValue
  }

  /// A scene whose app sends through that server, in development.
  private static func run(
    _ body: (DeliveryScene, _ seen: () throws -> [Seen]) async throws -> Void
  ) async throws {
    try await DeliveryScene.run { scene in
      let folder = scene.box.folder
      let authority = try CertificateAuthority(
        subject: [.commonName("Authority")], notBefore: Date() - 3600, notAfter: Date() + 86_400)
      let (certificate, key) = try authority.issueServer(
        names: ["127.0.0.1"], notBefore: Date() - 3600, notAfter: Date() + 3600)
      let (apns, fcm) = (try PrivateKey.generateP256(), try PrivateKey.generateRSA())
      _ = try scene.box.file("server.key", key.pkcs8PEM)
      _ = try scene.box.file("server.pem", certificate.pem)
      _ = try scene.box.file("apns.p8", apns.pkcs8PEM)
      _ = try scene.box.file("fcm.key", fcm.pkcs8PEM)
      let process = Process()
      process.executableURL = URL(filePath: try #require(python))
      process.arguments = [script, folder]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      // A child of one of Dispatch's threads is born with SIGTERM blocked.
      defer { kill(process.processIdentifier, SIGKILL) }
      func text(_ name: String) -> String? { try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
      try await waitUntil("the server listens") {
        try #require(process.isRunning)
        return text("port") != nil
      }
      let port = try #require(text("port"))
      let account: JSONValue = [
        "type": "service_account", "project_id": "shop", "private_key_id": "0123456789abcdef",
        "client_email": "push@shop.iam.gserviceaccount.com", "private_key": .string(fcm.pkcs8PEM),
        "token_uri": .string("https://127.0.0.1:\(port)/token"),
      ]
      let trust = try scene.box.file("ca.pem", authority.certificate.pem)
      let files = [
        [try scene.box.file("AuthKey_ABCDE12345.p8", apns.pkcs8PEM), "--team-id", "TEAM123456"],
        [try scene.box.file("shop.json", account.text())],
        [try scene.box.file("jpush.txt", String(repeating: "a", count: 24) + ":" + String(repeating: "b", count: 24))],
      ]
      for file in files {
        let added = await scene.box.run(
          ["certificates", "add"] + file + [
            "--app", DeliveryScene.topic, "--use-for", "development", "--endpoint", "127.0.0.1:\(port)", "--trust",
            trust,
          ], now: Date())
        try #require(added.code == 0, "\(added)")
      }
      try await body(scene) {
        try (text("seen") ?? "").split(separator: "\n").map { line in
          let json = try JSONValue(parsing: Array(line.utf8))
          return Seen(
            method: json["method"]?.string ?? "", path: json["path"]?.string ?? "", body: json["body"] ?? .null)
        }
      }
    }
  }

  /// As many devices with each service; of APNs and FCM, one that is gone and one that is refused once.
  private static func register(_ scene: DeliveryScene) async throws {
    let registrations = (0..<count).flatMap { number -> [Registration] in
      let end = number == 0 ? "dead" : number == 1 ? "beef" : "0000"
      let hexadecimal = String(repeating: "0", count: 56) + String(1000 + number) + end
      let tokens: [(ProviderKind, Platform, String)] = [
        (.apns, .ios, hexadecimal), (.fcm, .android, "device-\(number):APA91bHun4MxP5egoKMwt2KZFBaFUH\(end)"),
        (.jpush, number.isMultiple(of: 2) ? .ios : .android, "1a0018970a8f4a3\(1000 + number)"),
      ]
      return tokens.compactMap { provider, platform, text in
        guard let token = try? DeviceToken(parsing: text, platform: platform, provider: provider) else { return nil }
        var registration = Registration(token: token, environment: .development, platform: platform)
        registration.provider = provider
        return registration
      }
    }
    try #require(registrations.count == 3 * count)
    try await scene.store.write { [app = scene.app.id] database in
      _ = try Device.register(database, app: app, registrations, now: Date() - 3600)
    }
  }

  @Test(
    "a push reaches every device once through all three, with signatures that PyJWT checks",
    .enabled(if: python != nil, "SIGNALBOX_TEST_PYTHON is not set: script/test sets it"))
  func push() async throws {
    try await Self.run { scene, seen in
      try await Self.register(scene)
      let push = try await scene.deliver(options: ["time_to_live": 3600])
      let all = try seen()
      #expect(push.state == .finished, "\(push)")
      #expect(push.counts == OutcomeCounts(accepted: 3 * Self.count - 2, deadToken: 2), "\(push)")
      let apns = all.filter { $0.path.hasPrefix("/3/device/") }
      let fcm = all.filter { $0.path == "/v1/projects/shop/messages:send" }
      let jpush = all.filter { $0.path == "/v3/push" }
      // The one that was refused came twice.
      #expect(apns.count == Self.count + 1 && Set(apns.map(\.path)).count == Self.count)
      #expect(apns.allSatisfy { $0.body["aps"]?["alert"]?["title"] == "Hello" })
      let tokens = fcm.compactMap { $0.body["message"]?["token"]?.string }
      #expect(tokens.count == Self.count + 1 && Set(tokens).count == Self.count)
      let ids = jpush.flatMap { $0.body["audience"]?["registration_id"]?.array ?? [] }
      #expect(ids.count == Self.count && Set(ids).count == Self.count)
      let known = ["/3/device/", "/v1/projects/shop/messages:send", "/v3/push", "/v3/received"]
      #expect(all.map(\.path).filter { path in !known.contains { path.hasPrefix($0) } } == [])
    }
  }

  @Test(
    "FCM's topics and JPush's devices are changed there",
    .enabled(if: python != nil, "SIGNALBOX_TEST_PYTHON is not set: script/test sets it"))
  func calls() async throws {
    try await Self.run { scene, seen in
      try await Self.register(scene)
      let author = KeeperAuthor("test", now: Date())
      let devices = try await scene.store.read { [app = scene.app.id] database in
        try Device.list(database, DeviceFilter(app: app), limit: 200).items
      }
      let tokens = devices.filter { $0.platform == .android && $0.provider == .fcm }.map(\.token)
      for joins in [true, true, false] {
        let batch = TopicBatch(topic: "news", joins: joins, tokens: tokens)
        let results = try await scene.engine.topics.change(batch, app: scene.app, .development, by: author)
        #expect(results.filter { $0 != .done } == [.refused(reason: "UNREGISTERED")])
      }
      let changes = try seen().filter { $0.path.contains("topicSubscriptions") }
      #expect(changes.count == 3 * Self.count && changes.filter { $0.method == "DELETE" }.count == Self.count)

      let device = try #require(devices.first { $0.provider == .jpush })
      let named = try await scene.store.write { database in
        try Device.update(
          database, id: device.id, alias: .set("usr_new"), tags: .set(["vip", "标签"]), by: "test", now: Date())
      }
      let before = try await scene.engine.jpush.device(named)
      #expect(before.alias == "usr_old" && before.tags == ["old"])
      let after = try await scene.engine.jpush.align(named, by: author)
      #expect(after.isSame && after.alias == "usr_new")
    }
  }
}
