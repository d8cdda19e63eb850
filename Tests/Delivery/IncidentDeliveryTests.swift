import Delivery
import Foundation
import JSON
import Model
import Providers
import SQLite
import Store
import Testing

@Suite("Incidents of pushes that run", .timeLimit(.minutes(2)))
struct IncidentDeliveryTests {
  private func incidents(_ scene: EngineScene, _ state: IncidentState? = nil) async throws -> [Incident] {
    let now = scene.clock.now
    return try await scene.store.read { try Incident.list($0, IncidentFilter(state: state, now: now), limit: 9).items }
  }

  @Test("a push that is interrupted and goes on in the next process counts each device once")
  func restart() async throws {
    try await EngineScene.run(devices: 3000) { scene in
      scene.service.answer { member, _ in member.id % 3 == 0 ? busy : refused(400, "BadTopic") }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 1000 && $0.counts.failed == 2000 }
      }
      scene.clock.advance(by: 3600)
      scene.service.answer { _, _ in refused(400, "BadTopic") }
      _ = try await scene.life { engine in try await scene.wait(engine, push) { $0.isFinal } }
      let ended = try await scene.record(push)
      let found = try await incidents(scene).filter { $0.cause == IncidentCause(.request, "BadTopic") }
      #expect(ended.counts.failed == 3000)
      #expect(found.map(\.devices) == [ended.counts.failed] && found.map(\.pushes) == [1])
    }
  }

  @Test("a credential that is refused is one incident, and over at the next accepted push")
  func credential() async throws {
    try await EngineScene.run(devices: 2000) { scene in
      scene.service.answer { member, _ in
        member.id == 1 ? refused(403, "InvalidProviderToken") : .notSent(reason: "InvalidProviderToken")
      }
      let first = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(first.id)
        try await scene.wait(engine, first) { $0.isFinal }
      }
      let found = try await incidents(scene, .open)
      #expect(found.map(\.cause) == [IncidentCause(.credential, "InvalidProviderToken")])
      #expect(found.first?.devices == 2000)
      scene.clock.advance(by: 600)
      scene.service.answer { _, _ in .outcome(.accepted) }
      let second = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(second.id)
        try await scene.wait(engine, second) { $0.isFinal }
      }
      #expect(try await incidents(scene, .closed).first?.hasHealed == true)
    }
  }

  @Test(
    "a service that answers nothing is an incident after a moment, told once, and over when it answers",
    arguments: [OwnReason.unreachable, .untrusted, .unreadableAnswer, .connectionLost])
  func silent(code: OwnReason) async throws {
    try await EngineScene.run(devices: 20) { scene in
      scene.service.answer { _, _ in nil }
      scene.service.stand(
        .failing(ProviderFailure(kind: .connection, reason: "why", since: scene.clock.now, code: code)))
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held == 20 }
        try await scene.seeTrouble(engine, push, "why")
        #expect(try await incidents(scene).isEmpty, "a hiccup is none")
        while try await incidents(scene, .open).isEmpty, !Task.isCancelled {
          scene.clock.advance(by: 1)
          await Task.yield()
        }
        let found = try await incidents(scene, .open)
        #expect(found.map(\.cause) == [IncidentCause(.service, code.rawValue)])
        #expect(found.first?.devices == 0 && found.first?.pushes == 1)
        let last = found.first?.lastAt
        for _ in 0..<5 {
          scene.clock.advance(by: 60)
          try await scene.seeTrouble(engine, push, "why")
        }
        #expect(try await incidents(scene, .open).first?.lastAt == last)
        scene.service.stand(.ready)
        scene.service.answer { _, _ in .outcome(.accepted) }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await incidents(scene, .closed).count == 1)
    }
  }

  @Test("requests that end without an answer are an incident while their devices wait, unless others are answered")
  func lost() async throws {
    for isFailing in [true, false] {
      try await EngineScene.run(devices: 20) { scene in
        let since = scene.clock.now
        scene.service.answer { _, _ in .outcome(.unknown(reason: OwnReason.connectionLost.rawValue)) }
        if isFailing {
          scene.service.stand(
            .failing(ProviderFailure(kind: .connection, reason: "why", since: since, code: .connectionLost)))
        }
        let push = try await scene.push()
        try await scene.life { engine in
          engine.enqueue(push.id)
          try await scene.wait(engine, push) { $0.waiting == 20 }
          for _ in 0..<8 {
            scene.clock.advance(by: 1)
            try await scene.see(engine, push) { _ in true }
          }
          while isFailing, try await incidents(scene, .open).isEmpty, !Task.isCancelled {
            scene.clock.advance(by: 1)
            await Task.yield()
          }
        }
        let causes = try await incidents(scene).map(\.cause)
        #expect(causes == (isFailing ? [IncidentCause(.service, "ConnectionLost")] : []))
      }
    }
  }

  @Test("a service that is away is an incident while its devices wait")
  func away() async throws {
    try await EngineScene.run(devices: 20) { scene in
      scene.service.answer { _, _ in busy }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 20 }
      }
      let found = try await incidents(scene, .open)
      #expect(found.map(\.cause) == [IncidentCause(.service, "ServiceUnavailable")])
      #expect(found.first?.devices == 0 && found.first?.pushes == 1)
    }
  }
}
