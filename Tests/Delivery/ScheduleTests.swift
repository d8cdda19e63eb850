import Calendar
import Delivery
import Foundation
import JSON
import Logging
import Model
import SQLite
import Store
import TestSupport
import Testing

/// `noon` is 12:00 UTC; the clock of a scene begins a minute later.
@Suite("What repeats, what is late, what is held back", .timeLimit(.minutes(2)))
struct ScheduleTests {
  /// Every day at 12:02.
  private func schedule(_ scene: EngineScene, count: Int? = nil) async throws -> Schedule {
    let (app, now) = (scene.app, scene.clock.now)
    return try await scene.store.write { database in
      var draft = PushDraft(
        app: app.bundleID, environment: .development, platforms: [.ios], audience: .all,
        notification: PushNotification())
      draft.notification.body = "Good day"
      draft.recurrence = RepeatRule(.daily, minute: 12 * 60 + 2, zone: .utc)
      draft.recurrence?.count = count
      return try Schedule.create(database, NewSchedule(draft, app: app, source: .api, by: "anna"), now: now)
    }
  }

  private func pushes(_ scene: EngineScene, of schedule: Schedule) async throws -> [Push] {
    var filter = PushFilter()
    filter.schedule = schedule.id
    let chosen = filter
    return try await scene.store.read { try Push.list($0, chosen, limit: 100).items }
  }

  /// Lets the clock go on until something is so.
  private func go(_ scene: EngineScene, by step: TimeInterval = 0.5, until condition: () async throws -> Bool)
    async throws
  {
    try await waitUntil {
      if try await condition() { return true }
      scene.clock.advance(by: step)
      return false
    }
  }

