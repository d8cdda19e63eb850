import Foundation
import HTTP2
import Model
import Testing

@testable import Simulator

/// What faults do on a real connection, as a sender sees it.
@Suite("Simulated APNs that does wrong")
struct APNsFaultTests {
  private static func run(
    _ faults: String, requestTimeout: Duration = .seconds(30),
    _ body: (SimulatorScene, SimulatorClient) async throws -> Void
  ) async throws {
    let faults = try Faults(parsing: faults)
    try await SimulatorScene.run({ $0.faults[.development] = faults }) { scene in
      let client = try scene.client(.development, SimulatorClient.configuration(requestTimeout: requestTimeout))
      try await body(scene, client)
      try await client.stop()
    }
  }

  private static func tokens(_ scene: SimulatorScene, _ count: Int) -> [DeviceToken] {
    Array(repeating: scene.phone.token, count: count)
  }

  @Test("answers for the next ten, which do not reach the phone; the other environment is spared")
  func answers() async throws {
    try await Self.run("status=503,next=10") { scene, client in
      let ended = try await client.send(Self.tokens(scene, 25))
      #expect(ended.count(503) == 10)
      #expect(ended.count(200) == 15)
      #expect(ended.replies.values.filter { $0.status == 503 }.allSatisfy { $0.reason == "ServiceUnavailable" })
      #expect(ended.replies.values.allSatisfy { UUID(uuidString: $0.apnsID ?? "") != nil })
      #expect(scene.book.phone(scene.phone.id)?.received.count == 15)
      #expect(scene.simulator.counters(.development).byStatus == [200: 15, 503: 10])
      #expect(scene.simulator.faults(.development).faults == Faults())
      let other = try scene.client(.production)
      #expect(try await other.send([scene.productionPhone.token]).count(200) == 1)
      try await other.stop()
    }
  }

  @Test("one token's 410 has a time, and others go on")
  func token() async throws {
    try await SimulatorScene.run { scene in
      let second = try scene.book.add(
        NewPhone(name: "Second", environment: .development, topic: SimulatorScene.topic))
      let before = Int64(Date().timeIntervalSince1970 * 1000)
      scene.simulator.faults(.development).set(
        try Faults(parsing: "reason=Unregistered,token=\(scene.phone.tokenText)"))
      let client = try scene.client()
      let ended = try await client.send([scene.phone.token, second.token])
      #expect(ended.replies[0]?.status == 410)
      #expect((ended.replies[0]?.timestamp ?? 0) >= before)
      #expect(ended.replies[1]?.status == 200)
      try await client.stop()
    }
  }

  @Test("a delay holds every answer back, all at the same time")
  func delay() async throws {
    try await Self.run("delay=150ms") { scene, client in
      // The first goes alone, to prove the provider token.
      try await client.send(Self.tokens(scene, 1))
      let clock = ContinuousClock()
      let begin = clock.now
      let ended = try await client.send(Self.tokens(scene, 100))
      let time = clock.now - begin
      #expect(ended.count(200) == 101)
      #expect(time >= .milliseconds(150))
      #expect(time < .seconds(15))
    }
  }

  @Test("GOAWAY after every hundred: all are answered, none twice, with Apple's word for it")
  func goAway() async throws {
    try await Self.run("goaway=100") { scene, client in
      let ended = try await client.send(Self.tokens(scene, 1000))
      #expect(ended.count(200) == 1000)
      #expect(ended.goAways.contains { $0.debugData == Array(#"{"reason":"Shutdown"}"#.utf8) })
      #expect(scene.simulator.counters(.development).connections >= 10)
      #expect(scene.simulator.counters(.development).requests == 1000)
    }
  }

  @Test("a share refused as not processed: sent again, all are answered, and each reaches the phone once")
  func refused() async throws {
    try await Self.run("refuse=0.2,seed=3") { scene, client in
      let ended = try await client.send(Self.tokens(scene, 150))
      #expect(ended.count(200) == 150)
      let counters = scene.simulator.counters(.development)
      #expect(counters.refused > 10)
      #expect(counters.requests == 150 + counters.refused)
      let received = try #require(scene.book.phone(scene.phone.id)?.received)
      #expect(received.count == 150)
      #expect(received.allSatisfy { $0.duplicates == 0 })
    }
  }

