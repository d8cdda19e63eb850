import Delivery
import Foundation
import HTTP2
import JSON
import Model
import Simulator
import Store
import Testing

/// What APNs may do wrong while a push is under way. Whatever it is: every device of the audience has one outcome at the
/// end, nothing that was accepted is missing on a phone, and nothing comes twice.
@Suite("Delivery while APNs fails", .timeLimit(.minutes(3)))
struct DeliveryFaultTests {
  /// A course of events, by what a person would write for `signalbox simulate --faults`.
  struct Course: Sendable, CustomTestStringConvertible {
    var faults: String
    var devices = 300
    /// At least so many are accepted although something goes wrong.
    var accepted = 0
    /// What the simulator must have done for the test to have tested something.
    var happened: @Sendable (ServerCounters) -> Bool
    var testDescription: String { faults }
  }

  static let courses: [Course] = [
    Course(faults: "status=429,share=0.2,seed=1", accepted: 150) { $0.byStatus[429, default: 0] > 0 },
    Course(faults: "status=500,next=40", accepted: 250) { $0.byStatus[500] == 40 },
    Course(faults: "status=503,reason=Shutdown,next=40", accepted: 250) { $0.byStatus[503] == 40 },
    Course(faults: "status=503,share=0.3,seed=2", accepted: 150) { $0.byStatus[503, default: 0] > 0 },
    Course(faults: "delay=400ms", accepted: 300) { $0.byStatus[200] == 300 },
    Course(faults: "goaway=40", devices: 1000, accepted: 1000) { $0.connections >= 10 },
    Course(faults: "goaway=1", devices: 60, accepted: 60) { $0.connections >= 30 },
    Course(faults: "refuse=0.3,seed=3", accepted: 300) { $0.refused > 30 },
    Course(faults: "streams=1", devices: 150, accepted: 150) { $0.mostStreams == 1 },
    Course(faults: "refuse=0.1,goaway=30,delay=20ms,seed=4", accepted: 300) { $0.refused > 0 && $0.connections > 3 },
    Course(faults: "cut=60,streams=20", accepted: 100) { $0.connections > 1 && $0.unanswered > 0 },
    Course(faults: "cut=25,delay=5ms,streams=8", devices: 150, accepted: 40) {
      $0.connections > 1 && $0.unanswered > 0
    },
    Course(faults: "reason=BadDeviceToken,share=0.1,refuse=0.1,seed=5", accepted: 200) {
      $0.byReason["BadDeviceToken", default: 0] > 0
    },
  ]

  @Test("every device has one outcome, nothing is lost and nothing comes twice", arguments: courses)
  func outcomes(_ course: Course) async throws {
    try await DeliveryScene.run(faults: try Faults(parsing: course.faults)) { scene in
      let phones = try await scene.add(course.devices)
      let push = try await scene.deliver()
      let tally = try await scene.tally(push, phones)
      #expect(push.state == .finished, "\(push.error ?? "")")
      #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
      #expect(tally.outcomes["accepted", default: 0] >= course.accepted, "\(tally)")
      let counters = scene.simulator.counters(.development)
      #expect(course.happened(counters), "\(counters)")
    }
  }

  @Test("what got no answer in time is unknown, came at most once, and holds up nobody else")
  func silent() async throws {
    var options = DeliveryScene.Options()
    options.connections.connection.requestTimeout = .seconds(1)
    try await DeliveryScene.run(options, faults: try Faults(parsing: "silent=0.1,seed=6")) { scene in
      let phones = try await scene.add(300)
      let push = try await scene.deliver()
      let tally = try await scene.tally(push, phones)
      let silent = scene.simulator.counters(.development).unanswered
      #expect(push.state == .finished)
      #expect(tally.isWhole && tally.doubles == 0 && tally.received == 300, "\(tally)")
      #expect(silent > 10 && tally.outcomes == ["accepted": 300 - silent, "unknown": silent], "\(tally)")
      #expect(tally.reasons == ["TimedOut": silent])
    }
  }