  @Test("each occurrence is a push to everybody, once a day, until its number is full")
  func days() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let schedule = try await schedule(scene, count: 3)
      try await scene.life { _ in
        for day in 1...3 {
          if day > 1 { scene.clock.advance(by: 86_400 - 60) }
          try await go(scene) { try await pushes(scene, of: schedule).count == day }
          try await go(scene, by: 0.01) { try await pushes(scene, of: schedule)[0].state == .finished }
        }
        for _ in 0..<100 { scene.clock.advance(by: 3600) }
      }
      let sent = try await pushes(scene, of: schedule)
      #expect(sent.count == 3 && sent.allSatisfy { $0.counts == OutcomeCounts(accepted: 3) && $0.source == .schedule })
      #expect(sent.map(\.sendAt) == [2, 1, 0].map { noon + 120 + $0 * 86_400 })
      #expect(sent.allSatisfy { $0.createdBy == "anna" && $0.body == "Good day" })
      #expect(try await scene.store.read { try Schedule.get($0, id: schedule.id).state } == .ended)
      #expect(scene.service.sent.count == 9)
    }
  }

  @Test("a schedule that cannot be read holds up no other")
  func damaged() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let (damaged, sound) = (try await schedule(scene), try await schedule(scene))
      _ = try await scene.store.write { database in
        try database.run("UPDATE schedules SET source = 'unheard of' WHERE id = ?", damaged.id)
      }
      try await scene.life { _ in
        try await go(scene) {
          let isSent = try await !pushes(scene, of: sound).isEmpty
          return isSent && scene.log.entries.contains { $0.message == "could not look for new pushes" }
        }
      }
      #expect(try await pushes(scene, of: damaged).isEmpty)
    }
  }

  @Test(
    "a run that finds no device does not fail; one that must not be sent any more does; both say why",
    arguments: [
      ("none", nil, PushState.finished, "reached nobody"), ("odd", PushType.background, .failed, "background"),
    ])
  func nothingToSend(tag: String, type: PushType?, state: PushState, error: String) async throws {
    try await EngineScene.run(devices: 2) { scene in
      let (app, now) = (scene.app, scene.clock.now)
      let schedule = try await scene.store.write { database in
        var rule = Audience.Rule()
        rule.tag = [tag]
        var draft = PushDraft(
          app: app.bundleID, environment: .development, platforms: [.ios], audience: .rule(rule),
          notification: PushNotification())
        draft.notification.body = "Good day"
        draft.options.pushType = type
        draft.recurrence = RepeatRule(.daily, minute: 12 * 60 + 2, zone: .utc)
        return try Schedule.create(database, NewSchedule(draft, app: app, source: .api, by: "anna"), now: now)
      }
      try await scene.life { _ in
        try await go(scene) { try await !pushes(scene, of: schedule).isEmpty }
        // Slowly: a run that the clock leaves behind is too late.
        try await go(scene, by: 0.01) { try await pushes(scene, of: schedule).first?.state.isOver == true }
      }
      let push = try #require(try await pushes(scene, of: schedule).first)
      #expect(push.state == state && push.error?.contains(error) == true, "\(push.error ?? "")")
      #expect(scene.service.sent.isEmpty)
      #expect(try await scene.store.read { try Schedule.get($0, id: schedule.id).state } == .active)
    }
  }

  @Test("a server that was down for days sends the latest only, and only within the hour; it notes the others")
  func down() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let schedule = try await schedule(scene)
      scene.clock.advance(by: 3 * 86_400 + 1800)
      try await scene.life { _ in
        try await go(scene) { try await pushes(scene, of: schedule).first?.state == .finished }
      }
      #expect(try await pushes(scene, of: schedule).count == 1)
      scene.clock.advance(by: 86_400 + 5000)
      try await scene.life { _ in
        try await go(scene) { try await scene.store.read { try Schedule.get($0, id: schedule.id).missed } == 4 }
      }
      let history = try await scene.store.read { try Schedule.history($0, id: schedule.id, limit: 9).items }
      #expect(history.map { $0.push != nil } == [false, true, false, false, false])
      #expect(scene.service.sent.count == 1)
    }
  }

  @Test("a crash between the commit and the sending: the push is found at the next start, and is one")
  func crash() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let schedule = try await schedule(scene)
      scene.clock.advance(by: 70)
      let now = scene.clock.now
      // A process that dies right after its commit.
      let made = try await scene.store.write { database in
        try Schedule.carryOn(database, id: schedule.id, now: now) { schedule, draft, _ in
          NewPush(
            uid: "crash", seed: 1, appID: schedule.appID, environment: schedule.environment,
            draftJSON: draft.json.text(), source: .api, createdBy: "x")
        }
      }
      let push = try #require(made)
      _ = try await scene.life { engine in try await scene.wait(engine, push) { $0.isFinal } }
      #expect(try await pushes(scene, of: schedule).map(\.uid) == ["crash"])
      #expect(scene.service.sent.count == 1)
    }
  }

  @Test(
    "taken up too late, every device ends as expired, once, and the push says why; in time, it is sent",
    arguments: [
      (nil, 3599.0, true), (nil, 3601.0, false), (0, 3599.0, true), (0, 3700.0, false), (60, 59.0, true),
      (60, 61.0, false), (86_400, 80_000.0, true), (86_400, 86_401.0, false),
    ] as [(Int?, Double, Bool)])
  func late(timeToLive: Int?, late: Double, isSent: Bool) async throws {
    try await EngineScene.run(devices: 1500) { scene in
      let options: JSONValue = timeToLive.map { ["time_to_live": .integer(Int64($0))] } ?? [:]
      let push = try await scene.push(options: options, sendAt: scene.clock.now + 10)
      scene.clock.advance(by: 10 + late)
      try await scene.finish(push)
      let ended = try await scene.record(push)
      #expect(ended.state == .finished && ended.counts.total == 1500)
      #expect(try await scene.reasons(push) == (isSent ? ["": 1500] : ["Expired": 1500]))
      #expect(scene.service.sent.isEmpty == !isSent)
      #expect(isSent ? ended.error == nil : ended.error?.contains("too late") == true)
    }
  }

  @Test("a process that dies while it marks the late ones goes on with that, and sends to nobody")
  func lateTwice() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let push = try await scene.push(sendAt: scene.clock.now + 10)
      scene.clock.advance(by: 9000)
      let now = scene.clock.now
      _ = try await scene.store.write { try Push.move($0, id: push.id, from: [.queued], to: .sending, now: now) }
      scene.clock.advance(by: 1)
      _ = try await scene.life { engine in try await scene.wait(engine, push) { $0.isFinal } }
      #expect(try await scene.reasons(push) == ["Expired": 3] && scene.service.sent.isEmpty)
    }
  }

  @Test("a push for later that somebody let rest is not late when it goes on")
  func rested() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let push = try await scene.push(sendAt: scene.clock.now + 10)
      try await scene.life { engine in
        #expect(try await engine.pause(push.id))
        scene.clock.advance(by: 90_000)
        #expect(try await engine.resume(push.id))
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 2))
    }
  }

  @Test("held back: nobody is sent to before its end, over a restart too; undone, it was never sent")
  func held() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let (first, second) = (try await scene.push(holdFor: 5), try await scene.push(holdFor: 5))
      try await scene.life { engine in
        for push in [first, second] { engine.enqueue(push.id) }
        scene.clock.advance(by: 2)
      }
      #expect(scene.service.sent.isEmpty)
      try await scene.life { engine in
        scene.clock.advance(by: 1)
        #expect(try await engine.cancel(first.id))
        #expect(scene.service.sent.isEmpty)
        try await go(scene) { try await scene.record(second).state == .finished }
      }
      #expect(Set(scene.service.sent.map(\.push)) == [second.id])
      #expect(scene.service.sent.allSatisfy { $0.at >= noon + 65 })
      let undone = try await scene.record(first)
      #expect(undone.state == .cancelled && undone.startedAt == nil && undone.counts.total == 0)
    }
  }

  @Test("spread over minutes: the rate follows from the target, below one a second too")
  func spread() async throws {
    try await EngineScene.run(devices: 7) { scene in
      let push = try await scene.push(options: ["spread_minutes": 1])
      let start = scene.clock.now
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await go(scene, by: 0.1) { try await scene.record(push).state == .finished }
      }
      let times = scene.service.sent.map { $0.at.timeIntervalSince(start) }.sorted()
      #expect(times.count == 7)
      // None before its time; behind it, on a busy machine, the clock of the test runs away.
      for (number, time) in times.enumerated() { #expect(time >= Double(number) * 60 / 7 - 0.2) }
    }
  }

  @Test("the time to live counts from the hand-over of each device: one that is spread for longer reaches all")
  func spreadForLonger() async throws {
    try await EngineScene.run(devices: 7) { scene in
      let push = try await scene.push(options: ["spread_minutes": 10, "time_to_live": 300])
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await go(scene, by: 0.5) { try await scene.record(push).state == .finished }
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 7))
      let firsts = scene.service.firsts
      #expect(Set(firsts).count == 7, "each has an end of its own: \(firsts)")
    }
  }
}