  @Test("cut in the middle: pushes in flight are unknown, the rest continues")
  func cut() async throws {
    try await Self.run("cut=50") { scene, client in
      let ended = try await client.send(Self.tokens(scene, 60))
      #expect(ended.total == 60)
      #expect(ended.count(200) + ended.unknown.count == 60)
      #expect(!ended.unknown.isEmpty)
      // The next go over a new connection, whose count begins anew; the first may have left it up to ten.
      let later = try await client.send(Self.tokens(scene, 30))
      #expect(later.count(200) == ended.count(200) + 30)
      #expect(scene.simulator.counters(.development).connections == 2)
    }
  }

  @Test("never answered, and yet it reached the phone: the outcome is unknown")
  func silent() async throws {
    try await Self.run("", requestTimeout: .milliseconds(500)) { scene, client in
      // The first must be answered, or nothing else is sent.
      try await client.send(Self.tokens(scene, 1))
      scene.simulator.faults(.development).set(try Faults(parsing: "silent=0.1,seed=4"))
      let ended = try await client.send(Self.tokens(scene, 100))
      let silent = scene.simulator.counters(.development).unanswered
      #expect(silent > 0)
      #expect(ended.count(200) == 101 - silent)
      #expect(ended.unknown == Array(repeating: .timeout, count: silent))
      #expect(scene.book.phone(scene.phone.id)?.received.count == 101)
    }
  }

  @Test("an idle connection ends with Apple's word for it")
  func idleTimeout() async throws {
    try await SimulatorScene.run({ $0.idleTimeout = .milliseconds(200) }) { scene in
      let client = try scene.client()
      #expect(try await client.send(Self.tokens(scene, 1)).count(200) == 1)
      let ended = await client.wait { !$0.goAways.isEmpty }
      #expect(ended.goAways.first?.debugData == Array(#"{"reason":"IdleTimeout"}"#.utf8))
      try await client.stop()
    }
  }

  @Test("nothing but bad tokens: the streams become fewer, and then the connection ends; all are answered")
  func storm() async throws {
    try await SimulatorScene.run { scene in
      let client = try scene.client()
      let ended = try await client.send(
        Array(repeating: DeviceToken(bytes: Array(repeating: 1, count: 32)), count: 2500))
      #expect(ended.count(400) == 2500)
      #expect(ended.goAways.contains { $0.code == .enhanceYourCalm })
      #expect(scene.simulator.counters(.development).connections >= 2)
      try await client.stop()
    }
  }

  @Test("points: refusals add, bad tokens twice, good answers take away, 410 and 5xx count for nothing")
  func standing() {
    var standing = SenderStanding()
    #expect(standing.streams == 1000)
    for _ in 0..<1000 {
      #expect(standing.note(410, "Unregistered") == nil && standing.note(503, "ServiceUnavailable") == nil)
    }
    #expect(standing.points == 0)
    var changes = (0..<199).compactMap { _ in standing.note(400, "BadTopic") }
    #expect(changes == [])
    #expect(standing.note(400, "BadDeviceToken") == .streams(500))
    changes = (0..<2).compactMap { _ in standing.note(200, nil) }
    #expect(changes == [.streams(1000)])
    changes = (0..<1000).compactMap { _ in standing.note(400, "BadDeviceToken") }
    #expect(changes == [500, 250, 125, 62, 31, 15, 7, 3, 1].map { .streams($0) } + [.end])
  }

  @Test("streams: one only, and none at all until the fault is gone")
  func streams() async throws {
    try await Self.run("streams=1") { scene, client in
      #expect(try await client.send(Self.tokens(scene, 30)).count(200) == 30)
      let box = scene.simulator.faults(.development)
      box.set(try Faults(parsing: "streams=0"))
      async let waiting = client.send(Self.tokens(scene, 5))
      box.set(Faults())
      #expect(try await waiting.count(200) == 35)
      #expect(scene.simulator.counters(.development).requests == 35)
    }
  }
}