  @Test("what got no answer is sent again under the same id, unless at most once was asked for")
  func silentThenAgain() async throws {
    var options = DeliveryScene.Options()
    options.connections.connection.requestTimeout = .seconds(1)
    try await DeliveryScene.run(options, faults: try Faults(parsing: "silent=0.1,seed=6")) { scene in
      let phones = try await scene.add(200)
      let push = try await scene.deliver(options: [:])
      let tally = try await scene.tally(push, phones)
      let silent = scene.simulator.counters(.development).unanswered
      #expect(push.state == .finished && push.waiting == 0)
      #expect(tally.isWhole && tally.outcomes == ["accepted": 200], "\(tally)")
      // The simulator's phones got those too: each silence is one double at most.
      #expect(silent > 5 && tally.doubles > 0 && tally.doubles <= silent, "\(tally)")
    }
  }

  @Test("a service whose connections die with requests unanswered gets fewer at a time: few come twice")
  func lossy() async throws {
    try await DeliveryScene.run(faults: try Faults(parsing: "cut=700,delay=5ms")) { scene in
      let phones = try await scene.add(8000)
      let push = try await scene.deliver(options: [:])
      let tally = try await scene.tally(push, phones)
      #expect(push.state == .finished)
      #expect(tally.isWhole && tally.outcomes == ["accepted": 8000], "\(tally)")
      // The first death is not foreseen: a thousand are under way before anything is known. Then one in ten.
      #expect(tally.doubles <= 1000 + 800, "\(tally)")
      #expect(push.repeats.total >= tally.doubles)
      print("connections that die: \(tally.doubles) doubles of 8000, told \(push.repeats)")
    }
  }

  @Test("answers that come after the time-out change nothing, and the next push is well")
  func late() async throws {
    var options = DeliveryScene.Options()
    options.connections.connection.requestTimeout = .milliseconds(500)
    try await DeliveryScene.run(options, faults: try Faults(parsing: "delay=2s")) { scene in
      let phones = try await scene.add(8)
      let push = try await scene.deliver()
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.doubles == 0 && tally.outcomes == ["unknown": 8], "\(tally)")
      scene.simulator.faults(.development).set(Faults())
      let next = try await scene.deliver()
      let after = try await scene.tally(next, phones)
      // Late answers may still come on the connection: they are nobody's any more.
      #expect(after.isWhole && after.outcomes == ["accepted": 8], "\(after)")
      #expect(try await scene.tally(push, phones).outcomes == ["unknown": 8])
    }
  }

  @Test("faults that change while a broadcast is under way lose nobody")
  func changing() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add(3000)
      let faults = ["cut=70", "goaway=50", "refuse=0.3", "status=503,share=0.2", "delay=30ms", "status=429,next=100"]
      let push = try await scene.push()
      async let carried: Void = scene.carryOut(push)
      for (round, text) in (faults + faults).enumerated() {
        let least = round * 240
        try await eventually("progress") {
          let present = try await scene.store.read { try Push.get($0, id: push.id) }
          return present.counts.total >= least || present.state == .finished
        }
        scene.simulator.faults(.development).set(try Faults(parsing: text + ",seed=\(round)"))
      }
      scene.simulator.faults(.development).set(Faults())
      try await carried
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
    }
  }

  @Test("an engine that has no more time leaves what has not left; the next one sends it, and nothing twice")
  func interrupted() async throws {
    try await DeliveryScene.run(faults: try Faults(parsing: "delay=50ms,streams=20")) { scene in
      let phones = try await scene.add(3000)
      // Takes seconds: on a busy machine all could be over before it is interrupted.
      let push = try await scene.push(options: ["at_most_once": true, "rate": 500])
      async let carried: Void = scene.carryOut(push)
      try await eventually("some outcomes", every: .milliseconds(5)) { try await scene.progress(push).total >= 200 }
      scene.engine.interrupt()
      try await carried
      let left = try await scene.store.read { try Push.get($0, id: push.id) }
      #expect(left.state == .sending && left.counts.total < 3000 && left.counts.total == left.counts.accepted)
      #expect(scene.simulator.counters(.development).byStatus == [200: left.counts.accepted])

      scene.simulator.faults(.development).set(Faults())
      try await scene.carryOutAnew(push)
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.doubles == 0 && tally.outcomes == ["accepted": 3000], "\(tally)")
    }
  }
}
