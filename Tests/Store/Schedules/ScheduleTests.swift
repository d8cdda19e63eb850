import Calendar
import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

/// `noon` is 2026-11-20 12:00 UTC, a Friday.
@Suite("Schedules: each occurrence once")
struct ScheduleTests {
  private static let day: TimeInterval = 86_400

  private func add(
    _ database: Database, _ app: App, at time: Int = 13, count: Int? = nil, timeToLive: Int? = nil, uid: String = "s1",
    now: Date = noon
  ) throws -> Schedule {
    var draft = PushDraft(
      app: app.bundleID, environment: .production, platforms: [.ios], audience: .all, notification: PushNotification())
    draft.notification.body = "Good morning"
    draft.options.timeToLive = timeToLive
    var rule = RepeatRule(.daily, minute: time * 60, zone: .utc)
    rule.count = count
    draft.recurrence = rule
    let new = NewSchedule(uid: uid, appID: app.id, draft: draft, source: .web, createdBy: "anna")
    return try Schedule.create(database, new, now: now)
  }

  private func carryOn(_ database: Database, _ schedule: Schedule, _ now: Date) throws -> Push? {
    try Schedule.carryOn(database, id: schedule.id, now: now) { schedule, draft, at in
      #expect(draft.sendAt == at && draft.recurrence == nil)
      return NewPush(
        uid: "p\(at.milliseconds)", seed: 1, appID: schedule.appID, environment: schedule.environment,
        draftJSON: draft.json.text(), source: .api, createdBy: schedule.createdBy)
    }
  }

  private func history(_ database: Database, _ schedule: Schedule) throws -> [String] {
    try Schedule.history(database, id: schedule.id, limit: 500).items.map {
      "\(($0.at.timeIntervalSince(noon) - 3600) / Self.day) \($0.push == nil ? "missed" : "sent")"
    }
  }

