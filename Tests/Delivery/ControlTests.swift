import Delivery
import Foundation
import Providers
import Model
import Store
import Testing

@Suite("Pause, resume, cancel, undo, retry", .timeLimit(.minutes(2)))
struct ControlTests {
  @Test("paused in the midst of it: nothing more goes out, over a restart too; resumed, everybody has one outcome")
  func pause() async throws {
    try await EngineScene.run(devices: 10_000) { scene in
      scene.service.answer { member, _ in member.id <= 500 ? .outcome(.accepted) : nil }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held >= 7500 }
        #expect(try await engine.pause(push.id))
        let rest = try await scene.wait(engine, push) { $0.state == .paused && $0.waiting >= 7500 }
        #expect(rest.counts.accepted == 500 && !rest.isFinal)
        #expect(try await !engine.pause(push.id))
      }
      #expect(scene.service.held == 0)
      let sent = scene.service.devices.count
      scene.service.answer { _, _ in .outcome(.accepted) }
      try await scene.life { engine in
        scene.clock.advance(by: 60)
        await Task.yield()
        #expect(try await scene.record(push).state == .paused && scene.service.devices.count == sent)
        #expect(try await engine.resume(push.id))
        #expect(try await !engine.resume(push.id))
        try await scene.wait(engine, push) { $0.isFinal }
      }
      let ended = try await scene.record(push)
      #expect(ended.state == .finished && ended.counts == OutcomeCounts(accepted: 10_000) && ended.waiting == 0)
      #expect(Set(scene.service.devices).count == 10_000)
    }
  }

  @Test("resumed while it still comes to a halt, it goes on at once")
  func resumedAtOnce() async throws {
    try await EngineScene.run(devices: 3000) { scene in
      scene.service.answer { _, _ in nil }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held == 3000 }
        #expect(try await engine.pause(push.id))
        scene.service.answer { _, _ in .outcome(.accepted) }
        #expect(try await engine.resume(push.id))
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.record(push).counts.accepted == 3000)
    }
  }

  @Test("cancelled while devices wait: at once, without the clock moving, and each keeps its last answer")
  func cancelWaiting() async throws {
    try await EngineScene.run(devices: 2500) { scene in
      scene.service.answer { member, _ in member.id <= 2000 ? busy : .outcome(.accepted) }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 2000 && $0.counts.total == 500 }
        #expect(try await engine.cancel(push.id))
        try await scene.wait(engine, push) { $0.isFinal }
        #expect(try await !engine.cancel(push.id))
      }
      let ended = try await scene.record(push)
      #expect(ended.state == .cancelled && ended.waiting == 0)
      #expect(try await scene.reasons(push) == ["": 500, "Cancelled (ServiceUnavailable)": 2000])
    }
  }

  @Test("a paused push can be cancelled; a process that died in the midst of that is made up for")
  func cancelPaused() async throws {
    try await EngineScene.run(devices: 2) { scene in
      scene.service.answer { member, _ in member.id == 1 ? busy : .outcome(.accepted) }
      let (push, other) = (try await scene.push(), try await scene.push())
      try await scene.life { engine in
        for push in [push, other] {
          engine.enqueue(push.id)
          try await scene.wait(engine, push) { $0.waiting == 1 && $0.counts.total == 1 }
          #expect(try await engine.pause(push.id))
          try await scene.wait(engine, push) { $0.state == .paused }
        }
        #expect(try await engine.cancel(push.id))
        try await scene.wait(engine, push) { $0.isFinal }
      }
      try await scene.store.write { database in
        _ = try Push.move(database, id: other.id, from: [.paused], to: .cancelled, now: noon)
      }
      _ = try await scene.life { engine in try await scene.wait(engine, other) { $0.isFinal } }
      for push in [push, other] {
        #expect(try await scene.record(push).state == .cancelled)
        #expect(try await scene.reasons(push) == ["": 1, "Cancelled (ServiceUnavailable)": 1])
      }
    }
  }

  @Test("within its undo window a push can be taken back: nobody was sent to; after it, it goes out")
  func undo() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let undone = try await scene.push(sendAt: scene.clock.now + 10)
      let sent = try await scene.push(sendAt: scene.clock.now + 10)
      try await scene.life { engine in
        for push in [undone, sent] { engine.enqueue(push.id) }
        scene.clock.advance(by: 9)
        #expect(try await engine.cancel(undone.id))
        await Task.yield()
        #expect(scene.service.sent.isEmpty)
        try await scene.wait(engine, sent) { progress in
          if progress.state == .queued { scene.clock.advance(by: 1) }
          return progress.isFinal
        }
      }
      #expect(Set(scene.service.sent.map(\.push)) == [sent.id])
      let taken = try await scene.record(undone)
      #expect(taken.state == .cancelled && taken.startedAt == nil && taken.counts.total == 0)
    }
  }

  @Test("retry sends to those that failed for what may have passed, and names those it leaves out")
  func retryFailed() async throws {
    try await EngineScene.run(devices: 8) { scene in
      scene.service.answer { member, _ in
        switch member.id {
        case 1: .outcome(.unknown(reason: OwnReason.unreadableAnswer.rawValue))
        case 2: refused(400, "BadDeviceToken")
        case 3: refused(410, "Unregistered")
        case 4: refused(413, "PayloadTooLarge")
        case 5: refused(400, "TopicDisallowed")
        default: .outcome(.accepted)
        }
      }
      let push = try await scene.push()
      try await scene.life { engine in
        #expect(try await scene.retryFailed(push.id, engine) == .notOver)
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.isFinal }
        scene.service.answer { _, _ in .outcome(.accepted) }
        guard case .created(let child, let found) = try await scene.retryFailed(push.id, engine)
        else {
          Issue.record("nothing was created")
          return
        }
        #expect(child.parentID == push.id && child.createdBy == "anna" && child.seed != push.seed)
        #expect(found.devices == 2)
        #expect(
          Set(found.excluded.compactMap(\.reason)) == ["BadDeviceToken", "Unregistered", "PayloadTooLarge"])
        let ended = try await scene.wait(engine, child) { $0.isFinal }
        #expect(ended.target == 2 && ended.counts == OutcomeCounts(accepted: 2))
        #expect(Set(scene.service.sent.filter { $0.push == child.id }.map(\.device)) == [1, 5])
        // The child reached everybody that it was for.
        guard case .nobody = try await scene.retryFailed(child.id, engine) else {
          Issue.record("there was somebody left")
          return
        }
      }
    }
  }
}
