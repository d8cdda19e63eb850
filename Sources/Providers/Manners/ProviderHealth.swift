package import Foundation

/// How it goes with a credential: what is held back, and why.
package struct ProviderHealth: Sendable, Hashable {
  /// Whether anything is sent.
  package var circuit: CircuitBreaker.State
  /// How many devices may be under way; nil: as many as anybody likes.
  package var limit: Int?
  /// The share of refusals, 0 to 1, that slowed it down; nil: it is not slowed down.
  package var stormShare: Double?
  /// When that was.
  package var stormAt: Date?
  /// How many requests were lost with their connections, so that it is slowed down; nil: it is not, for that reason.
  package var lost: Int?

  /// Creates one; without arguments, all is well.
  package init(
    circuit: CircuitBreaker.State = .closed, limit: Int? = nil, stormShare: Double? = nil, stormAt: Date? = nil,
    lost: Int? = nil
  ) {
    self.circuit = circuit
    self.limit = limit
    self.stormShare = stormShare
    self.stormAt = stormAt
    self.lost = lost
  }

  /// Whether less is sent at a time than could be.
  package var isSlowed: Bool { stormShare != nil || lost != nil }
  /// Whether there is anything to be told.
  package var isWell: Bool { circuit == .closed && !isSlowed }
}
