import Foundation
import JSON
import Providers
import Model
import Store
import Testing

@testable import Delivery

@Suite("Fixed speed and fairness", .timeLimit(.minutes(2)))
struct PaceTests {
  /// In steady seconds.
  let start: TimeInterval = 1000

  @Test("in any stretch of time no more than the rate, and no less", arguments: [1, 3, 7, 100, 999, 50_000])
  func bucket(rate: Int) {
    var pace = Pace(rate: Double(rate), now: start)
    var now = start
    var taken: [(at: TimeInterval, count: Int)] = []
    // Ten seconds, in the steps that the pace asks for.
    while now < start + 10 {
      let count = pace.take(atMost: .max, now: now)
      if count > 0 { taken.append((now - start, count)) }
      #expect(pace.next > now)
      now = max(pace.next, now + 0.0005)
    }
    let room = max(1, rate / 20)
    let total = taken.reduce(0) { $0 + $1.count }
    #expect(abs(total - 10 * rate) <= room + 1)
    for second in 0..<9 {
      let inSecond = taken.filter { $0.at >= Double(second) && $0.at < Double(second + 1) }.reduce(0) { $0 + $1.count }
      #expect(inSecond <= rate + room)
    }
  }

  @Test("after a rest it does not make up for lost time, and a clock that is set back gives nothing")
  func rest() {
    var pace = Pace(rate: 100, now: start)
    #expect(pace.take(atMost: 1000, now: start) == 1)
    #expect(pace.take(atMost: 1000, now: start + 3600) == 5)
    #expect(pace.take(atMost: 1000, now: start) == 0)
    #expect(pace.take(atMost: 1000, now: start + 0.02) == 2)
    #expect(pace.take(atMost: 1, now: start + 1) == 1)
    pace.giveBack(1)
    #expect(pace.take(atMost: 1000, now: start + 1) == 5)
  }

  @Test("a push with a rate keeps to it by the clock given")
  func engine() async throws {
    try await EngineScene.run(devices: 250) { scene in
      let push = try await scene.push(options: ["rate": 100])
      let start = scene.clock.now
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { !scene.service.sent.isEmpty }
        var allowed = 1
        while allowed < 250 {
          try await scene.wait(engine, push) { $0.counts.total == allowed }
          #expect(scene.service.devices.count == allowed)
          // A hair more than a full bucket's time, for the sake of rounding.
          scene.clock.advance(by: 0.0501)
          allowed = min(250, allowed + 5)
        }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(abs(scene.clock.now.timeIntervalSince(start) - 2.5) < 0.06)
    }
  }

  @Test("the speed shown is never above the set one, and stays while the answers are far apart")
  func shownSpeed() {
    var report = RunReport(now: Moment(wall: noon, steady: start), pace: 0.5)
    var seen: [Double] = []
    for (count, time) in [(0, 0.001), (1, 0.002), (1, 5), (1, 60)] {
      report.note(count, Moment(wall: noon + time, steady: start + time))
      let row = RunRow(state: .sending, target: 5)
      seen.append(report.progress(row, nextDue: nil, trouble: nil, health: ProviderHealth()).rate)
    }
    // Nothing yet; 500 per second as measured; 2 in 5 seconds; one alone in its ten seconds.
    #expect(seen == [0, 0.5, 0.4, 0.5])
  }

  @Test("a test push to a few phones does not wait behind a broadcast")
  func testPush() async throws {
    try await EngineScene.run(devices: 20_000) { scene in
      let broadcast = try await scene.push()
      scene.service.answer { _, attempt in attempt == 1 ? nil : .outcome(.accepted) }
      try await scene.life { engine in
        engine.enqueue(broadcast.id)
        await scene.wait { scene.service.held == 8000 }
        let test = try await scene.push(["registration_id": ["nobody"]])
        engine.enqueue(test.id)
        try await scene.wait(engine, test) { $0.isFinal }
        // Devices of the broadcast's first pages: what is held of them stays held.
        let tagged = try await scene.push(["tag": ["odd"]])
        engine.enqueue(tagged.id)
        await scene.wait { Set(scene.service.sent.map(\.push)).contains(tagged.id) }
        #expect(try await scene.record(broadcast).counts.total == 0)
        _ = try await engine.cancel(broadcast.id)
        _ = try await engine.cancel(tagged.id)
        try await scene.wait(engine, broadcast) { $0.isFinal }
        try await scene.wait(engine, tagged) { $0.isFinal }
      }
    }
  }

  @Test("two broadcasts share the window: the one that had it all gives half of it up")
  func halves() async throws {
    try await EngineScene.run(devices: 30_000) { scene in
      func handedOut(_ push: Push) -> Int { scene.service.sent.count { $0.push == push.id } }
      scene.service.answer { _, _ in nil }
      let first = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(first.id)
        await scene.wait { scene.service.held == 8000 }
        let second = try await scene.push()
        engine.enqueue(second.id)
        await scene.wait { handedOut(second) == 4000 && scene.service.held == 12_000 }
        #expect(handedOut(first) == 8000)
        // All that is held comes back, and what follows is held: from now on each has its half.
        let held = Set(scene.service.sent)
        let bound = held.map(\.device).max() ?? 0
        scene.service.answer { member, _ in member.id <= bound ? .outcome(.accepted) : nil }
        await scene.wait { scene.service.held == 8000 }
        #expect(handedOut(first) == 8000 + 4000)
        for push in [first, second] { _ = try await engine.cancel(push.id) }
        for push in [first, second] { try await scene.wait(engine, push) { $0.isFinal } }
      }
    }
  }
}
