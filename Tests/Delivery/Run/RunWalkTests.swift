import Testing

@testable import Delivery

@Suite("A run keeps its promises whatever happens", .timeLimit(.minutes(5)))
struct RunWalkTests {
  @Test("100 000 random steps: killed, paused, refused, slowed, cut short", arguments: 0..<10)
  func walk(series: UInt64) {
    var steps = 0
    var seed = series * 1_000_000
    while steps < 10_000 {
      seed += 1
      var model = RunModel(seed: seed)
      do {
        for _ in 0..<300 where !model.isOver {
          try model.step()
          steps += 1
        }
        try model.bringToEnd()
      } catch {
        Issue.record("seed \(seed): \(error)\n\(model.steps.joined(separator: "\n"))")
        return
      }
    }
  }
}
