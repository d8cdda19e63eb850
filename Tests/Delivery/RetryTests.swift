import Delivery
import Foundation
import JSON
import Providers
import Model
import SQLite
import Store
import Testing

@Suite("Sending again", .timeLimit(.minutes(2)))
struct RetryTests {
  @Test("a busy service: the device waits in the store, and is sent to again after 15 minutes, not before")
  func later() async throws {
    try await EngineScene.run(devices: 3) { scene in
      scene.service.answer { member, attempt in member.id == 2 && attempt == 1 ? busy : .outcome(.accepted) }
      let push = try await scene.push()
      let start = scene.clock.now
      try await scene.life { engine in
        engine.enqueue(push.id)
        let waiting = try await scene.wait(engine, push) { $0.waiting == 1 && $0.counts.total == 2 }
        #expect(waiting.state == .sending && !waiting.isFinal)
        let due = try #require(waiting.nextDue)
        #expect(due >= start + 900 && due <= start + 1125)
        scene.clock.advance(by: 899)
        await Task.yield()
        #expect(scene.service.devices.count == 3)
        scene.clock.advance(by: 300)
        try await scene.wait(engine, push) { $0.isFinal }
      }
      let ended = try await scene.record(push)
      #expect(ended.state == .finished && ended.waiting == 0 && ended.counts == OutcomeCounts(accepted: 3))
      #expect(try await scene.delivery(push, 2)?.attempts == 2)
      #expect(try await scene.delivery(push, 1)?.attempts == 1)
      // The same seed gives the same apns-id.
      #expect(scene.service.sent.filter { $0.device == 2 }.map(\.seed) == [42, 42])
    }
  }

