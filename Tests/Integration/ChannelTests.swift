import Delivery
import Foundation
import JSON
import Model
import Providers
import Simulator
import Store
import Testing

@Suite("Broadcast channels, from the command line to the phones", .timeLimit(.minutes(3)))
struct ChannelTests {
  private static let payload: JSONValue = [
    "aps": [
      "timestamp": 1_800_000_000, "event": "update", "content-state": ["score": "1:0"],
      "alert": ["title": "Goal", "body": "1:0"],
    ]
  ]

  /// A push to a channel, carried out.
  private static func send(
    _ scene: DeliveryScene, _ channel: String, options: JSONValue = [:], parent: Push? = nil
  ) async throws -> Push {
    let draft = try PushDraft(json: [
      "app": .string(DeliveryScene.topic), "environment": "development", "audience": ["channel": .string(channel)],
      "apns": ["payload": payload], "options": options,
    ])
    let push = try await scene.store.write { [app = scene.app] database in
      var new = NewPush(draft, app: app, source: .api, by: "test")
      new.parentID = parent?.id
      return try Push.create(database, new, now: Date())
    }
    try await scene.carryOut(push)
    return try await scene.store.read { try Push.get($0, id: push.id) }
  }

  private static func channels(_ scene: DeliveryScene, _ words: String...) async -> CommandResult {
    await scene.box.run(["channels"] + words, now: Date())
  }

  /// A channel in development, made by the command line.
  private static func create(_ scene: DeliveryScene) async throws -> String {
    let made = await channels(scene, "create", DeliveryScene.topic, "development")
    return try #require(made.lines.first, "\(made)")
  }

  @Test(
    "a channel is created, listed, read, sent to, and deleted, with a key and with a certificate",
    arguments: [DeliveryScene.Options.Credentials.key, .certificate])
  func life(_ credentials: DeliveryScene.Options.Credentials) async throws {
    var options = DeliveryScene.Options()
    options.credentials = credentials
    try await DeliveryScene.run(options) { scene in
      let topic = DeliveryScene.topic
      let phones = try await scene.add(3)
      let made = await Self.channels(scene, "create", topic, "development", "--storage", "latest", "--name", "Final")
      #expect(made.code == 0, "\(made)")
      let id = try #require(made.lines.first)
      #expect(scene.simulator.channels.all.map(\.id) == [id])
      for phone in phones.prefix(2) { try scene.simulator.channels.subscribe(phone, to: id) }

      let push = try await Self.send(scene, id)
      #expect(push.state == .finished && push.target == 1 && push.counts.accepted == 1, "\(push)")
      let got = scene.simulator.phones.phones().filter { !$0.received.isEmpty }
      #expect(got.map(\.id) == phones.prefix(2).map(\.id))
      let first = try #require(got.first?.received.first)
      #expect(first.pushType == .liveactivity && first.topic == topic + ".push-type.liveactivity")
      #expect(try JSONValue(parsing: Array(first.payload.utf8)) == Self.payload)
      #expect(scene.simulator.channels.all.first?.accepted == 1)

      let other = await Self.channels(scene, "list", topic, "production", "--json")
      #expect(other.json == [])
      let shown = await Self.channels(scene, "show", topic, "development", id)
      #expect(shown.output.contains("storage latest") && shown.output.contains("Final"), "\(shown)")
      let gone = await Self.channels(scene, "remove", topic, "development", id)
      #expect(gone.code == 0, "\(gone)")
      #expect(scene.simulator.channels.all.isEmpty)
      let again = await Self.channels(scene, "show", topic, "development", id)
      #expect(again.code == 1 && again.errors.contains("ChannelNotRegistered"), "\(again)")

      let late = try await Self.send(scene, id)
      #expect(late.counts.failed == 1 && late.counts.accepted == 0, "\(late)")
      let reasons = try await scene.store.read { try Delivery.reasonCounts($0, push: late.id) }
      #expect(reasons.map(\.reason) == ["ChannelNotRegistered"])
    }
  }

