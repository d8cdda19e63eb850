public import Push
public import Store

/// How far a push is.
public struct PushProgress: Sendable, Hashable {
  /// Where it is in its life.
  public var state: PushState
  /// How many devices it is for; nil: not counted yet.
  public var target: Int?
  /// Devices by outcome.
  public var counts: OutcomeCounts
  /// Outcomes a second, over the last seconds.
  public var rate: Double = 0

  /// Creates one.
  public init(state: PushState, target: Int?, counts: OutcomeCounts) {
    self.state = state
    self.target = target
    self.counts = counts
  }

  /// What the store says.
  public init(_ push: PushRecord) { self.init(state: push.state, target: push.target, counts: push.counts) }

  /// Whether nothing more will happen.
  public var isFinal: Bool { [.finished, .cancelled, .failed].contains(state) }

  /// At the present rate, nil if that cannot be said.
  public var secondsLeft: Int? {
    guard let target, rate > 0, !isFinal else { return nil }
    return Int((Double(max(0, target - counts.total)) / rate).rounded(.up))
  }
}