  @Test("a restart keeps the wait, and nothing else is sent twice")
  func restart() async throws {
    try await EngineScene.run(devices: 10) { scene in
      scene.service.answer { member, attempt in member.id <= 4 && attempt == 1 ? busy : .outcome(.accepted) }
      let push = try await scene.push()
      let due = try await scene.life { engine in
        engine.enqueue(push.id)
        return try #require(try await scene.wait(engine, push) { $0.waiting == 4 && $0.counts.total == 6 }.nextDue)
      }
      let between = try await scene.record(push)
      #expect(between.state == .sending && between.waiting == 4 && between.counts.accepted == 6)
      scene.clock.advance(by: 600)
      try await scene.life { engine in
        let again = try await scene.wait(engine, push) { $0.waiting == 4 && $0.nextDue != nil }
        #expect(abs(again.nextDue?.timeIntervalSince(due) ?? 9) < 0.01)
        #expect(scene.service.devices.count == 10)
        scene.clock.advance(by: 600)
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 10))
      #expect(scene.service.devices.count == 14)
    }
  }

  @Test("the time to live ends the tries with both reasons, also of those that wait")
  func expiry() async throws {
    try await EngineScene.run(devices: 2) { scene in
      scene.service.answer { member, _ in
        member.id == 1 ? busy : .retry(RetryCause(status: 429, reason: "TooManyRequests"))
      }
      let push = try await scene.push(options: ["time_to_live": 600])
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 1 && $0.counts.total == 1 }
        scene.clock.advance(by: 601)
        try await scene.wait(engine, push) { $0.isFinal }
      }
      let ended = try await scene.record(push)
      #expect(ended.state == .finished && ended.counts == OutcomeCounts(failed: 2))
      let reasons = try await scene.reasons(push)
      #expect(reasons == ["Expired (ServiceUnavailable)": 1, "Expired (TooManyRequests)": 1])
    }
  }

  @Test("a push that is taken up too late reaches nobody, and says so for each device")
  func tooLate() async throws {
    try await EngineScene.run(devices: 2500) { scene in
      let push = try await scene.push(options: ["time_to_live": 60])
      scene.clock.advance(by: 61)
      try await scene.finish(push)
      #expect(scene.service.sent.isEmpty)
      #expect(try await scene.record(push).counts == OutcomeCounts(skipped: 2500))
      #expect(try await scene.reasons(push) == ["Expired": 2500])
    }
  }

  @Test("a time to live of nothing: one attempt, however late")
  func oneAttempt() async throws {
    try await EngineScene.run(devices: 2) { scene in
      scene.service.answer { member, _ in member.id == 1 ? busy : .outcome(.accepted) }
      let push = try await scene.push(options: ["time_to_live": 0])
      scene.clock.advance(by: 3600)
      try await scene.finish(push)
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 1, failed: 1))
    }
  }

  @Test("what was not answered is sent again under the same id; at most once, it stays unknown")
  func unanswered() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let lost = SendResult.outcome(.unknown(reason: OwnReason.connectionLost.rawValue))
      scene.service.answer { member, attempt in member.id == 1 && attempt == 1 ? lost : .outcome(.accepted) }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 1 }
        scene.clock.advance(by: 19)
        try await scene.wait(engine, push) { $0.isFinal }
        #expect(scene.service.sent.filter { $0.device == 1 }.map(\.seed) == [42, 42])
        scene.service.answer { _, _ in lost }
        let once = try await scene.push(options: ["at_most_once": true])
        engine.enqueue(once.id)
        let ended = try await scene.wait(engine, once) { $0.isFinal }
        #expect(ended.counts == OutcomeCounts(unknown: 2))
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 2))
      #expect(scene.service.sent.count == 5)
    }
  }

  @Test("at most once: what may have been sent when a process died is never sent again", arguments: [true, false])
  func diedAtMostOnce(atMostOnce: Bool) async throws {
    try await EngineScene.run(devices: 6) { scene in
      let begun = try await scene.push(options: ["at_most_once": .bool(atMostOnce)])
      // A process that handed out four, kept the outcome of the first, had the second wait, and died.
      try await scene.store.write { database in
        _ = try Push.move(database, id: begun.id, from: [.queued], to: .sending, now: noon)
        try Push.setTarget(database, id: begun.id, [Reach(.ios, .apns): 6], lastDeviceID: try Device.lastID(database))
        try Push.setHandedOut(database, id: begun.id, upTo: 4, .apns)
        _ = try Delivery.record(
          database, push: begun.id, [DeliveryResult(deviceID: 1, platform: .ios, outcome: .accepted, at: noon)],
          waiting: [
            WaitingDelivery(
              deviceID: 2, dueAt: noon + 90, attempts: 1, firstAt: noon, last: .skipped(reason: "Unreachable"))
          ], cursor: 2, now: noon)
      }
      try await scene.life { engine in
        let wait = try await scene.wait(engine, begun) { $0.waiting == 1 && $0.counts.total == 5 }
        #expect(wait.state == .sending)
        scene.clock.advance(by: 31)
        try await scene.wait(engine, begun) { $0.isFinal }
      }
      #expect(Set(scene.service.devices) == (atMostOnce ? [2, 5, 6] : [2, 3, 4, 5, 6]))
      let reasons = try await scene.reasons(begun)
      #expect(reasons == (atMostOnce ? ["": 4, "Interrupted": 2] : ["": 6]))
    }
  }

  @Test("a server that shuts down: at once over a new connection")
  func newConnection() async throws {
    try await EngineScene.run(devices: 4) { scene in
      let down = SendResult.retry(RetryCause(status: 503, reason: "Shutdown"))
      scene.service.answer { _, attempt in attempt == 1 ? down : .outcome(.accepted) }
      let push = try await scene.push()
      try await scene.finish(push)
      #expect(scene.service.reconnects == 1 && scene.service.sent.count == 8)
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 4))
    }
  }

  @Test("a device that was declared dead while it waited is not sent to again")
  func gone() async throws {
    try await EngineScene.run(devices: 2) { scene in
      scene.service.answer { member, attempt in member.id == 1 ? busy : .outcome(.accepted) }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 1 }
        let verdict = TokenVerdict(
          deviceID: 1, state: .dead, reason: "Unregistered", since: scene.clock.now, push: nil)
        try await scene.store.write { _ = try TokenVerdict.carryOut($0, [verdict], now: noon + 60) }
        scene.clock.advance(by: 1200)
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(scene.service.devices.count == 2)
      #expect(try await scene.reasons(push) == ["": 1, "DeviceInactive (ServiceUnavailable)": 1])
    }
  }

  @Test("a storm of every kind of trouble: nobody is lost, everybody has one outcome", arguments: [1, 2, 3])
  func storm(seed: Int) async throws {
    try await EngineScene.run(devices: 5000) { scene in
      scene.service.answer { member, attempt in
        // A quarter of the answers is trouble of some kind.
        switch Int(RetryPolicy.jitter(seed: UInt64(seed), device: member.id, attempt: attempt) * 32) {
        case 0: busy
        case 1: .retry(RetryCause(status: 429, reason: "TooManyRequests", retryAfter: .seconds(30)))
        case 2: .outcome(.unknown(reason: OwnReason.connectionLost.rawValue))
        case 3: .retry(RetryCause(status: 0, reason: OwnReason.unreachable.rawValue))
        case 4: .notSent(reason: OwnReason.interrupted.rawValue)
        case 5: .retry(RetryCause(status: 503, reason: "Shutdown"))
        case 6: refused(410, "Unregistered")
        case 7: .outcome(.unknown(reason: OwnReason.timedOut.rawValue))
        default: .outcome(.accepted)
        }
      }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        var passed = 0
        while try await !scene.record(push).state.isOver, passed < 600 {
          // Only when it has come to rest: a clock that runs ahead of it would use up its patience.
          let progress = try await scene.wait(engine, push) { progress in
            progress.isFinal
              || progress.waiting + progress.counts.total == 5000
                && (progress.nextDue ?? .distantPast) > scene.clock.now
          }
          if progress.isFinal { break }
          scene.clock.advance(by: 300)
          passed += 1
        }
      }
      let ended = try await scene.record(push)
      #expect(ended.state == .finished && ended.counts.total == 5000 && ended.waiting == 0)
      #expect(ended.counts.accepted > 4700 && ended.counts.deadToken > 100)
      let rows = try await scene.store.read { database in
        try database.int("SELECT count(*) FROM deliveries WHERE push_id = ?", push.id)
      }
      #expect(rows == 5000)
    }
  }
}
