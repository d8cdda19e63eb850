import Foundation
import Glibc
import JSON
import Model
import Simulator
import Store
import TestSupport
import Testing

@testable import Console

/// The whole program, killed while it sends one push in three languages.
@Suite("A push in several languages through three services", .serialized, .timeLimit(.minutes(5)))
struct LocalizationDeliveryTests {
  private static let notification: JSONValue = [
    "title": "Hello", "body": "default",
    "localizations": ["de": ["body": "deutsch"], "zh-Hans": ["title": "你好", "body": "中文"]],
  ]
  /// What devices report, in turn, and what they show.
  private static let languages = [("zh-Hans-CN", "中文"), ("de_AT", "deutsch"), ("fr", "default")]

  /// Gives phones their languages as their apps do: each service has all of them.
  private func speak(_ scene: DeliveryScene, _ phones: [SimulatedPhone]) async throws -> [Int64: String] {
    var texts: [Int64: String] = [:]
    let inputs = phones.enumerated().map { number, phone in
      let (language, text) = Self.languages[number / 3 % 3]
      texts[phone.id] = text
      var input = AppRegistration(app: scene.app.id, Registration(of: phone))
      input.details = DeviceDetails(language: language)
      return input
    }
    let codes = try await scene.store.write { try AppRegistration.register($0, inputs, now: Date() - 60) }
    try #require(codes.allSatisfy { $0 == .success })
    return texts
  }

  /// Phones that show another text than that of their language.
  private func wrong(_ scene: DeliveryScene, _ phones: [SimulatedPhone], _ texts: [Int64: String]) -> [String] {
    phones.compactMap { phone in
      let shown = Set(scene.simulator.phones.phone(phone.id)?.received.map { Self.body($0) ?? "none" } ?? [])
      return shown == [texts[phone.id] ?? ""] ? nil : "\(phone.name) \(phone.provider): \(shown)"
    }
  }

  /// Kills the server in the midst of a page of JPush's, and lets another one end the push.
  private func killAndResume(
    _ scene: DeliveryScene, _ push: Push, _ phones: [SimulatedPhone], answered: Int, hasTrail: Bool
  ) async throws {
    let first = try await scene.serve()
    try await eventually("the first requests are answered", every: .milliseconds(2)) {
      try await scene.progress(push).total >= answered
    }
    first.send(SIGKILL)
    _ = await first.status()
    let total = try await scene.progress(push).total
    #expect(total < 2500 && total % 1000 != 0, "\(total): the kill came too late, or between two pages")
    if !hasTrail { try scene.removeTrails() }
    scene.simulator.faults(.jpush).set(Faults())
    let last = try await scene.serve()
    try await scene.finished(push, by: last)
    #expect(await scene.stop(last) == 0, "\(last.errorText)")
    let tally = try await scene.tally(push, phones)
    #expect(tally.isWhole && tally.outcomes == ["accepted": 2500] && tally.doubles == 0, "\(tally)")
  }

  /// The kill may come while the trail notes the devices of a request, before it is sent. Those that are noted then go
  /// out in one request, and the others in a second.
  private func expectWhole(_ messages: [SentJPushMessage], requests: Int) {
    let devices = messages.map(\.devices)
    #expect(devices.count == requests || devices.count == requests + 1, "\(devices)")
    #expect(devices.reduce(0, +) == 2500, "\(devices)")
  }

  private static func body(_ notification: ReceivedNotification) -> String? { notification.alert.body }

  @Test("killed and resumed: each device shows its language, and JPush sends nothing twice")
  func killed() async throws {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      let phones = try await scene.addThirds(3000)
      let texts = try await speak(scene, phones)
      for server in [SimulatedServer.development, .fcm] {
        scene.simulator.faults(server).set(try Faults(parsing: "delay=200ms,streams=20", for: server))
      }
      scene.simulator.faults(.jpush).set(try Faults(parsing: "delay=10s", for: .jpush))
      let push = try await scene.push(options: [:], notification: Self.notification)
      let first = try await scene.serve()
      // So few that the push is not over before the kill, however busy the machine is.
      try await eventually("a tenth has its outcome", every: .milliseconds(2)) {
        try await scene.progress(push).total >= 300
      }
      first.send(SIGKILL)
      #expect(await first.status() == 137)
      #expect(try await scene.progress(push).state == .sending, "the kill came too late")
      for server in [SimulatedServer.development, .fcm, .jpush] { scene.simulator.faults(server).set(Faults()) }
      let last = try await scene.serve()
      try await scene.finished(push, by: last)
      #expect(await scene.stop(last) == 0, "\(last.errorText)")
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.outcomes == ["accepted": 3000], "\(tally)")
      #expect(tally.doublesBy[.jpush, default: 0] == 0, "\(tally)")
      let mistakes = wrong(scene, phones, texts)
      #expect(mistakes.isEmpty, "\(mistakes.count) wrong: \(mistakes.prefix(5))")
      let kept = try await scene.store.read {
        try Delivery.list($0, push: push.id, isLocalized: true, limit: 5000).items
      }
      let counts = Dictionary(grouping: kept, by: \.variant).mapValues(\.count)
      let byText = Dictionary(grouping: texts.values) { $0 }.mapValues(\.count)
      #expect(counts == [0: byText["default"] ?? 0, 1: byText["deutsch"] ?? 0, 2: byText["中文"] ?? 0], "\(counts)")
    }
  }

  @Test(
    "a page of JPush's devices that is half answered when it is killed: the rest goes out with the same cid",
    arguments: [true, false])
  func cid(hasTrail: Bool) async throws {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      let phones = try await scene.addJPush(2500)
      let texts = try await speak(scene, phones)
      // One request after the other: some are answered and others not.
      scene.simulator.faults(.jpush).set(try Faults(parsing: "delay=400ms,streams=1", for: .jpush))
      let push = try await scene.push(options: [:], notification: Self.notification)
      try await killAndResume(scene, push, phones, answered: 600, hasTrail: hasTrail)
      let mistakes = wrong(scene, phones, texts)
      #expect(mistakes.isEmpty, "\(mistakes.count) wrong: \(mistakes.prefix(5))")
      // Three pages in three languages.
      let messages = try await scene.store.read { try SentJPushMessage.all($0, push: push.id) }
      expectWhole(messages, requests: 9)
    }
  }

  @Test(
    "the same for a push without a text, whose pages are a request for each platform", arguments: [true, false])
  func dataOnly(hasTrail: Bool) async throws {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      let phones = try await scene.addJPush(2500)
      scene.simulator.faults(.jpush).set(try Faults(parsing: "delay=400ms,streams=1", for: .jpush))
      let push = try await scene.push(
        options: [:], notification: ["content_available": true, "extras": ["order": "7"]])
      try await killAndResume(scene, push, phones, answered: 500, hasTrail: hasTrail)
      let messages = try await scene.store.read { try SentJPushMessage.all($0, push: push.id) }
      expectWhole(messages, requests: 6)
    }
  }
}
