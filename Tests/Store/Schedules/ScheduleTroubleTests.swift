import Calendar
import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

/// `noon` is 2026-11-20 12:00 UTC; the schedules send at 13:00 UTC.
@Suite("Schedules: plans and problems")
struct ScheduleTroubleTests {
  private static let day: TimeInterval = 86_400

  private func add(
    _ database: Database, _ app: App, uid: String = "s1", platforms: Set<Platform> = [.ios],
    _ change: (inout RepeatRule) -> Void = { _ in }
  ) throws -> Schedule {
    var draft = PushDraft(
      app: app.bundleID, environment: .production, platforms: platforms, audience: .all,
      notification: PushNotification())
    draft.notification.body = "Good morning"
    var rule = RepeatRule(.daily, minute: 13 * 60, zone: .utc)
    change(&rule)
    draft.recurrence = rule
    var new = NewSchedule(uid: uid, appID: app.id, draft: draft, source: .web, createdBy: "anna")
    new.body = "Good morning"
    return try Schedule.create(database, new, now: noon)
  }

  @discardableResult
  private func carryOn(_ database: Database, _ schedule: Schedule, _ now: Date) throws -> Push? {
    try Schedule.carryOn(database, id: schedule.id, now: now) { schedule, draft, at in
      NewPush(
        uid: "p\(schedule.id)-\(at.milliseconds)", seed: 1, appID: schedule.appID,
        environment: schedule.environment, draftJSON: draft.json.text(), source: .api,
        createdBy: schedule.createdBy)
    }
  }

  private func kinds(_ database: Database, _ now: Date) throws -> [ScheduleTrouble.Kind] {
    try ScheduleTrouble.all(database, now: now).map(\.kind)
  }

  @Test("those that are active are planned, with their platforms, their next time, and how many times there are")
  func planned() throws {
    try withApp { database, app in
      _ = try add(database, app, platforms: [.android, .ios]) { $0.count = 10 }
      let paused = try add(database, app, uid: "s2")
      _ = try Schedule.pause(database, id: paused.id)
      let broken = try add(database, app, uid: "s3")
      try database.run("UPDATE schedules SET draft = 'x' WHERE id = ?", broken.id)
      let all = try PlannedSchedule.all(database)
      let one = try #require(all.first)
      #expect(all.count == 1 && one.uid == "s1" && one.title == "Good morning" && one.bundleID == app.bundleID)
      #expect(one.platforms == [.ios, .android] && one.nextAt == noon + 3600 && one.environment == .production)
      #expect(one.first(from: noon + 4 * Self.day) == noon + 4 * Self.day + 3600)
      #expect(one.first(from: noon + 10 * Self.day) == nil)
      #expect(one.count(from: .distantPast, to: .distantFuture) == 10)
      #expect(one.count(from: noon + 8 * Self.day, to: noon + 30 * Self.day) == 2)
      #expect(try PlannedSchedule.all(database, app: app.id + 1) == [])
    }
  }

  @Test(
    "what was missed is told for a week; for a day, once a later time went well; not after somebody ended it",
    arguments: [
      (0.0, false, nil, true), (6.9, false, nil, true), (7, false, nil, false), (0.9, true, nil, true),
      (1, true, nil, false), (1, false, 0.5, false), (1, false, 0, true), (0.5, true, 0.2, false),
    ] as [(Double, Bool, Double?, Bool)])
  func rule(age: Double, wentWell: Bool, ended: Double?, expected: Bool) {
    let noted = noon - age * Self.day
    #expect(
      ScheduleTrouble.isOpen(
        noted: noted, wentWell: wentWell, ended: ended.map { noted + $0 * Self.day }, now: noon) == expected)
  }

  @Test("missed times are told with their number and the last of them, and go away when a later one went well")
  func missed() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      #expect(try kinds(database, noon + 3600) == [])
      let late = noon + 2 * Self.day + 2 * 3600
      #expect(try carryOn(database, schedule, late) == nil, "an hour is too late")
      let kind = ScheduleTrouble.Kind.missed(count: 3, last: noon + 2 * Self.day + 3600)
      #expect(try kinds(database, late) == [kind])
      #expect(try ScheduleTrouble.all(database, now: late).first?.schedule.uid == "s1")
      let push = try #require(try carryOn(database, schedule, noon + 3 * Self.day + 3600))
      let after = late + Self.day + 1
      #expect(try kinds(database, after) == [])
      #expect(try kinds(database, late + 82_800) == [kind], "in the morning after the outage it is still there")
      // A push that could not be sent at all mends nothing.
      try database.run("UPDATE pushes SET state = 'failed' WHERE id = ?", push.id)
      #expect(try kinds(database, after) == [kind])
      try database.run("UPDATE pushes SET state = 'finished' WHERE id = ?", push.id)
      #expect(try kinds(database, after) == [])
    }
  }

  @Test("a missed last occurrence is reported too, but not to the person who ended the schedule")
  func ended() throws {
    try withApp { database, app in
      let short = try add(database, app) { $0.count = 1 }
      try carryOn(database, short, noon + 2 * 3600)
      #expect(try Schedule.get(database, id: short.id).state == .ended)
      #expect(try kinds(database, noon + 3 * 3600) == [.missed(count: 1, last: noon + 3600)])
      let long = try add(database, app, uid: "s2")
      try carryOn(database, long, noon + 2 * 3600)
      #expect(try kinds(database, noon + 3 * 3600).count == 2)
      _ = try Schedule.end(database, id: long.id, now: noon + 3 * 3600)
      #expect(try ScheduleTrouble.all(database, now: noon + 3 * 3600).map(\.schedule.uid) == ["s1"])
    }
  }

  @Test("a due schedule without effect is overdue; an unreadable one is stopped")
  func overdueAndStopped() throws {
    try withApp { database, app in
      let schedule = try add(database, app)
      #expect(try kinds(database, noon + 3600 + 299) == [])
      #expect(try kinds(database, noon + 3600 + 300) == [.overdue(since: noon + 3600)])
      try database.run("UPDATE schedules SET draft = 'x' WHERE id = ?", schedule.id)
      try carryOn(database, schedule, noon + 3600 + 300)
      let found = try ScheduleTrouble.all(database, now: noon + 9000)
      guard case .stopped(let why)? = found.first?.kind, found.count == 1 else {
        Issue.record("\(found)")
        return
      }
      #expect(why.contains("another version wrote it"))
      _ = try Schedule.end(database, id: schedule.id, now: noon + 9001)
      #expect(try kinds(database, noon + 9002) == [])
    }
  }

  @Test("uses indexes for any number of schedules and past occurrences")
  func plans() throws {
    try withApp { database, app in
      // One that missed its times, so that its schedule and its last push are looked up too.
      let late = noon + 2 * Self.day + 2 * 3600
      try carryOn(database, try add(database, app), late)
      let run = try statements(database) {
        let found = try ScheduleTrouble.all(database, now: late)
        #expect(found.count == 1)
      }
      let steps = try run.flatMap { try plan(database, of: $0) }
      // The index of those that stopped holds no others.
      #expect(steps.filter { $0.hasPrefix("SCAN") && !$0.contains("schedules_stopped") } == [])
      for index in ["schedule_occurrences_missed (noted_at>", "schedules_stopped", "schedules_due"] {
        #expect(steps.contains { $0.contains(index) }, "\(index): \(steps)")
      }
    }
  }
}
