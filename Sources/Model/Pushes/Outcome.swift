package import Foundation

/// The outcome of a push on one device.
package enum Outcome: Sendable, Hashable {
  /// The provider accepted it for delivery; delivery itself is unknown.
  case accepted
  /// The provider refused it permanently.
  case rejected(status: Int, reason: String, tokenInvalidSince: Date?)
  /// No answer came; the push may have been sent.
  case unknown(reason: String)
  /// Not sent, for a reason of our own: cancelled, expired, no credential.
  case skipped(reason: String)

  package var kind: OutcomeKind {
    switch self {
    case .accepted: .accepted
    case .rejected(_, let reason, _): Reason.isDeadToken(reason) ? .deadToken : .failed
    case .unknown: .unknown
    case .skipped: .skipped
    }
  }

  /// HTTP; 0 without an answer.
  package var status: Int { if case .rejected(let status, _, _) = self { status } else { 0 } }

  /// Nil if accepted.
  package var reason: String? {
    switch self {
    case .accepted: nil
    case .rejected(_, let reason, _), .unknown(let reason), .skipped(let reason): reason
    }
  }
}

/// The categories of outcomes. Stored as numbers: append only.
package enum OutcomeKind: Int, Sendable, CaseIterable, Hashable {
  case accepted = 1
  case failed = 2
  case deadToken = 3
  case skipped = 4
  case unknown = 5

  package var name: String {
    switch self {
    case .accepted: "accepted"
    case .failed: "failed"
    case .deadToken: "dead_token"
    case .skipped: "skipped"
    case .unknown: "unknown"
    }
  }
}

/// The life of a push. Stored as text.
package enum PushState: String, Sendable, Codable, CaseIterable {
  /// Stored, and not sent until a second person approves it.
  case needsApproval = "needs_approval"
  /// Stored, and waiting for its turn.
  case queued
  case sending
  /// Stopped by a person, and resumable.
  case paused
  /// Every device of the audience has an outcome.
  case finished
  /// Stopped by a person; remaining devices are skipped.
  case cancelled
  /// Could not be sent at all; see its error.
  case failed

  /// Whether nothing more will be sent.
  package var isOver: Bool {
    switch self {
    case .needsApproval, .queued, .sending, .paused: false
    case .finished, .cancelled, .failed: true
    }
  }
}
