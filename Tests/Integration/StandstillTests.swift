import Foundation
import Glibc
import JSON
import Model
import Simulator
import Store
import Testing

/// A server that the system suspends (SIGSTOP, a closed lid, a paused virtual machine) while requests are in flight.
@Suite("Standstill", .timeLimit(.minutes(4)))
struct StandstillTests {
  @Test("a server that stood still for longer than a request may take reads the answers that came meanwhile")
  func suspended() async throws {
    // Long enough to be stopped before the first answer of many arrives.
    try await DeliveryScene.run(faults: try Faults(parsing: "delay=3s")) { scene in
      let phones = try await scene.add(3000)
      let push = try await scene.push()
      let server = try await scene.serve()
      let counters = { scene.simulator.counters(.development) }
      // The first request goes alone: with a token, APNs allows one until it is answered.
      try await eventually("requests are open", every: .milliseconds(5)) { counters().requests >= 500 }
      server.send(SIGSTOP)
      let stopped = ContinuousClock.now
      let before = try await scene.progress(push).total
      #expect(before < 100, "the answers came before the stop")
      try await eventually("every open request is answered") {
        counters().byStatus[200, default: 0] == counters().requests
      }
      // A request may take a minute. The server's own clock goes on while it is suspended.
      try await eventually("a minute has passed", within: .seconds(90), every: .milliseconds(200)) {
        ContinuousClock.now - stopped > .seconds(62)
      }
      server.send(SIGCONT)
      try await scene.finished(push, by: server)
      #expect(await scene.stop(server) == 0, "\(server.errorText)")
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
      #expect(tally.outcomes == ["accepted": phones.count], "\(tally)")
    }
  }
}