  @Test("what Apple lists is compared with what is known")
  func reconciled() async throws {
    try await DeliveryScene.run { scene in
      let topic = DeliveryScene.topic
      let kept = try await Self.create(scene)
      let lost = try await Self.create(scene)
      // Somebody else deletes one: another console with the same key.
      let routes = scene.routes
      let ask: ChannelKeeper.Ask = { request, app, environment in
        try await routes.ask(request, app: app, environment: environment)
      }
      let elsewhere = ChannelKeeper(store: scene.store, ask: ask)
      _ = try await routes.ask(.delete(lost), app: scene.app, environment: .development)
      guard
        case .created(let stranger) = try await scene.routes.ask(
          .create(.storesLatest), app: scene.app, environment: .development)
      else {
        Issue.record("not created")
        return
      }
      let listed = try await elsewhere.list(app: scene.app, .development, now: Date())
      let ids = Set(listed.map(\.channel))
      #expect(ids == [kept, lost, stranger])
      let missing = listed.filter { $0.missingSince != nil }.map(\.channel)
      #expect(missing == [lost])
      let found = listed.first { $0.channel == stranger }
      #expect(found != nil && found?.createdBy == nil)
      let known = await Self.channels(scene, "list", topic, "development", "--known")
      #expect(known.output.contains("not in Apple's list since"), "\(known)")
      try await elsewhere.delete(lost, app: scene.app, .development, by: KeeperAuthor("test", now: Date()))
      let left = try await scene.store.read { try Channel.all($0, app: scene.app.id) }
      #expect(Set(left.map(\.channel)) == [kept, stranger])
    }
  }

  @Test("a channel that stores nothing takes only one attempt; a stored message waits for a phone that is off")
  func policies() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add(1)
      let phone = try #require(phones.first)
      let book = scene.simulator.channels
      guard
        case .created(let none) = try await scene.routes.ask(
          .create(.storesNothing), app: scene.app, environment: .development),
        case .created(let latest) = try await scene.routes.ask(
          .create(.storesLatest), app: scene.app, environment: .development)
      else {
        Issue.record("not created")
        return
      }
      for id in [none, latest] { try book.subscribe(phone, to: id) }
      try scene.simulator.phones.setPower(phone.id, .off, now: Date())
      let refused = try await Self.send(scene, none, options: ["time_to_live": 600])
      #expect(refused.counts.failed == 1)
      let reasons = try await scene.store.read { try Delivery.reasonCounts($0, push: refused.id) }
      #expect(reasons.map(\.reason) == ["BadExpirationDate"])
      let lost = try await Self.send(scene, none)
      #expect(lost.counts.accepted == 1)
      #expect(scene.simulator.phones.phone(phone.id)?.waiting.isEmpty == true)
      let stored = try await Self.send(scene, latest, options: ["time_to_live": 600])
      #expect(stored.counts.accepted == 1)
      #expect(scene.simulator.phones.phone(phone.id)?.waiting.count == 1)
      try scene.simulator.phones.setPower(phone.id, .on, now: Date())
      #expect(scene.simulator.phones.phone(phone.id)?.received.count == 1)
    }
  }

  @Test("a push to a channel waits for its retry as one to a device does, and can be retried by a person")
  func retries() async throws {
    try await DeliveryScene.run { scene in
      guard
        case .created(let id) = try await scene.routes.ask(
          .create(.storesNothing), app: scene.app, environment: .development)
      else {
        Issue.record("not created")
        return
      }
      let faults = scene.simulator.faults(.development)
      faults.set(try Faults(parsing: "status=503,next=1", for: .development))
      let push = try await Self.send(scene, id)
      #expect(push.state == .finished && push.counts.accepted == 1, "\(push)")
      faults.set(try Faults(parsing: "reason=ChannelNotRegistered,next=1", for: .development))
      let failed = try await Self.send(scene, id)
      #expect(failed.counts.failed == 1)
      let accepted = try await Self.send(scene, id, parent: push)
      #expect(accepted.target == 0, "what was accepted is not sent again")
    }
  }

  @Test("the command line sends to a channel")
  func command() async throws {
    try await DeliveryScene.run { scene in
      let topic = DeliveryScene.topic
      let id = try await Self.create(scene)
      let file = try scene.box.file("update.json", Self.payload.text())
      let sent = await scene.box.run(
        [
          "send", "--app", topic, "--environment", "development", "--channel", id, "--payload", file, "--platform",
          "ios",
        ], now: Date())
      #expect(sent.code == 0, "\(sent)")
      #expect(scene.simulator.channels.all.first?.accepted == 1)
      let both = await scene.box.run(
        ["send", "--app", topic, "--environment", "development", "--channel", id, "--broadcast"], now: Date())
      #expect(both.code == 64)
    }
  }
}
