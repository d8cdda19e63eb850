import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("Webhooks: events are written with what they tell of")
struct WebhookStoreTests {
  private static let gone = Outcome.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: nil)
  private static let bad = Outcome.rejected(status: 400, reason: "PayloadEmpty", tokenInvalidSince: nil)

  @discardableResult
  private func hook(
    _ database: Database, _ events: Set<Webhook.Event> = Set(Webhook.Event.allCases), app: Int64? = nil,
    isActive: Bool = true
  ) throws -> Int64 {
    try Webhook.add(
      database,
      Webhook.Details(name: "Billing", target: "example.com", appID: app, events: events, isActive: isActive),
      address: "https://example.com/events?key=letmein", sealer: TestSealer(), by: "anna", now: noon
    ).webhook.id
  }

  private func events(_ database: Database, _ webhook: Int64) throws -> [(event: WebhookDelivery, data: JSONValue)] {
    try WebhookDelivery.list(database, webhook: webhook, limit: 10_000).items.reversed().map {
      (event: $0, data: try JSONValue(parsing: Array($0.data.utf8)))
    }
  }

  @Test("an incident is told of when it opens, once for each opening, and when it closes")
  func incidents() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.incidentOpened, .incidentClosed])
      let device = try register(database, app, [registration(0)])[0]
      func record(_ uid: String, _ outcome: Outcome, at: Double) throws {
        let push = try Push.create(database, newPush(app, uid: uid), now: noon)
        _ = try Delivery.record(
          database, push: push.id,
          [DeliveryResult(deviceID: device, platform: .ios, outcome: outcome, at: noon + at)], now: noon + at)
      }
      let refused = Outcome.rejected(status: 403, reason: "InvalidProviderToken", tokenInvalidSince: nil)
      try record("a", refused, at: 10)
      try record("b", refused, at: 20)
      try record("c", .accepted, at: 30)
      try record("d", refused, at: 40)
      let told = try events(database, webhook)
      #expect(told.map(\.event.type) == ["incident.opened", "incident.closed", "incident.opened"])
      #expect(told.allSatisfy { $0.event.path == "/incidents/1" && $0.data["reason"] == "InvalidProviderToken" })
      #expect(told[1].data["closed_by"] == "signalbox" && told[1].data["state"] == "closed")
      #expect(told[2].data["closed_at"] == .null && told[2].data["app"] == .string(app.bundleID))
      try IncidentChange(event: .close, remark: "known").carryOut(
        database, id: 1, by: NewAuditEntry(actor: "grace", action: "", subject: ""), now: noon + 50)
      #expect(try events(database, webhook).last?.data["closed_by"] == "grace")
    }
  }

  @Test("who waits for an approval is told how it ended: approved, rejected, withdrawn, expired, each once")
  func approvals() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.pushNeedsApproval, .pushApprovalClosed])
      let root = ApprovalRule.Actor("cli root", person: nil, isCommandLine: true)
      let ids = try (0..<4).map { number in
        var new = newPush(app, uid: "p\(number)")
        (new.title, new.sendAt) = ("Sale", noon + 7200)
        new.approval = NewApproval(asker: ApprovalRule.Actor("anna", person: 7), reach: 12)
        return try Push.create(database, new, now: noon).id
      }
      try Approval.decide(database, .push(ids[0]), isApproved: true, by: root, now: noon + 1)
      try Approval.decide(database, .push(ids[1]), isApproved: false, by: root, remark: "Wrong price", now: noon + 2)
      #expect(try Push.cancel(database, id: ids[2], by: "anna", now: noon + 3))
      for approval in try Approval.overdue(database, now: noon + 86_400) {
        #expect(try approval.expire(database, now: noon + 86_400))
      }
      let told = try events(database, webhook)
      #expect(told.prefix(4).allSatisfy { $0.event.type == "push.needs_approval" })
      #expect(told[0].data["decision"]?.string == nil)
      #expect(told[0].data["title"] == "Sale" && told[0].data["send_at"] == JSONValue(written: noon + 7200))
      let closed = told.dropFirst(4)
      #expect(closed.allSatisfy { $0.event.type == "push.approval_closed" })
      #expect(closed.map { $0.data["decision"]?.string } == ["approved", "rejected", "withdrawn", "expired"])
      #expect(closed.map { $0.data["decided_by"]?.string } == ["cli root", "cli root", "anna", nil])
      #expect(closed.map { $0.data["id"]?.string } == ["p0", "p1", "p2", "p3"])
      #expect(told[5].data["remark"] == "Wrong price" && told[5].event.path == "/pushes/p1")
    }
  }

  /// A push to devices that has ended.
  private func push(_ database: Database, _ app: App, _ ids: [Int64], dead: Int = 0, uid: String = "p1") throws -> Push
  {
    let push = try Push.create(database, newPush(app, uid: uid), now: noon)
    _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: noon)
    try Push.setTarget(database, id: push.id, [Reach(.ios, .apns): ids.count], lastDeviceID: ids.last ?? 0)
    let results = ids.enumerated().map { number, id in
      DeliveryResult(
        deviceID: id, platform: .ios, outcome: number < dead ? Self.gone : number == dead ? Self.bad : .accepted,
        at: noon + 10)
    }
    for start in stride(from: 0, to: results.count, by: 1000) {
      _ = try Delivery.record(
        database, push: push.id, Array(results[start..<min(start + 1000, results.count)]), now: noon + 10)
    }
    _ = try Push.move(database, id: push.id, from: [.sending], to: .finished, now: noon + 20)
    try Push.settle(database, id: push.id, now: noon + 20)
    return push
  }

  @Test("a push that is over is told of once, with its counts and reasons")
  func finished() throws {
    try withApp { database, app in
      let (all, other) = (try hook(database), try App.add(database, bundleID: "com.example.b", name: "B", now: noon))
      let silent = [
        try hook(database, [.deviceDead]), try hook(database, [.pushFinished], app: other.id),
        try hook(database, isActive: false),
      ]
      let ids = try register(database, app, (0..<5).map { registration($0) })
      let push = try push(database, app, ids, dead: 2)
      // As after a restart that does not know that the push is settled.
      try Push.settle(database, id: push.id, now: noon + 30)
      let told = try events(database, all).filter { $0.event.type == "push.finished" }
      #expect(told.count == 1)
      let (event, data) = try #require(told.first)
      #expect(event.uid == "evt_p1_\(all)" && event.path == "/pushes/p1" && event.state == .pending)
      #expect(data["id"] == "p1" && data["app"] == "com.example.shop" && data["environment"] == "production")
      #expect(data["state"] == "finished" && data["finished_at"] == "2026-11-20T12:00:20Z")
      #expect(
        data["counts"]
          == ["target": 5, "accepted": 2, "failed": 1, "dead_token": 2, "skipped": 0, "unknown": 0])
      let reasons = try #require(data["reasons"]?.array)
      #expect(reasons.count == 2)
      #expect(
        reasons.contains(["provider": "apns", "outcome": "dead_token", "reason": "Unregistered", "count": 2]))
      #expect(data["receipts"] == ["devices": 0, "displayed": 0, "opened": 0, "dismissed": 0])
      for webhook in silent {
        #expect(try events(database, webhook).filter { $0.event.type == "push.finished" }.isEmpty, "\(webhook)")
      }
    }
  }

  @Test("a push that is canceled or refused before its start is told of at once, one under way when it settles")
  func ends() throws {
    try withApp { database, app in
      let webhook = try hook(database)
      for (uid, state) in [("a", PushState.cancelled), ("b", .failed)] {
        let push = try Push.create(database, newPush(app, uid: uid), now: noon)
        _ = try Push.move(database, id: push.id, from: [.queued], to: state, error: "no", now: noon)
      }
      let push = try Push.create(database, newPush(app, uid: "c"), now: noon)
      _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: noon)
      _ = try Push.move(database, id: push.id, from: [.queued, .sending, .paused], to: .cancelled, now: noon)
      #expect(try events(database, webhook).map { $0.data["id"]?.string } == ["a", "b"])
      try Push.settle(database, id: push.id, now: noon)
      #expect(try events(database, webhook).map { $0.data["state"]?.string } == ["cancelled", "failed", "cancelled"])
    }
  }

  @Test("dead tokens are told of, some hundreds at a time, and each once")
  func dead() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.deviceDead])
      let ids = try register(database, app, (0..<1300).map { registration($0, alias: "user\($0)") })
      _ = try push(database, app, ids, dead: 1200)
      let told = try events(database, webhook)
      #expect(told.map { $0.data["devices"]?.array?.count } == [500, 500, 200])
      let devices = told.flatMap { $0.data["devices"]?.array ?? [] }
      #expect(Set(devices.compactMap { $0["device"]?.integer }) == Set(ids[..<1200]))
      let first = try #require(devices.first { $0["device"] == .integer(ids[0]) })
      #expect(first["token"] == .string(token(0).text) && first["alias"] == "user0" && first["push"] == "p1")
      #expect(first["reason"] == "Unregistered" && first["since"] == "2026-11-20T12:00:10Z")
      // They are dead already: no second word.
      _ = try push(database, app, Array(ids[..<1200]), dead: 1200, uid: "p2")
      #expect(try events(database, webhook).count == 3)
    }
  }

  @Test("moves to another environment, alias or token are told of; new devices and sign-outs are not")
  func moved() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.deviceMoved])
      try register(database, app, [registration(1, alias: "anna"), registration(2), registration(3, alias: "carl")])
      #expect(try events(database, webhook).isEmpty)
      try register(database, app, [registration(1, .development)])
      try register(database, app, [registration(1, .development, alias: "bob")])
      var input = AppRegistration(app: app.id, registration(9))
      input.previousToken = token(3)
      _ = try AppRegistration.register(database, [input], now: noon)
      var out = registration(1, .development)
      out.alias = .set(nil)
      try register(database, app, [out])
      let moves = try events(database, webhook).flatMap { $0.data["devices"]?.array ?? [] }
      #expect(moves.map { $0["change"]?.string } == ["environment", "alias", "token"])
      #expect(moves[0]["from"] == "production" && moves[0]["to"] == "development" && moves[0]["alias"] == "anna")
      #expect(moves[1]["from"] == "anna" && moves[1]["to"] == "bob")
      #expect(moves[2]["from"] == .string(token(3).text) && moves[2]["token"] == .string(token(9).text))
      #expect(moves[2]["alias"] == "carl")
    }
  }

  @Test("an event is rolled back with what it tells of")
  func rollback() throws {
    struct Stop: Error {}
    try withApp { database, app in
      let webhook = try hook(database)
      let ids = try register(database, app, (0..<3).map { registration($0) })
      #expect(throws: Stop.self) {
        try database.transaction {
          _ = try push(database, app, ids, dead: 1)
          #expect(try events(database, webhook).count == 3)
          throw Stop()
        }
      }
      #expect(try events(database, webhook).isEmpty)
    }
  }

  @Test("events go out in order; after a failure those behind wait, and what waited for a week is dropped and counted")
  func order() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.pushFinished])
      for number in 0..<3 { _ = try push(database, app, [], uid: "p\(number)") }
      func next(_ seconds: Double) throws -> WebhookDelivery? {
        try WebhookDelivery.next(database, webhook: webhook, now: noon + seconds)
      }
      let first = try #require(try next(30))
      #expect(first.uid == "evt_p0_\(webhook)")
      let no = WebhookDelivery.Answer(status: 500, milliseconds: 3, words: "500 no")
      #expect(try first.record(database, no, pause: 60, now: noon + 30) == .pending)
      #expect(try next(89) == nil)
      #expect(try WebhookDelivery.due(database, now: noon + 89) == [])
      #expect(try WebhookDelivery.due(database, now: noon + 90) == [webhook])
      #expect(try next(90)?.uid == first.uid)
      // A day after its first attempt it is given up, and the next one has its turn.
      #expect(try first.record(database, no, pause: 60, now: noon + 30 + WebhookDelivery.patience) == .failed)
      #expect(try next(86_400 + 90)?.uid == "evt_p1_\(webhook)")
      #expect(try Webhook.get(database, id: webhook).failures == 2)
      let week = noon + 20 + WebhookDelivery.longestWait
      #expect(try WebhookDelivery.sweep(database, now: week) == [:])
      #expect(try WebhookDelivery.sweep(database, now: week + 1) == [webhook: 2])
      let swept = try Webhook.get(database, id: webhook)
      #expect(swept.dropped == 2 && swept.pending == 0)
      #expect(try events(database, webhook).map(\.event.state) == [.failed, .dropped, .dropped])
      // Sent again, an event waits anew.
      _ = try WebhookDelivery.sendAgain(database, webhook: webhook, uid: "evt_p2_\(webhook)", now: week + 10)
      #expect(try next(WebhookDelivery.longestWait + 40)?.uid == "evt_p2_\(webhook)")
      _ = try WebhookDelivery.sweep(database, now: noon + WebhookDelivery.memory + 30)
      #expect(try events(database, webhook).map(\.event.uid) == ["evt_p2_\(webhook)"])
    }
  }

  @Test("a next attempt that was set while the clock was wrong holds nothing up")
  func wrongClock() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.pushFinished])
      _ = try push(database, app, [])
      let event = try #require(try WebhookDelivery.next(database, webhook: webhook, now: noon + 30))
      let no = WebhookDelivery.Answer(status: 503, milliseconds: 3, words: "503 no", retryAfter: 86_400)
      // Years ahead, as before the time was read from the network.
      let wrong = noon + 9e7
      #expect(try event.record(database, no, pause: WebhookDelivery.longestPause, now: wrong) == .pending)
      #expect(try WebhookDelivery.due(database, now: wrong + 9) == [], "asked to wait")
      #expect(try WebhookDelivery.next(database, webhook: webhook, now: wrong + 9) == nil)
      #expect(try WebhookDelivery.due(database, now: noon + 60) == [webhook])
      #expect(try WebhookDelivery.next(database, webhook: webhook, now: noon + 60)?.uid == event.uid)
    }
  }

  @Test("a receiver that is down does not fill the disk")
  func limit() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.pushFinished])
      for number in 0...Webhook.pendingLimit { _ = try push(database, app, [], uid: "p\(number)") }
      let found = try Webhook.get(database, id: webhook)
      #expect(found.pending == Webhook.pendingLimit && found.dropped == 1)
    }
  }

  @Test("410 switches a webhook off; switched on again, it sends what waits")
  func gone() throws {
    try withApp { database, app in
      let webhook = try hook(database, [.pushFinished])
      for uid in ["a", "b"] { _ = try push(database, app, [], uid: uid) }
      let event = try #require(try WebhookDelivery.next(database, webhook: webhook, now: noon))
      let answer = WebhookDelivery.Answer(status: 410, milliseconds: 3, words: "410 gone")
      #expect(try event.record(database, answer, pause: 60, now: noon + 30) == .failed)
      let off = try Webhook.get(database, id: webhook)
      #expect(!off.details.isActive && off.goneAt == noon + 30 && off.pending == 1)
      _ = try push(database, app, [], uid: "c")
      #expect(try WebhookDelivery.due(database, now: noon + 9999) == [])
      var details = off.details
      details.isActive = true
      let on = try Webhook.update(
        database, id: webhook, details, address: nil, sealer: TestSealer(), now: noon + 50)
      #expect(on.goneAt == nil && on.pending == 1)
      #expect(try WebhookDelivery.next(database, webhook: webhook, now: noon + 50)?.uid == "evt_b_\(webhook)")
    }
  }

  @Test("a new secret and the old one sign for a day; URL and secrets are sealed, and go with the app")
  func secrets() throws {
    try withApp { database, app in
      let sealer = TestSealer()
      let added = try Webhook.add(
        database, Webhook.Details(name: "x", target: "example.com", appID: app.id),
        address: "https://example.com/letmein", sealer: sealer, by: "anna", now: noon)
      let id = added.webhook.id
      #expect(added.secret.hasPrefix("whsec_") && Data(base64Encoded: String(added.secret.dropFirst(6)))?.count == 32)
      let new = try Webhook.rotate(database, id: id, sealer: sealer, now: noon + 10)
      let stored = try Webhook.secrets(database, id: id, sealer: sealer)
      let webhook = try Webhook.get(database, id: id)
      #expect(stored.address == "https://example.com/letmein" && new != added.secret)
      #expect(webhook.signing(stored, now: noon + 20) == [new, added.secret])
      #expect(webhook.signing(stored, now: noon + 10 + Webhook.rotationTime) == [new])
      _ = try Webhook.rotate(database, id: id, sealer: sealer, now: noon + 20)
      #expect(try Webhook.secrets(database, id: id, sealer: sealer).secret.contains(added.secret) == false)
      #expect(try Sealing.closed(database, in: "webhooks", sealer).isEmpty)
      _ = try push(database, app, [])
      try App.delete(database, id: app.id)
      #expect(try database.int("SELECT (SELECT count(*) FROM webhooks) + (SELECT count(*) FROM webhook_events)") == 0)
    }
  }
}