  @Test("kept with its next time; found when that has come, not before, by indexes")
  func due() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      #expect(schedule.state == .active && schedule.nextAt == noon + 3600 && schedule.createdBy == "anna")
      #expect(schedule.draft?.recurrence != nil && schedule.title == nil)
      #expect(try Schedule.find(database, uid: "s1") == schedule)
      #expect(try Schedule.due(database, now: noon + 3599) == [])
      #expect(try Schedule.due(database, now: noon + 3600) == [schedule.id])
      #expect(try Schedule.list(database, limit: 5).items == [schedule])
      #expect(try Schedule.list(database, state: .paused, limit: 5).items == [])
      #expect(try Schedule.active(database, app: app.id, environment: .production) == [schedule])
      #expect(try Schedule.active(database, environment: .development) == [])
      let steps = try plan(
        database,
        (
          """
          SELECT id FROM schedules INDEXED BY schedules_due WHERE state = 'active' AND next_at <= ?1
          UNION SELECT id FROM schedules INDEXED BY schedules_looked WHERE state = 'active' AND looked_at > ?1
          """, [.integer(1)]
        ))
      #expect(slowSteps(steps) == [], "\(steps)")
    }
  }

  @Test("an occurrence is one ordinary push with its schedule and its time; the next is a day later")
  func once() throws {
    try withApp { database, app in
      let schedule = try add(database, app, count: 2)
      #expect(try carryOn(database, schedule, noon) == nil)
      let push = try #require(try carryOn(database, schedule, noon + 3600))
      #expect(push.source == .schedule && push.scheduleID == schedule.id && push.sendAt == noon + 3600)
      #expect(push.state == .queued && push.createdBy == "anna")
      #expect(try carryOn(database, schedule, noon + 3600) == nil, "not twice")
      var now = try Schedule.get(database, id: schedule.id)
      #expect(now.nextAt == noon + 3600 + Self.day && now.sent == 1 && now.state == .active)
      #expect(try carryOn(database, schedule, noon + 3601 + Self.day) != nil)
      now = try Schedule.get(database, id: schedule.id)
      #expect(now.state == .ended && now.nextAt == nil && now.sent == 2 && now.endedAt == noon + 3601 + Self.day)
      #expect(try Schedule.due(database, now: noon + 9 * Self.day) == [])
      #expect(try history(database, schedule) == ["1.0 sent", "0.0 sent"])
      var filter = PushFilter()
      filter.schedule = schedule.id
      #expect(try Push.list(database, filter, limit: 5).items.count == 2)
    }
  }

  @Test("after a rest of the server only the latest is sent, and only within its grace; the others are noted")
  func missed() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      let push = try #require(try carryOn(database, schedule, noon + 3 * Self.day + 3600 + 3599))
      #expect(push.sendAt == noon + 3 * Self.day + 3600)
      #expect(try history(database, schedule) == ["3.0 sent", "2.0 missed", "1.0 missed", "0.0 missed"])
      #expect(try carryOn(database, schedule, noon + 5 * Self.day + 3600 + 3600) == nil, "an hour is too late")
      #expect(try history(database, schedule).prefix(2) == ["5.0 missed", "4.0 missed"])
      let now = try Schedule.get(database, id: schedule.id)
      #expect(now.sent == 1 && now.missed == 5 && now.nextAt == noon + 6 * Self.day + 3600)
    }
  }

  @Test("the time to live decides whether an occurrence is too late")
  func timeToLive() throws {
    try withApp { database, app in
      let long = try add(database, app, timeToLive: 7200)
      #expect(try carryOn(database, long, noon + 3600 + 7199) != nil)
      let short = try add(database, app, timeToLive: 60, uid: "s2")
      #expect(try carryOn(database, short, noon + 3600 + 60) == nil)
      #expect(try history(database, short) == ["0.0 missed"])
    }
  }

  @Test("a clock that is set back a little or a lot sends nothing twice, and one that ran ahead for years recovers")
  func clocks() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      #expect(try carryOn(database, schedule, noon + 3600) != nil)
      for back in [1.0, 59, 61, 600, 3000] {
        let now = noon + 3600 - back
        for id in try Schedule.due(database, now: now) { #expect(id == schedule.id && back > 60) }
        #expect(try carryOn(database, schedule, now) == nil)
        #expect(try carryOn(database, schedule, noon + 3600) == nil, "sent already, \(back) s ago")
      }
      // Ten years ahead, and back.
      let ahead = noon + 3650 * Self.day + 3700
      #expect(try Schedule.due(database, now: ahead) == [schedule.id])
      #expect(try carryOn(database, schedule, ahead) != nil)
      let wrong = try Schedule.get(database, id: schedule.id)
      #expect(wrong.missed == 3649 && wrong.sent == 2)
      #expect(try database.int("SELECT count(*) FROM schedule_occurrences") == 102, "not thousands of rows")
      let right = noon + 7200
      #expect(try Schedule.due(database, now: right) == [schedule.id])
      #expect(try carryOn(database, schedule, right) == nil)
      #expect(try Schedule.due(database, now: right) == [])
      let healed = try Schedule.get(database, id: schedule.id)
      #expect(healed.nextAt == noon + 3600 + Self.day)
      #expect(try carryOn(database, schedule, noon + 3600 + Self.day)?.sendAt == noon + 3600 + Self.day)
      #expect(try Set(database.fetchAll("SELECT send_at FROM pushes") { $0.int64(0) }).count == 3)
    }
  }

  @Test("a crash before the commit leaves all as it was: nothing is lost, nothing is there twice")
  func crash() throws {
    struct Crash: Error {}
    try withApp { database, app in
      let schedule = try add(database, app)
      #expect(throws: Crash.self) {
        try database.transaction {
          _ = try carryOn(database, schedule, noon + 3600)
          throw Crash()
        }
      }
      #expect(try Schedule.get(database, id: schedule.id) == schedule)
      #expect(try database.int("SELECT count(*) FROM pushes") == 0)
      #expect(try carryOn(database, schedule, noon + 3600) != nil)
    }
  }

  @Test("a pause leaves occurrences out, a resume continues, an end is final")
  func control() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      #expect(try Schedule.pause(database, id: schedule.id) && !Schedule.pause(database, id: schedule.id))
      #expect(try Schedule.due(database, now: noon + 9 * Self.day) == [])
      #expect(try carryOn(database, schedule, noon + 9 * Self.day) == nil)
      #expect(try Schedule.get(database, id: schedule.id).occurrences(from: noon, limit: 5) == [])
      #expect(try Schedule.resume(database, id: schedule.id, now: noon + 2 * Self.day))
      #expect(try !Schedule.resume(database, id: schedule.id, now: noon))
      let active = try Schedule.get(database, id: schedule.id)
      #expect(active.nextAt == noon + 2 * Self.day + 3600 && active.missed == 0)
      #expect(
        active.occurrences(from: noon, to: noon + 4 * Self.day, limit: 9) == [
          noon + 2 * Self.day + 3600, noon + 3 * Self.day + 3600,
        ])
      #expect(
        try Schedule.end(database, id: schedule.id, now: noon) && !Schedule.end(database, id: schedule.id, now: noon))
      #expect(try !Schedule.resume(database, id: schedule.id, now: noon))
      #expect(try Schedule.get(database, id: schedule.id).state == .ended)
    }
  }

  @Test("resumed when nothing is to come any more, it has ended")
  func resumedTooLate() throws {
    try withApp { database, app in
      let schedule = try add(database, app, count: 1)
      _ = try Schedule.pause(database, id: schedule.id)
      #expect(try Schedule.resume(database, id: schedule.id, now: noon + 2 * Self.day))
      #expect(try Schedule.get(database, id: schedule.id).state == .ended)
    }
  }

  @Test("a schedule whose draft this version cannot read is stopped with an error")
  func unreadable() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      try database.run("UPDATE schedules SET draft = '{}'")
      #expect(try carryOn(database, schedule, noon + 3600) == nil)
      let stopped = try Schedule.get(database, id: schedule.id)
      #expect(stopped.state == .paused && stopped.error != nil && stopped.nextAt == nil)
      #expect(try !Schedule.resume(database, id: schedule.id, now: noon))
    }
  }

  @Test("at start the next time follows newer rules for the zone's clocks, neither twice nor left out")
  func renewed() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      _ = try carryOn(database, schedule, noon + 3600)
      let tomorrow = noon + 3600 + Self.day
      for former in [tomorrow - 3600, tomorrow, tomorrow + 3600] {
        try database.run("UPDATE schedules SET next_at = ?", former)
        try Schedule.renew(database, now: noon + 7200)
        #expect(try Schedule.get(database, id: schedule.id).nextAt == tomorrow)
      }
    }
  }

  @Test("an app takes its schedules along")
  func appRemoved() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      _ = try carryOn(database, schedule, noon + 3600)
      #expect(try App.belongings(database, id: app.id).schedules == 1)
      #expect(try App.delete(database, id: app.id))
      for table in ["schedules", "schedule_occurrences", "pushes"] {
        #expect(try database.int("SELECT count(*) FROM \(table)") == 0, "\(table)")
      }
    }
  }

  @Test("a hold keeps a push back, over a restart too; one further off than the longest window comes of a wrong clock")
  func hold() throws {
    try withApp { database, app in
      var new = newPush(app)
      new.holdUntil = noon + 5
      let push = try Push.create(database, new, now: noon)
      #expect(push.holdUntil == noon + 5 && push.plannedAt == noon + 5)
      #expect(try Push.due(database, now: noon + 4) == [] && push.waits(now: noon + 4) == noon + 5)
      #expect(try Push.due(database, now: noon + 5) == [push.id] && push.waits(now: noon + 5) == nil)
      #expect(try Push.due(database, now: noon - 56) == [push.id] && push.waits(now: noon - 56) == nil)
      _ = try Push.move(database, id: push.id, from: [.queued], to: .paused, now: noon + 1)
      _ = try Push.move(database, id: push.id, from: [.paused], to: .queued, now: noon + 9000)
      #expect(try Push.get(database, id: push.id).plannedAt == noon + 9000, "it was not late, it rested")
    }
  }

  @Test("the undo window is a setting")
  func undoWindow() throws {
    try withDatabase { database in
      #expect(try UndoWindow.find(database, usual: 5) == 5)
      try UndoWindow.set(database, seconds: 0)
      #expect(try UndoWindow.find(database, usual: 5) == 0)
      try Setting.set(database, UndoWindow.key, "600")
      #expect(try UndoWindow.find(database, usual: 5) == 5)
    }
  }
}
