import Calendar
import Foundation
import Model
import SQLite
import Testing

@testable import Store

@Suite("When a worker need not ask the database")
struct QuietTimeTests {
  /// Adds one thing that comes due or expires.
  private static func add(_ what: String, _ database: Database, _ app: App) throws {
    var new = newPush(app)
    switch what {
    case "nothing": return
    case "now": break
    case "scheduled": new.sendAt = noon + 600
    case "held": new.holdUntil = noon + 5
    case "scheduled and held": (new.sendAt, new.holdUntil) = (noon + 600, noon + 605)
    case "approval": new.approval = NewApproval(asker: ApprovalRule.Actor("anna", person: nil), reach: 1)
    default:
      var draft = PushDraft(
        app: app.bundleID, environment: .production, platforms: [.ios], audience: .all,
        notification: PushNotification())
      draft.notification.body = "Good morning"
      draft.recurrence = RepeatRule(.daily, minute: 13 * 60, zone: .utc)
      let schedule = try Schedule.create(
        database, NewSchedule(uid: "s1", appID: app.id, draft: draft, source: .web, createdBy: "anna"), now: noon)
      if what == "checked" { try database.run("UPDATE schedules SET looked_at = ?", noon) }
      #expect(schedule.nextAt == noon + 3600)
      return
    }
    _ = try Push.create(database, new, now: noon)
  }

  private static func isQuiet(_ database: Database, _ now: Date) throws -> Bool {
    try QuietTime.find(database).contains(now)
  }

  @Test(
    "until the next due time, and not after the clock was set back",
    arguments: [
      ("nothing", [-86_400, 0, 86_400 * 400], []),
      ("now", [], [-1, 0, 1]),
      ("scheduled", [-86_400, 0, 599.999], [600, 601]),
      ("held", [-55, 0, 4.999], [-55.001, -600, 5, 6]),
      ("scheduled and held", [600, 604.999], [605]),
      ("approval", [-600, 0, 86_399.999], [86_400, 86_401]),
      ("schedule", [-86_400, 0, 3599.999], [3600, 3601]),
      ("checked", [-60, 0, 3599.999], [-60.001, -600, 3600]),
    ] as [(String, [TimeInterval], [TimeInterval])])
  func times(_ what: String, quiet: [TimeInterval], loud: [TimeInterval]) throws {
    try withApp { database, app in
      try Self.add(what, database, app)
      for offset in quiet {
        let now = noon + offset
        #expect(try Self.isQuiet(database, now), "\(offset)")
        #expect(try Push.due(database, now: now) == [], "\(offset)")
        #expect(try Schedule.due(database, now: now) == [], "\(offset)")
        #expect(try Approval.overdue(database, now: now).isEmpty, "\(offset)")
      }
      for offset in loud { #expect(try !Self.isQuiet(database, noon + offset), "\(offset)") }
    }
  }

  @Test("webhooks: until the next try, if one is on and has events, and not after the clock was set back")
  func webhooks() throws {
    try withApp { database, app in
      _ = try Webhook.add(
        database, Webhook.Details(name: "Billing", target: "example.com"), address: "https://example.com/",
        sealer: TestSealer(), by: "anna", now: noon)
      try database.run("UPDATE webhooks SET next_try_at = ?", noon + 60)
      func quiet() throws -> [Bool] {
        let quiet = try WebhookDelivery.quietTime(database)
        return try [-86_340.001, -86_340, 0, 59.999, 60].map { offset in
          let isQuiet = quiet.contains(noon + offset)
          let isIdle = try WebhookDelivery.due(database, now: noon + offset).isEmpty
          #expect(isIdle == isQuiet, "\(offset)")
          return isQuiet
        }
      }
      #expect(try quiet() == [true, true, true, true, true])
      let push = try Push.create(database, newPush(app), now: noon)
      _ = try Push.move(database, id: push.id, from: [.queued], to: .cancelled, now: noon)
      #expect(try quiet() == [false, true, true, true, false])
      try database.run("UPDATE webhooks SET is_active = 0")
      #expect(try quiet() == [true, true, true, true, true])
    }
  }

  @Test("a push that was sent, paused or given up does not count, and every query uses its index")
  func ended() throws {
    try withApp { database, app in
      let push = try Push.create(database, newPush(app), now: noon)
      _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: noon)
      #expect(try Self.isQuiet(database, noon))
      _ = try Push.move(database, id: push.id, from: [.sending], to: .paused, now: noon)
      #expect(try Self.isQuiet(database, noon))
      _ = try Push.move(database, id: push.id, from: [.paused], to: .queued, now: noon)
      #expect(try !Self.isQuiet(database, noon))
    }
    try withDatabase { database in
      let asked = try statements(database) { _ = try QuietTime.find(database) }
      #expect(asked.count == 4)
      for sql in asked {
        let steps = try plan(database, of: sql)
        #expect(steps.allSatisfy { $0.contains("USING") && $0.contains("INDEX") }, "\(steps)")
      }
    }
  }
}
