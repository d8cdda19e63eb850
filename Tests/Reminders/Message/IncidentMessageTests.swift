import Foundation
import Mail
import Model
import Reminders
import SQLite
import Store
import TestSupport
import Testing

@Suite("Messages about incidents")
struct IncidentMessageTests {
  private static let noon = ReminderScene.noon

  /// A receiver who wants messages about incidents, and an app.
  private static func prepare(_ scene: ReminderScene) async throws {
    let wants = try await scene.receiver("ops@example.com")
    let sealer = scene.key
    try await scene.store.write { database in
      var details = wants.details
      details.getsIncidents = true
      try Receiver.update(database, id: wants.id, details, nil, sealer: sealer, now: Self.noon)
      _ = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: Self.noon)
    }
  }

  /// A push that a device missed, or did not.
  private static func record(_ database: Database, _ uid: String, _ outcome: Outcome, at: Double) throws {
    let app = try #require(try App.all(database).first)
    let push = try Push.create(
      database,
      NewPush(
        uid: uid, seed: 1, appID: app.id, environment: .production, draftJSON: "{}", source: .api, createdBy: "test"),
      now: noon)
    let time = noon.addingTimeInterval(at)
    _ = try Delivery.record(
      database, push: push.id, [DeliveryResult(deviceID: 1, platform: .ios, outcome: outcome, at: time)], now: time)
  }

  private static let refused = Outcome.rejected(status: 403, reason: "InvalidProviderToken", tokenInvalidSince: nil)

  @Test("who wants it gets one message each time an incident opens, with its page; a healed one is not told of")
  func opening() async throws {
    try await ReminderScene.with { scene in
      try await Self.prepare(scene)
      try await scene.receiver("certificates@example.com")
      try await scene.store.write { database in
        try Self.record(database, "a", Self.refused, at: 10)
        try Self.record(database, "b", Self.refused, at: 20)
      }
      func messages() async throws -> [ReminderMessage] {
        try await scene.store.read { try ReminderMessage.pending($0) }
      }
      let queued = try await messages()
      #expect(queued.map(\.target) == ["ops@example.com"] && queued.first?.incidentID == 1)
      try await scene.store.write { try Self.record($0, "c", .accepted, at: 30) }
      try await scene.store.write { try Self.record($0, "d", Self.refused, at: 40) }
      #expect(try await messages().count == 2, "once more for the second opening")
      try await scene.store.write { try Self.record($0, "e", .accepted, at: 50) }
      let look = try await scene.worker(.serve).look(clock: { Self.noon.addingTimeInterval(60) })
      #expect(look.sent == 0 && look.failures == [], "it is over")
      #expect(try await messages().isEmpty)
    }
  }

  @Test("who was told of the opening is told of the end, once: healed, closed by a person, or closed on the way")
  func end() async throws {
    try await ReminderScene.with { scene in
      try await Self.prepare(scene)
      /// Sends what is pending, as a mail server would take it; returns whether each was about an end.
      func take(_ meanwhile: @escaping @Sendable (Database) throws -> Void = { _ in }) async throws -> [Bool] {
        let later = Self.noon.addingTimeInterval(100)
        return try await scene.store.write { database in
          try ReminderMessage.pending(database).compactMap { message in
            guard let leased = try ReminderMessage.lease(database, id: message.id, now: later) else { return nil }
            try meanwhile(database)
            try leased.record(database, .sent, answer: "250", now: later)
            return leased.isEnd
          }
        }
      }
      try await scene.store.write { try Self.record($0, "a", Self.refused, at: 10) }
      #expect(try await take() == [false])
      try await scene.store.write { try Self.record($0, "b", .accepted, at: 20) }
      #expect(try await take() == [true], "healed")
      try await scene.store.write { try Self.record($0, "c", .accepted, at: 30) }
      #expect(try await take() == [], "once")
      try await scene.store.write { try Self.record($0, "d", Self.refused, at: 40) }
      #expect(try await take() == [false], "it opened again")
      try await scene.store.write {
        _ = try Incident.act($0, id: 1, .close, by: "ada@example.com", remark: "New key", now: Self.noon)
      }
      #expect(try await take() == [true], "closed by a person")
      try await scene.store.write { try Self.record($0, "e", Self.refused, at: 50) }
      let meanwhile = try await take { try Self.record($0, "f", .accepted, at: 60) }
      #expect(meanwhile == [false])
      #expect(try await take() == [true], "closed while the first message was on its way")
    }
  }

  @Test("the message of an end says who closed it and why, and that it is over", arguments: ["en", "zh-Hans"])
  func endContent(language: String) async throws {
    try await ReminderScene.with { scene in
      let (closed, healed) = try await scene.store.write { database in
        _ = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: Self.noon)
        try Self.record(database, "a", Self.refused, at: 10)
        let closed = try Incident.act(
          database, id: 1, .close, by: "ada@example.com", remark: "New key", now: Self.noon
        ).incident
        try Self.record(database, "b", Self.refused, at: 20)
        try Self.record(database, "c", .accepted, at: 30)
        return (closed, try Incident.get(database, id: 1))
      }
      let from = try #require(MailAddress("a@example.com"))
      func content(_ incident: Incident) -> ReminderContent {
        ReminderContent(
          [], notice: .init(incident, app: "Shop"), texts: scene.courier.texts[language], zone: .gmt,
          address: "https://push.example.com/", identifier: "m", now: Self.noon)
      }
      let mail = try scene.courier.message(content(closed), from: from, to: from)
      #expect(mail.subject.contains(language == "en" ? "incident closed" : "问题已关闭"))
      #expect(mail.text.contains("ada@example.com") && mail.text.contains("New key"))
      let other = try scene.courier.message(content(healed), from: from, to: from)
      #expect(other.text.contains(language == "en" ? "The cause is gone" : "原因已消除"))
      #expect(!other.text.contains("signalbox closed"))
    }
  }

  @Test("the message names app, reason, devices and the page of the incident", arguments: ["en", "zh-Hans"])
  func content(language: String) async throws {
    try await ReminderScene.with { scene in
      let incident = try await scene.store.write { database in
        _ = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: Self.noon)
        try Self.record(database, "a", Self.refused, at: 10)
        return try Incident.get(database, id: 1)
      }
      let content = ReminderContent(
        [], notice: .init(incident, app: "Shop"), texts: scene.courier.texts[language], zone: .gmt,
        address: "https://push.example.com/", identifier: "m", now: Self.noon)
      let from = try #require(MailAddress("a@example.com"))
      let mail = try scene.courier.message(content, from: from, to: from)
      #expect(mail.subject.contains("Shop") && mail.subject.contains("InvalidProviderToken"))
      #expect(mail.text.contains("https://push.example.com/incidents/1"))
      #expect(try #require(mail.html).contains("href=\"https://push.example.com/incidents/1\""))
      #expect(mail.text.contains("APNs") && mail.text.contains("2026-11-20") || mail.text.contains("2026"))
    }
  }
}
