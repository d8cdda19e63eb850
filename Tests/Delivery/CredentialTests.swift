import Delivery
import Foundation
import JSON
import Logging
import Providers
import Model
import Store
import TestSupport
import Testing

@Suite("A credential that is refused, a service that is away", .timeLimit(.minutes(2)))
struct CredentialTests {
  @Test("one refusal stops all that needs the credential, and raises the alarm")
  func refusal() async throws {
    try await EngineScene.run(devices: 12_000) { scene in
      scene.service.answer { member, _ in
        member.id == 1 ? refused(403, "InvalidProviderToken") : .notSent(reason: "InvalidProviderToken")
      }
      let push = try await scene.push()
      try await scene.finish(push)
      let ended = try await scene.record(push)
      #expect(ended.state == .finished && ended.counts == OutcomeCounts(failed: 1, skipped: 11_999))
      #expect(ended.error?.contains("InvalidProviderToken") == true)
      #expect(try await scene.reasons(push) == ["InvalidProviderToken": 1, "CredentialRefused": 11_999])
      // Not a page more than were under way when the refusal was kept.
      #expect(scene.service.devices.count <= 8000)
      let credential = try await scene.store.read { try Credential.find($0, id: scene.credential.id) }
      #expect(credential?.health == .refused && credential?.lastRefusal == "InvalidProviderToken")
      #expect(scene.log.entries.contains { $0.message.hasPrefix("credential refused") })
    }
  }

  @Test("a refusal also ends the wait of those that were to be sent to again")
  func refusalOfWaiting() async throws {
    try await EngineScene.run(devices: 2) { scene in
      scene.service.answer { member, attempt in
        member.id == 2 ? busy : attempt == 1 ? .retry(RetryCause(status: 429, reason: "TooManyRequests")) : nil
      }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 2 }
        scene.clock.advance(by: 80)
        await scene.wait { scene.service.held == 1 }
        scene.service.answer { _, _ in refused(403, "BadCertificate") }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.reasons(push) == ["BadCertificate": 1, "CredentialRefused (ServiceUnavailable)": 1])
    }
  }

  @Test("a handshake that refuses us is given up after a while, not at once")
  func handshake() async throws {
    try await EngineScene.run(devices: 5) { scene in
      scene.service.answer { _, _ in nil }
      let failure = ProviderFailure(kind: .credential, reason: "certificate revoked", since: scene.clock.now)
      scene.service.stand(.failing(failure))
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held == 5 }
        let trouble = try await scene.seeTrouble(engine, push, "certificate revoked")
        #expect(trouble.trouble == "certificate revoked" && trouble.counts.total == 0)
        scene.clock.advance(by: 41)
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await scene.reasons(push) == ["CredentialRefused": 5])
    }
  }

  @Test("a service that cannot be reached: nothing is given up, the trouble is said, and it goes on")
  func unreachable() async throws {
    try await EngineScene.run(devices: 9000) { scene in
      scene.service.answer { _, _ in nil }
      scene.service.stand(
        .failing(ProviderFailure(kind: .connection, reason: "connection refused", since: scene.clock.now)))
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held == 8000 }
        for _ in 0..<10 {
          scene.clock.advance(by: 600)
          try await scene.seeTrouble(engine, push, "connection refused")
        }
        #expect(scene.service.devices.count == 8000)
        scene.service.stand(.ready)
        scene.service.answer { _, _ in .outcome(.accepted) }
        let ended = try await scene.wait(engine, push) { $0.isFinal }
        #expect(ended.trouble == nil && ended.counts.accepted == 9000)
      }
      #expect(scene.service.mostHeld == 8000)
    }
  }

  @Test("a credential that is replaced meanwhile: its successor's connections take what waited")
  func replaced() async throws {
    try await EngineScene.run(devices: 3) { scene in
      scene.service.answer { _, attempt in
        attempt == 1 ? .notSent(reason: OwnReason.interrupted.rawValue) : .outcome(.accepted)
      }
      let push = try await scene.push()
      try await scene.finish(push)
      #expect(scene.service.found == 2)
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 3))
    }
  }

  @Test("a credential that is taken away meanwhile: the rest is skipped, with the reason")
  func removed() async throws {
    try await EngineScene.run(devices: 3) { scene in
      scene.service.answer { _, _ in nil }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held == 3 }
        scene.service.refuseRoutes(NoRoute("The app has no key."))
        scene.service.answer { _, _ in .notSent(reason: OwnReason.interrupted.rawValue) }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      let ended = try await scene.record(push)
      #expect(ended.counts == OutcomeCounts(skipped: 3) && ended.error == "The app has no key.")
    }
  }
}
