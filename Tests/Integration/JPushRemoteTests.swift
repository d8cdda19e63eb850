import Delivery
import Foundation
import JSON
import Model
import Providers
import Simulator
import Store
import Testing

@testable import Console

/// Over HTTP/2 to the simulated JPush, with its keys.
@Suite("What JPush keeps of an app, from the console", .timeLimit(.minutes(2)))
struct JPushRemoteTests {
  private static let environment = Model.Environment.development
  private static let author = KeeperAuthor("test", now: Date())

  private static func call(
    _ scene: DeliveryScene, _ method: String, _ target: String, _ body: JSONValue? = nil
  ) async throws -> SimulatedReply {
    let pair = Data("\(String(repeating: "a", count: 24)):\(String(repeating: "b", count: 24))".utf8)
    let reply = try await scene.simulator.jpush.answer(
      SimulatedCall(
        method: method, target: target, authorization: "Basic \(pair.base64EncodedString())", body: body?.bytes ?? []))
    return try #require(reply)
  }

  private static func actions(_ scene: DeliveryScene) async throws -> [NewAuditEntry] {
    try await scene.store.read { try AuditEntry.list($0, limit: 50).items.map(\.entry) }
  }

  @Test("a device is compared with JPush, brought to our alias and tags, and every refusal has its cause")
  func device() async throws {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      let phones = try await scene.addJPush(12)
      let phone = phones[0]
      _ = try await Self.call(
        scene, "POST", "/v3/devices/\(phone.tokenText)", ["alias": "usr_old", "tags": ["add": ["old", "both"]]])
      let id = try await scene.device(phone).id
      let device = try await scene.store.write { database in
        try Device.update(
          database, id: id, alias: .set("usr_new"), tags: .set(["both", "标签"]), by: "test", now: Date())
      }
      let keeper = scene.engine.jpush
      let before = try await keeper.device(device)
      #expect(before.alias == "usr_old" && before.tags == ["both", "old"] && !before.isSame)
      #expect(before.missingTags == ["标签"] && before.extraTags == ["old"])
      let after = try await keeper.align(device, by: Self.author)
      #expect(after.isSame && after.alias == "usr_new" && after.tags == ["both", "标签"])
      let known = scene.simulator.phones.phone(phone.id)
      #expect(known?.alias == "usr_new" && known?.tags == ["both", "标签"])
      let entry = try #require(try await Self.actions(scene).first { $0.action == "device.jpush" })
      #expect(entry.detail?["outcome"] == "done" && entry.subject == "device \(device.id)")

      // An alias has 10 devices at most: JPush refuses the eleventh, and the log says so.
      for other in phones.dropFirst().prefix(10) {
        _ = try await Self.call(scene, "POST", "/v3/devices/\(other.tokenText)", ["alias": "usr_full"])
      }
      let full = try await scene.store.write { database in
        try Device.update(database, id: device.id, alias: .set("usr_full"), by: "test", now: Date())
      }
      let refusal = await #expect(throws: ServiceRefusal.self) { try await keeper.align(full, by: Self.author) }
      #expect(refusal?.reason.hasPrefix("JPush 7015") == true && refusal?.description.contains("10 devices") == true)
      #expect(try await Self.actions(scene).first?.detail?["outcome"]?.string?.hasPrefix("JPush 7015") == true)
      let bad = try await scene.store.write { database in
        try Device.update(database, id: device.id, alias: .set("with-hyphen"), by: "test", now: Date())
      }
      let problems = await #expect(throws: Problems.self) { try await keeper.align(bad, by: Self.author) }
      #expect(problems?.all.map(\.field) == ["alias"])
    }
  }

  @Test("schedules, tags and aliases are listed and deleted; the command line does the same")
  func remote() async throws {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      let phones = try await scene.addJPush(3)
      let keeper = scene.engine.jpush
      let push: JSONValue = ["platform": "all", "audience": "all", "notification": ["alert": "Good morning"]]
      // JPush takes no time that is more than a year away.
      let day = Date(timeIntervalSinceNow: 30 * 86_400).formatted(.iso8601.year().month().day())
      for number in 0..<60 {
        let made = try await Self.call(
          scene, "POST", "/v3/schedules",
          [
            "name": .string("task_\(number)"), "enabled": true,
            "trigger": ["single": ["time": .string("\(day) 09:00:00")]], "push": push,
          ])
        try #require(made.status == 200)
      }
      let schedules = try await keeper.schedules(app: scene.app, Self.environment)
      #expect(schedules.count == 60, "two pages of JPush's")
      #expect(schedules.first?.name == "task_0" && schedules.first?.alert == "Good morning")
      let first = try #require(schedules.first).id
      let listed = await scene.box.run(
        "jpush", "schedules", DeliveryScene.topic, "development", now: Date())
      #expect(listed.code == 0 && listed.output.contains(first), "\(listed)")
      try await keeper.remove(.schedule, first, app: scene.app, Self.environment, by: Self.author)
      #expect(try await keeper.schedules(app: scene.app, Self.environment).count == 59)
      let again = await #expect(throws: ServiceRefusal.self) {
        try await keeper.remove(.schedule, first, app: scene.app, Self.environment, by: Self.author)
      }
      #expect(again?.status == 404 && again?.reason.hasPrefix("JPush 8104") == true)

      let ids = phones.map(\.tokenText)
      try await keeper.change(
        tag: "深圳", added: ids, removed: [], app: scene.app, Self.environment, by: Self.author)
      #expect(try await keeper.tags(app: scene.app, Self.environment) == ["深圳"])
      #expect(try await keeper.isTagged("深圳", device: ids[0], app: scene.app, Self.environment))
      try await keeper.change(
        tag: "深圳", added: [], removed: [ids[0]], app: scene.app, Self.environment, by: Self.author)
      #expect(try await !keeper.isTagged("深圳", device: ids[0], app: scene.app, Self.environment))
      let removed = await scene.box.run(
        "jpush", "remove-tag", DeliveryScene.topic, "development", "深圳", now: Date())
      #expect(removed.code == 0, "\(removed)")
      #expect(try await keeper.tags(app: scene.app, Self.environment).isEmpty)

      for id in ids.prefix(2) { _ = try await Self.call(scene, "POST", "/v3/devices/\(id)", ["alias": "usr_ada"]) }
      let holders = try await keeper.devices(alias: "usr_ada", app: scene.app, Self.environment)
      #expect(Set(holders) == Set(ids.prefix(2)))
      let compared = await scene.box.run(
        "jpush", "device", DeliveryScene.topic, "development", ids[0], now: Date())
      #expect(compared.code == 1 && compared.output.contains("usr_ada"), "\(compared)")
      let aligned = await scene.box.run(
        "jpush", "device", DeliveryScene.topic, "development", ids[0], "--align", now: Date())
      #expect(aligned.code == 0 && !aligned.output.contains("usr_ada"), "\(aligned)")
      try await keeper.remove(.alias, "usr_ada", app: scene.app, Self.environment, by: Self.author)
      #expect(try await keeper.devices(alias: "usr_ada", app: scene.app, Self.environment).isEmpty)
      let log = Set(try await Self.actions(scene).map(\.action))
      #expect(log.isSuperset(of: ["jpush.schedule_remove", "jpush.tag", "jpush.tag_remove", "jpush.alias_remove"]))
      let nowhere = await #expect(throws: NoRoute.self) {
        try await keeper.tags(app: scene.app, .production)
      }
      #expect(nowhere?.reason == .noCredential)
    }
  }

  @Test("JPush and FCM check a push without sending it, and say why they would refuse it")
  func validation() async throws {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      let phones = try await scene.addThirds(6)
      func validate(
        _ change: JSONValue = [:], localizations: JSONValue = .null
      ) async throws -> [PushValidation] {
        let json: JSONValue = [
          "app": .string(DeliveryScene.topic), "environment": "development", "audience": "all",
          "notification": ["body": "Hello", "localizations": localizations], "options": change,
        ]
        let check = try await PushIntake(store: scene.store).check(try PushDraft(json: json), now: Date(), within: nil)
        return try await scene.engine.validate(check)
      }
      let fine = try await validate()
      #expect(fine.map(\.provider) == [.fcm, .jpush] && fine.map(\.devices) == [1, 2])
      #expect(fine.allSatisfy { $0.answer == .accepted && $0.reason == nil }, "\(fine)")
      let before = scene.simulator.counters(.jpush).requests
      let each = try await validate(localizations: ["de": ["body": "Hallo"], "fr": ["body": "Salut"]])
      #expect(each.map(\.answer) == [.accepted, .accepted], "\(each)")
      #expect(scene.simulator.counters(.jpush).requests == before + 3, "each text is asked about")
      for phone in phones where phone.provider != .apns { try scene.simulator.phones.uninstall(phone.id) }
      let refused = try await validate()
      #expect(refused.map { $0.reason?.code } == ["UNREGISTERED", "JPush 1011"], "\(refused)")
      #expect(refused.allSatisfy { $0.answer == .refused })
      scene.simulator.faults(.jpush).set(try Faults(parsing: "reason=2002,status=429", for: .jpush))
      #expect(try await validate().last?.answer == .undecided)
      #expect(phones.allSatisfy { scene.simulator.phones.phone($0.id)?.received.isEmpty == true }, "nothing was sent")
    }
  }
}
