package import Model

/// How many devices have which outcome.
package struct OutcomeCounts: Sendable, Hashable {
  /// Taken by the provider.
  package var accepted = 0
  /// Refused.
  package var failed = 0
  /// Refused, because the token is gone.
  package var deadToken = 0
  /// Not sent.
  package var skipped = 0
  /// Sent, perhaps; no answer.
  package var unknown = 0

  /// Creates counts.
  package init(accepted: Int = 0, failed: Int = 0, deadToken: Int = 0, skipped: Int = 0, unknown: Int = 0) {
    self.accepted = accepted
    self.failed = failed
    self.deadToken = deadToken
    self.skipped = skipped
    self.unknown = unknown
  }

  /// All that have any.
  package var total: Int { accepted + failed + deadToken + skipped + unknown }

  /// The count of one kind.
  package subscript(kind: OutcomeKind) -> Int {
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
