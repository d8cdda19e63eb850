import Foundation
import JSON
import Model
import Testing

@testable import Simulator

@Suite("Live Activities on simulated phones")
struct LiveActivityTests {
  /// Sends an event to the phone's token, or over a channel.
  @discardableResult
  private static func send(
    _ scene: PhoneScene, _ event: String, _ aps: [String: JSONValue] = [:], channel: String? = nil, id: String
  ) throws -> AcceptedPush {
    let aps = aps.merging(["event": .string(event), "content-state": ["id": .string(id)]]) { given, _ in given }
    let payload: JSONValue = ["aps": .object(aps.filter { $0.value != .null })]
    let token = try scene.current().token
    let push = AcceptedPush(
      token: channel == nil ? SimulatedPhone.token(token, for: .liveactivity) : token, apnsID: id,
      topic: PhoneScene.topic + PushType.liveactivity.topicSuffix,
      pushType: .liveactivity, priority: 10, payload: payload, rawPayload: Array(payload.data()),
      usedProviderToken: true, channel: channel)
    #expect(scene.deliver(push) == nil)
    return push
  }

  /// What the phone shows, newest first.
  private static func entries(_ scene: PhoneScene) throws -> [String] { try scene.current().entries.map(\.apnsID) }

  @Test("a start with a channel subscribes the phone, in the channel's environment and if there is one")
  func joins() throws {
    let scene = try PhoneScene()
    let channels = ChannelBook(scene.book)
    let id = try channels.create(.storesNothing, app: PhoneScene.topic, .development)
    let subscribers = { channels.all.map(\.subscribers) }
    for (event, channel) in [("update", id), ("start", "x")] {
      channels.join(try Self.send(scene, event, ["input-push-channel": .string(channel)], id: event), .development)
    }
    let start = try Self.send(scene, "start", ["input-push-channel": .string(id)], id: "S")
    channels.join(start, .production)
    #expect(subscribers() == [[]])
    channels.join(start, .development)
    #expect(subscribers() == [[scene.phone.id]])
  }

  @Test("updates change the one activity, until it has ended")
  func life() throws {
    let scene = try PhoneScene()
    try scene.send(id: "alert")
    for (id, event) in [("A1", "start"), ("A2", "update"), ("A3", "update")] { try Self.send(scene, event, id: id) }
    #expect(try Self.entries(scene) == ["A3", "alert"])
    try Self.send(scene, "end", ["content-state": .null], id: "A4")
    let phone = try scene.current()
    #expect(phone.entries.map(\.apnsID) == ["A4", "alert"] && phone.received.count == 5)
    let live = try #require(phone.activities[phone.received[0].id])
    #expect(live.pushes.map(\.apnsID) == ["A1", "A2", "A3", "A4"])
    #expect(live.content == ["id": "A3"], "an end without content leaves the last")
    #expect(!live.isDismissed(at: PhoneScene.now) && live.isDismissed(at: PhoneScene.time(4 * 3600)))
    // The app has started another one.
    try Self.send(scene, "update", id: "B1")
    try Self.send(scene, "end", ["dismissal-date": 1], id: "B2")
    #expect(try Self.entries(scene) == ["B2", "A4", "alert"])
    let ended = try scene.current()
    #expect(ended.activities[ended.received[0].id]?.isDismissed(at: PhoneScene.now) == true)
    try Self.send(scene, "start", id: "C1")
    try Self.send(scene, "start", id: "D1")
    #expect(try Self.entries(scene).prefix(3) == ["D1", "C1", "B2"])
  }

  @Test("an update with an older timestamp changes nothing")
  func late() throws {
    let scene = try PhoneScene()
    try Self.send(scene, "start", ["timestamp": 10], id: "A1")
    try Self.send(scene, "update", ["timestamp": 30], id: "A2")
    try Self.send(scene, "end", ["timestamp": 20], id: "A3")
    #expect(try Self.entries(scene) == ["A2"])
    let phone = try scene.current()
    let live = try #require(phone.activities[phone.received[0].id])
    #expect(live.content == ["id": "A2"] && live.dismissal == nil)
    #expect(live.ignored == [phone.received[0].id])
    try Self.send(scene, "end", ["timestamp": 50], id: "A4")
    try Self.send(scene, "update", ["timestamp": 40], id: "A5")
    #expect(try Self.entries(scene) == ["A4"], "nor does it start another one after the end")
    try Self.send(scene, "update", ["timestamp": 60], id: "B1")
    #expect(try Self.entries(scene) == ["B1", "A4"])
  }

  @Test("each channel has an activity of its own, also in storage")
  func channels() async throws {
    let storage = TestStorage()
    let scene = try PhoneScene(try await PhoneBook.open(storage))
    try Self.send(scene, "start", id: "A1")
    try Self.send(scene, "start", ["input-push-channel": "x"], id: "X1")
    try Self.send(scene, "update", channel: "x", id: "X2")
    try Self.send(scene, "update", channel: "y", id: "Y1")
    try Self.send(scene, "update", id: "A2")
    #expect(try Self.entries(scene) == ["A2", "Y1", "X2"])
    try await scene.book.flush()
    let opened = try await PhoneBook.open(storage)
    #expect(opened.phone(scene.phone.id)?.entries.map(\.apnsID) == ["A2", "Y1", "X2"])
    let item = try #require(scene.current().received.first { $0.apnsID == "Y1" })
    let kept = try ReceivedNotification(
      id: item.id, apnsID: item.apnsID, payload: item.payload, receivedAt: item.receivedAt, keptFields: item.keptFields)
    #expect(kept == item && kept.channel == "y")
  }
}
