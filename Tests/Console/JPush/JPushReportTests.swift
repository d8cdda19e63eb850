import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Store
import Testing

@testable import Console

@Suite("JPush API: reports")
struct JPushReportTests {
  /// A push to three phones: accepted, refused, and skipped.
  private static func push(_ jpush: JPushScene) async throws -> Int64 {
    let ids = try await jpush.addDevices([], [], []).map(\.id)
    jpush.scene.provider.answer { member in
      switch member.id {
      case ids[0]: .outcome(.accepted)
      case ids[1]: .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil))
      default: .notSent(reason: OwnReason.dryRun.rawValue)
      }
    }
    return try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", JPushScene.push))).id
  }

  @Test("what APNs accepted is sent; what nobody knows is null")
  func figures() async throws {
    try await JPushScene.with { jpush in
      let id = try await Self.push(jpush)
      let none: JSONValue = [
        "android_received": .null, "ios_apns_sent": .null, "ios_apns_received": .null, "ios_msg_received": .null,
        "wp_mpns_sent": .null, "msg_id": "999",
      ]
      let received = try await jpush.call(.get, "/v3/received?msg_ids=\(id)%2C999").json
      #expect(received?.array?.count == 2)
      #expect(received?.array?.first?["msg_id"] == .string("\(id)") && received?.array?.first?["ios_apns_sent"] == 1)
      #expect(received?.array?.last == none)
      let detail = try await jpush.call(.get, "/v3/received/detail?msg_ids=\(id)").json?.array?.first
      #expect(
        detail?["ios_apns_sent"] == 1 && detail?["android_pns_sent"] == .null && detail?["jpush_received"] == .null)
      let messages = try await jpush.call(.get, "/v3/messages/?msg_ids=\(id)").json?.array?.first
      #expect(messages?["ios"]?["apns_sent"] == 1 && messages?["ios"]?["apns_target"] == 3)
      #expect(messages?["ios"]?["apns_received"] == .null && messages?["android"]?["click"] == .null)
      let channels = try await jpush.call(.get, "/v3/messages/detail?msg_ids=\(id)").json?.array?.first
      #expect(channels?["msg_id"] == .integer(id) && channels?["ios"]?["apns_sent"] == 1)
      let many = (1...101).map(String.init).joined(separator: ",")
      for query in ["", "?msg_ids=", "?msg_ids=x", "?msg_ids=1,,x", "?msg_ids=\(many)"] {
        #expect(try await jpush.call(.get, "/v3/received\(query)").jpushCode == 1003, "\(query)")
      }
    }
  }

  @Test("Android phones that JPush reaches do not count as FCM's")
  func services() async throws {
    try await JPushScene.with { jpush in
      let id = try await Self.push(jpush)
      _ = try await jpush.store.write { database in
        try database.run(
          "INSERT INTO push_targets(push_id, platform, provider, count) VALUES (?, 2, 2, 1), (?, 2, 3, 4)", id, id)
      }
      let messages = try await jpush.call(.get, "/v3/messages?msg_ids=\(id)").json?.array?.first
      #expect(messages?["android"]?["target"] == 5)
      let channels = try await jpush.call(.get, "/v3/messages/detail?msg_ids=\(id)").json?.array?.first
      #expect(channels?["jpush"]?["target"] == 4)
      let fcm = channels?["android_pns"]
      #expect(fcm?["pns_target"] == 1 && fcm?["pns_sent"] == 0)
      #expect(fcm?["fcm_detail"] == ["target": 1, "sent": 0])
      let detail = try await jpush.call(.get, "/v3/received/detail?msg_ids=\(id)").json?.array?.first
      #expect(detail?["android_pns_sent"] == 0)
    }
  }

  @Test("a device of a push: accepted, refused, skipped, of nobody, not meant, or without an answer")
  func status() async throws {
    try await JPushScene.with { jpush in
      let id = try await Self.push(jpush)
      try await jpush.store.write { database in
        var late = Registration(token: ConsoleScene.token(50), environment: .production, platform: .ios)
        late.registrationID = .set("r4")
        _ = try Device.register(database, app: jpush.app.id, [late], now: ConsoleScene.noon)
      }
      func status(_ id: JSONValue) async throws -> JSONValue? {
        try await jpush.call(
          .post, "/v3/status/message",
          ["msg_id": id, "registration_ids": ["r1", "r2", "r3", "r4", "none"], "date": "2026-11-20"]
        ).json
      }
      let expected: JSONValue = [
        "r1": ["status": 0], "r2": ["status": 1], "r3": ["status": 1], "r4": ["status": 3], "none": ["status": 2],
      ]
      #expect(try await status(.integer(id)) == expected)
      #expect(try await status(.string("\(id)")) == expected)
      #expect(try await status(999)?["r1"] == ["status": 3])
      _ = try await jpush.store.write { database in
        try database.run(
          "UPDATE deliveries SET outcome = ? WHERE outcome = ?", OutcomeKind.unknown.rawValue,
          OutcomeKind.skipped.rawValue)
      }
      #expect(try await status(.integer(id))?["r3"] == ["status": 4], "sent, and no answer came")
      for (body, code) in [
        (["registration_ids": ["r1"]], 1002), (["msg_id": 1], 1003), (["msg_id": 1, "registration_ids": []], 1003),
        (["msg_id": 1, "registration_ids": ["r1"], "date": "today"], 1003),
      ] as [(JSONValue, Int64)] {
        #expect(try await jpush.call(.post, "/v3/status/message", body).jpushCode == code, "\(body.text())")
      }
    }
  }

  @Test("new devices by hour, day and month of Beijing; what was online is not known and left out")
  func users() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([], [])
      func items(_ query: String) async throws -> JSONValue? {
        try await jpush.call(.get, "/v3/users?\(query)").json?["items"]
      }
      // Noon of Greenwich is 20:00 in Beijing.
      #expect(
        try await items("time_unit=DAY&start=2026-11-19&duration=3")
          == [["time": "2026-11-19"], ["time": "2026-11-20", "ios": ["new": 2]], ["time": "2026-11-21"]])
      #expect(
        try await items("time_unit=HOUR&start=2026-11-20+19&duration=2")
          == [["time": "2026-11-20 19"], ["time": "2026-11-20 20", "ios": ["new": 2]]])
      #expect(
        try await items("time_unit=month&start=2026-10&duration=2")
          == [["time": "2026-10"], ["time": "2026-11", "ios": ["new": 2]]])
      for (query, code) in [
        ("time_unit=DAY&start=2026-11-19+08&duration=1", 3004), ("time_unit=HOUR&start=2026-11-19&duration=1", 3004),
        ("time_unit=MONTH&start=2026-13&duration=1", 3004), ("time_unit=DAY&start=2026-09-01&duration=1", 3005),
        ("time_unit=HOUR&start=2026-11-20+00&duration=25", 3005), ("time_unit=YEAR&start=2026&duration=1", 1003),
        ("time_unit=DAY&start=2026-11-19&duration=0", 1003), ("", 1003),
      ] as [(String, Int64)] {
        #expect(try await jpush.call(.get, "/v3/users?\(query)").jpushCode == code, "\(query)")
      }
    }
  }
}
