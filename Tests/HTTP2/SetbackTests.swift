import Testing

@testable import HTTP2

@Suite("Setbacks")
struct SetbackTests {
  private static func fresh() -> Setbacks { Setbacks(first: .milliseconds(500), longest: .seconds(30)) }

  @Test("each further setback doubles the pause, up to the longest; an answer begins anew")
  func growth() {
    var setbacks = Self.fresh()
    let pauses = (0..<9).map { _ in setbacks.pause(isLasting: false) }
    #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    setbacks.resume()
    #expect(setbacks.allowance == 1)
    setbacks.sent(1)
    #expect(setbacks.allowance == 0)
    let isSetback = setbacks.ended(answered: 1, unanswered: 0, inFlight: 0)
    #expect(!isSetback && setbacks.allowance == 2)
    let (first, lasting) = (setbacks.pause(isLasting: false), setbacks.pause(isLasting: true))
    #expect(first == .milliseconds(500) && lasting == .seconds(30))
  }

  @Test("answers widen what may be sent until there is no limit")
  func widening() {
    var setbacks = Self.fresh()
    _ = setbacks.pause(isLasting: false)
    setbacks.resume()
    var rounds = 0
    while let allowance = setbacks.allowance {
      setbacks.sent(allowance)
      _ = setbacks.ended(answered: allowance, unanswered: 0, inFlight: 0)
      rounds += 1
    }
    #expect((5...12).contains(rounds))
  }

  @Test(
    "more without an answer than can still be answered is a setback, fewer are not",
    arguments: [
      (0, 1, 0, true), (0, 1, 5, false), (0, 6, 5, true), (1, 1, 0, false), (500, 499, 0, false), (1, 999, 0, true),
      (1, 0, 0, false),
    ])
  func share(answered: Int, unanswered: Int, inFlight: Int, isSetback: Bool) {
    var setbacks = Self.fresh()
    let found = setbacks.ended(answered: answered, unanswered: unanswered, inFlight: inFlight)
    #expect(found == isSetback)
  }

  @Test("connections that answer little follow each other a few times, then with a pause; useful ones always")
  func connections() {
    var setbacks = Self.fresh()
    let waits = (0..<12).map { _ in setbacks.connectionEnded(answered: 1) }
    #expect(waits == [Duration](repeating: .zero, count: 10) + [.milliseconds(500), .milliseconds(500)])
    let after = setbacks.connectionEnded(answered: 1000)
    let useless = (0..<3).map { _ in setbacks.connectionEnded(answered: 0) }
    #expect(after == .zero && useless == [0.5, 1, 2].map { .seconds($0) })
  }
}
