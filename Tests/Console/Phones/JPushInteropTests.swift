import Console
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import Simulator
import TestSupport
import Testing

/// JPush's own client for Python against the simulated JPush, over plain HTTP/1.1 on loopback, as `signalbox simulate`
/// serves it.
@Suite("Simulated JPush with others", .timeLimit(.minutes(2)))
struct JPushInteropTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_JPUSH"]

  @Test(
    "jpush 3.4.1 pushes, validates, tags, names and reports; what is refused raises its class",
    .enabled(if: python != nil, "SIGNALBOX_TEST_JPUSH is not set: script/test sets it"))
  func client() async throws {
    let simulator = try PushSimulator()
    let listen = try #require(SocketAddress("127.0.0.1:0"))
    let server = Server(ServerConfiguration(address: listen), SimulatorControl.router(simulator))
    let address = try await server.start()
    let phones = try [Platform.android, .ios].map {
      try simulator.phones.add(
        NewPhone(
          name: $0.name, platform: $0, provider: .jpush, environment: .development, topic: "com.example.app"))
    }
    let ids = phones.map(\.tokenText)
    let file = ConsoleScene.root.appending(path: "Tests/Console/Fixtures/jpush_simulator.py").path
    let ran = try await OtherProgram.run(
      try #require(Self.python), [file, "http://\(address)"] + ids, environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    try await waitUntil("the schedule sends") {
      simulator.jpush.sendDue()
      return simulator.phones.phone(phones[0].id)?.received.contains { $0.alert.body == "Soon" } == true
    }
    await server.stop(within: .seconds(1))
    try #require(ran.status == 0, "\(ran.output)")
    let results = try JSONValue(parsing: Data((ran.output.split(separator: "\n").last ?? "").utf8))
    let expected: [String: JSONValue] = [
      "send": true, "limit": true, "device": ["tags": ["vip", "深圳"], "alias": "usr_1", "mobile": .null],
      "tags": ["tags": ["vip", "深圳"]], "tagged": ["result": true],
      "alias": ["registration_ids": [.string(ids[0])]], "tagged_send": "0", "ios": true, "nobody": 1011,
      "nested": 1009, "cid": true, "batch": [false, true], "report": 1, "detail": 1, "messages": 1, "users": 1,
      "schedules": 2,
      "renamed": "Much_later", "deleted": 8104,
      "gone": [["registration_ids": []], ["深圳"]],
    ]
    for (name, value) in expected.sorted(by: { $0.key < $1.key }) { #expect(results[name] == value, "\(name)") }
    let titles = simulator.phones.phone(phones[0].id)?.received.compactMap { $0.alert.title ?? $0.alert.body } ?? []
    #expect(titles.contains("Hello") && titles.contains("t") && titles.contains("Batch"))
    let iphone = try #require(simulator.phones.phone(phones[1].id)?.received.first { $0.alert.title == "a" })
    #expect(iphone.json["aps"]?["badge"] == 3 && iphone.json["k"] == "v")
  }
}
