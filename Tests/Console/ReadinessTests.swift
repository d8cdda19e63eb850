import Delivery
import HTTPServer
import TestSupport
import Testing

@Suite("Readiness")
struct ReadinessTests {
  @Test("ready while delivery runs; when it does not, /readyz says so, and /healthz does not care")
  func delivery() async throws {
    try await ConsoleScene.with { scene in
      #expect(try await scene.call(.get, "/readyz", as: nil).status == 200)
      scene.engine.stop()
      try await waitUntil("the engine has ended") { scene.engine.trouble != nil }
      let answer = try await scene.call(.get, "/readyz", as: nil)
      #expect(answer.status == 503 && answer.text.contains("delivery does not run"))
      #expect(try await scene.call(.get, "/healthz", as: nil).status == 200)
    }
  }
}
