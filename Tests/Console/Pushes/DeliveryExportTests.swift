import Dispatch
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store
import Synchronization
import Testing

@testable import Console

/// Exports need a connection: a server on a free port of this machine.
@Suite("Export of deliveries", .timeLimit(.minutes(2)))
struct DeliveryExportTests {
  /// A finished push to so many devices, and a person who may see it.
  private static func withPush(
    _ devices: Int,
    _ body: @Sendable (ConsoleScene, ServedScene, _ uid: String) async throws -> Void
  ) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(devices, of: try await scene.addApp())
      let uid = try await scene.send([
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
        "notification": ["body": "World"],
      ])
      _ = try await scene.finished(uid)
      try await scene.served(to: try await scene.signIn(.viewer)) { served in try await body(scene, served, uid) }
    }
  }

  private final class Count: Sendable {
    let number = Mutex(0)
  }

  private static func get(_ served: ServedScene, _ target: String, _ ended: Count) async throws -> String {
    let text = try await served.get(target)
    ended.number.withLock { $0 += 1 }
    return text
  }

  @Test("both forms have every device once, over the edges of pages")
  func whole() async throws {
    try await Self.withPush(2100) { _, served, uid in
      let csv = try await served.get("/pushes/\(uid)/deliveries.csv")
      let rows = csv.components(separatedBy: "\r\n").filter { $0.contains(",accepted,") }
      #expect(Set(rows.compactMap { $0.split(separator: ",").first }).count == 2100 && rows.count == 2100)
      let json = try await served.get("/pushes/\(uid)/deliveries.json")
      #expect(json.components(separatedBy: #""outcome":"accepted""#).count == 2101)
    }
  }

  @Test("a token is written as it was registered, in every export and answer, with a colon or without one")
  func tokens() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let texts = [
        "APA91bHx7_" + String(repeating: "Hx7_w", count: 26), "cXyz:APA91bHun4MxP5egoKMwt2KZFBaFUH",
        String(repeating: "a_short_token-", count: 3),
      ]
      let phones = texts.map {
        Registration(token: DeviceToken(text: $0), environment: .development, platform: .android)
      }
      try await scene.store.write { _ = try Device.register($0, app: app.id, phones, now: ConsoleScene.noon) }
      var rule = Audience.Rule()
      rule.deviceToken = try texts.map { try DeviceToken(parsing: $0, platforms: [.ios, .android]) }
      var draft = PushDraft(
        app: ConsoleScene.bundleID, environment: .development, platforms: [.android], audience: .rule(rule),
        notification: PushNotification())
      draft.notification.body = "World"
      let push = try await scene.send(draft)
      let uid = push.uid
      let names = ["/pushes/\(uid)/deliveries.csv", "/pushes/\(uid)/deliveries.json", "/devices.csv", "/devices.json"]
      try await scene.served(to: try await scene.signIn(.viewer)) { served in
        for name in names {
          let text = try await served.get(name)
          for token in texts { #expect(text.contains(token), "\(name)") }
          // Excel takes a CSV without a byte order mark for text in the machine's old encoding.
          #expect(text.unicodeScalars.contains("\u{FEFF}") == name.hasSuffix(".csv"), "\(name)")
        }
      }
      #expect(push.draft?.audience.json["device_token"] == .array(texts.map(JSONValue.string)))
    }
  }

  @Test("exports wait for their own reader, and nobody else waits for them")
  func ownReader() async throws {
    try await Self.withPush(1500) { scene, served, uid in
      let reader = DispatchSemaphore(value: 0)
      async let held: Void = scene.store.read(lane: .exports) { _ in reader.wait() }
      let ended = Count()
      async let first = Self.get(served, "/pushes/\(uid)/deliveries.csv", ended)
      async let second = Self.get(served, "/pushes/\(uid)/deliveries.csv", ended)
      for _ in 0..<20 {
        let page = try await served.get("/pushes/\(uid)")
        #expect(page.hasPrefix("HTTP/1.1 200 "))
      }
      #expect(ended.number.withLock { $0 } == 0, "another reader served them")
      reader.signal()
      try await held
      for csv in [try await first, try await second] {
        #expect(csv.components(separatedBy: "\r\n").filter { $0.contains(",accepted,") }.count == 1500)
      }
    }
  }
}
