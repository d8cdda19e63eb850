import Delivery
import Foundation
import JSON
import Logging
import Providers
import Model
import SQLite
import Store
import TestSupport
import Testing

@Suite("Held back for the sake of a credential", .timeLimit(.minutes(2)))
struct HealthTests {
  @Test("an open circuit: nothing goes out, and the push says so; half-open: one; closed: all")
  func circuit() async throws {
    try await EngineScene.run(devices: 3000) { scene in
      scene.service.answer { _, _ in nil }
      let (since, until) = (scene.clock.now, scene.clock.now + 30)
      scene.service.stand(ProviderHealth(circuit: .open(reason: "why", since: since, until: until)))
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        let told = try await scene.wait(engine, push) { $0.target == 3000 && !$0.health.isWell }
        #expect(told.health.circuit == .open(reason: "why", since: since, until: until))
        #expect(scene.service.sent.isEmpty)
        scene.service.stand(ProviderHealth(circuit: .halfOpen(reason: "why", since: since)))
        await advance(scene) { scene.service.held == 1 }
        for _ in 0..<5 {
          scene.clock.advance(by: 1)
          await Task.yield()
        }
        #expect(scene.service.sent.count == 1)
        scene.service.stand(ProviderHealth())
        scene.service.answer { _, _ in .outcome(.accepted) }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 3000))
    }
  }

  @Test("an open circuit holds up no push to nobody: that is over at once, and counts as nothing")
  func circuitAndNobody() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let now = scene.clock.now
      scene.service.stand(ProviderHealth(circuit: .open(reason: "why", since: now, until: now + 30)))
      let push = try await scene.push(["tag": ["nobody-has-this"]])
      try await scene.finish(push)
      let ended = try await scene.store.read { try Push.get($0, id: push.id) }
      #expect(ended.state == .finished && ended.target == 0 && ended.counts.total == 0)
      #expect(scene.clock.now == now, "without waiting for anything")
    }
  }

  @Test("a trial that is refused ends the push at once: nobody else is tried")
  func refusedTrial() async throws {
    try await EngineScene.run(devices: 3000) { scene in
      scene.service.stand(ProviderHealth(circuit: .halfOpen(reason: "why", since: scene.clock.now)))
      scene.service.answer { _, _ in refused(403, "InvalidProviderToken") }
      let push = try await scene.push()
      try await scene.finish(push)
      #expect(scene.service.sent.count == 1)
      #expect(try await scene.record(push).counts == OutcomeCounts(failed: 1, skipped: 2999))
    }
  }

  @Test("a storm: no more devices under way than the guard allows, over all pushes of the credential")
  func storm() async throws {
    try await EngineScene.run(devices: 1000) { scene in
      scene.service.answer { _, _ in nil }
      scene.service.stand(ProviderHealth(limit: 60, stormShare: 0.5))
      let (first, second) = (try await scene.push(), try await scene.push())
      try await scene.life { engine in
        for push in [first, second] { engine.enqueue(push.id) }
        await advance(scene) { scene.service.held >= 60 }
        #expect(scene.service.mostHeld <= 60 + 30)
        scene.service.answer { _, _ in .outcome(.accepted) }
        for push in [first, second] { try await scene.wait(engine, push) { $0.isFinal } }
      }
      for push in [first, second] { #expect(try await scene.record(push).counts.accepted == 1000) }
    }
  }

  @Test("a narrow window: a device without an answer takes up one place, and the others go on")
  func silent() async throws {
    try await EngineScene.run(devices: 500) { scene in
      scene.service.answer { member, _ in member.id == 5 ? nil : .outcome(.accepted) }
      scene.service.stand(ProviderHealth(limit: 31, lost: 400))
      let push = try await scene.push()
      let start = scene.clock.now
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.counts.accepted == 499 }
        #expect(scene.service.held == 1 && scene.clock.now == start)
        scene.service.answer { _, _ in .outcome(.accepted) }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 500))
    }
  }

  /// Lets the clock go on until something is so.
  private func advance(_ scene: EngineScene, until condition: () -> Bool) async {
    while !condition(), !Task.isCancelled {
      scene.clock.advance(by: 0.1)
      await Task.yield()
    }
  }
}

@Suite("The engine's own beginning, and its news", .timeLimit(.minutes(2)))
struct EngineNewsTests {
  @Test("a store that cannot be read at the start is tried again, and the trouble is told until it can")
  func firstRead() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let push = try await scene.push()
      // Without its table no push can be read.
      try await scene.store.write { _ = try $0.run("ALTER TABLE pushes RENAME TO away") }
      try await scene.life { engine in
        await scene.wait { engine.trouble != nil }
        #expect(scene.log.entries.contains { $0.message.hasPrefix("delivery cannot start") })
        try await scene.store.write { _ = try $0.run("ALTER TABLE away RENAME TO pushes") }
        while engine.trouble != nil, !Task.isCancelled {
          scene.clock.advance(by: 1)
          await Task.yield()
        }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.record(push).counts.accepted == 3)
    }
  }

  @Test("an engine that has ended says so")
  func ended() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let engine = try await scene.life { engine in
        #expect(engine.trouble == nil)
        return engine
      }
      #expect(engine.trouble != nil)
    }
  }

  @Test("a push that waits for its time: who follows it hears when it begins, and when it is taken back")
  func news() async throws {
    try await EngineScene.run(devices: 1) { scene in
      scene.service.answer { _, _ in nil }
      let later = try await scene.push(sendAt: scene.clock.now + 60)
      let now = try await scene.push()
      try await scene.life { engine in
        var news = engine.news(now.id).makeAsyncIterator()
        engine.enqueue(now.id)
        #expect(await news.next() != nil)
        await scene.wait { scene.service.held == 1 }
        var other = engine.news(later.id).makeAsyncIterator()
        #expect(try await engine.cancel(later.id))
        #expect(await other.next() != nil)
        scene.service.answer { _, _ in .outcome(.accepted) }
        try await scene.wait(engine, now) { $0.isFinal }
      }
    }
  }
}
