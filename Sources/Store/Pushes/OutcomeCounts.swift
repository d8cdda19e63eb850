public import Model

/// How many devices have which outcome.
public struct OutcomeCounts: Sendable, Hashable {
  /// Taken by the provider.
  public var accepted = 0
  /// Refused.
  public var failed = 0
  /// Refused, because the token is gone.
  public var deadToken = 0
  /// Not sent.
  public var skipped = 0
  /// Sent, perhaps; no answer.
  public var unknown = 0

  /// Creates counts.
  public init(accepted: Int = 0, failed: Int = 0, deadToken: Int = 0, skipped: Int = 0, unknown: Int = 0) {
    self.accepted = accepted
    self.failed = failed
    self.deadToken = deadToken
    self.skipped = skipped
    self.unknown = unknown
  }

  /// All that have any.
  public var total: Int { accepted + failed + deadToken + skipped + unknown }

  /// The count of one kind.
  public subscript(kind: OutcomeKind) -> Int {
    get {
      switch kind {
      case .accepted: accepted
      case .failed: failed
      case .deadToken: deadToken
      case .skipped: skipped
      case .unknown: unknown
      }
    }
    set {
      switch kind {
      case .accepted: accepted = newValue
      case .failed: failed = newValue
      case .deadToken: deadToken = newValue
      case .skipped: skipped = newValue
      case .unknown: unknown = newValue
      }
    }
  }
}
