import Console
import Foundation
import HTTPServer
import JSON
import Model
import OpenSSL
import Reactor
import Simulator
import TestSupport
import Testing

/// Other people's clients against the simulated FCM, over plain HTTP/1.1 on loopback, as `signalbox simulate` serves it.
@Suite("Simulated FCM with others", .timeLimit(.minutes(3)))
struct FCMInteropTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_FCM"]
  private static let legacyPython = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_FCM_LEGACY"]

  private struct Scene {
    let simulator: PushSimulator
    let address: String
    /// A phone that gets messages, and one whose app is removed.
    let good: SimulatedPhone
    let gone: SimulatedPhone

    /// Runs a program of the fixtures, and reads the last line that it prints.
    func run(_ python: String, _ script: String, _ arguments: [String]) async throws -> JSONValue {
      let file = ConsoleScene.root.appending(path: "Tests/Console/Fixtures/\(script)").path
      let (status, output) = try await OtherProgram.run(
        python, [file, address] + arguments, environment: ["PYTHONDONTWRITEBYTECODE": "1"])
      try #require(status == 0, "\(output)")
      return try JSONValue(parsing: Data((output.split(separator: "\n").last ?? "").utf8))
    }

    func received() throws -> [ReceivedNotification] { try #require(simulator.phones.phone(good.id)).received }
  }

  private static func with(_ body: (Scene) async throws -> Void) async throws {
    let simulator = try PushSimulator()
    let listen = try #require(SocketAddress("127.0.0.1:0"))
    let server = Server(ServerConfiguration(address: listen), SimulatorControl.router(simulator))
    let address = try await server.start()
    let phones = try ["Good", "Gone"].map {
      try simulator.phones.add(
        NewPhone(name: $0, platform: .android, environment: .production, topic: "com.example.app"))
    }
    try simulator.phones.uninstall(phones[1].id)
    let scene = Scene(simulator: simulator, address: "http://\(address)", good: phones[0], gone: phones[1])
    let result: Result<Void, any Error>
    do { result = .success(try await body(scene)) } catch { result = .failure(error) }
    await server.stop(within: .seconds(1))
    try result.get()
  }

  @Test(
    "firebase_admin 7 and pyfcm 2 sign in, send, and subscribe; what is refused raises their classes",
    .enabled(if: python != nil, "SIGNALBOX_TEST_FCM is not set: script/test sets it"))
  func current() async throws {
    let python = try #require(Self.python)
    try await Self.with { scene in
      let folder = try temporaryFolder()
      defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
      let key = folder.appending(path: "key.pem")
      try Data(PrivateKey.generateRSA().pkcs8PEM.utf8).write(to: key)
      let results = try await scene.run(
        python, "fcm_clients.py", [key.path, scene.good.tokenText, scene.gone.tokenText])
      let expected: [String: JSONValue] = [
        "send": true, "fid": true, "dry_run": "projects/simulator/messages/fake_message_id",
        "removed": "UnregisteredError", "malformed": "InvalidArgumentError", "too_big": "InvalidArgumentError",
        "each": [true, "UnregisteredError"], "each_many": 100, "multicast": [true, "UnregisteredError"],
        "subscribe": [1, 1, ["UNREGISTERED"]], "subscribe_again": [1, 0, []], "topic": true, "condition": true,
        "unsubscribe_legacy": [1, 0, []], "subscribe_legacy": [1, 1, ["NOT_FOUND"]],
        "unsubscribe": [1, 1, ["UNREGISTERED"]],
        "py_notify": true, "py_dry_run": "projects/simulator/messages/fake_message_id",
        "py_removed": "FCMNotRegisteredError", "py_malformed": "InvalidDataError", "py_topic": true,
        "py_condition": true, "py_many": [true, true],
      ]
      for (name, value) in expected.sorted(by: { $0.key < $1.key }) { #expect(results[name] == value, "\(name)") }
      let received = try scene.received()
      let titles = received.compactMap(\.alert.title)
      #expect(titles.contains("one") && titles.contains("py") && titles.contains("n99"))
      #expect(!titles.contains("dry") && !titles.contains("gone"))
      let data = received.compactMap { $0.json["data"]?["to"]?.string }
      #expect(data.sorted() == ["condition", "topic"])
      let one = try #require(received.first { $0.alert.title == "one" }?.androidNotification)
      #expect(one.channel == "orders" && one.tag == "t-one" && one.priority == "high")
      #expect(try #require(scene.simulator.phones.phone(scene.good.id)).topics.isEmpty)
    }
  }

  @Test(
    "pyfcm 1 sends by the legacy protocol: results in order, canonical IDs, topics, 1,001 tokens",
    .enabled(if: legacyPython != nil, "SIGNALBOX_TEST_FCM_LEGACY is not set: script/test sets it"))
  func legacy() async throws {
    let python = try #require(Self.legacyPython)
    try await Self.with { scene in
      let replaced = scene.good.tokenText
      let token = String(decoding: try scene.simulator.phones.refreshToken(scene.good.id).bytes, as: UTF8.self)
      let results = try await scene.run(python, "fcm_legacy.py", [token, scene.gone.tokenText, replaced])
      let expected: [String: JSONValue] = [
        "single": [1, 0, 0, ["ok"], true], "single_data": [1, 0, 0, ["ok"], true],
        "multiple": [1, 2, 0, ["ok", "NotRegistered", "InvalidRegistration"], true],
        "multiple_data": [1, 1, 0, ["ok", "NotRegistered"], true],
        "replaced": [1, 0, 1, [.string(token)], true], "dry_run": [1, 0, 0, ["ok"], true],
        "topic": true, "condition": true, "topic_data": true, "reserved": [0, 1, 0, ["InvalidDataKey"], true],
        "life": [1, 0, 0, ["ok"], true], "package": [0, 1, 0, ["InvalidPackageName"], true], "over_1000": 1,
      ]
      for (name, value) in expected.sorted(by: { $0.key < $1.key }) { #expect(results[name] == value, "\(name)") }
      let titles = try scene.received().compactMap(\.alert.title)
      #expect(titles.contains("legacy") && titles.contains("canonical") && !titles.contains("dry"))
      let first = try #require(try scene.received().first { $0.alert.title == "legacy" })
      #expect(first.priority == 10 && first.collapseID == "k" && first.json["data"] == ["a": "1"])
      #expect(first.androidNotification?.channel == "orders")
    }
  }
}
