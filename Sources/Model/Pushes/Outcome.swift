package import Foundation

/// What became of a push on one device.
package enum Outcome: Sendable, Hashable {
  /// The provider took it. That is all one can know: never "delivered".
  case accepted
  /// The provider refused it, finally.
  case rejected(status: Int, reason: String, tokenInvalidSince: Date?)
  /// No answer came, and it may or may not have been sent.
  case unknown(reason: String)
  /// Not sent at all, for a reason of our own: cancelled, expired, no credential.
  case skipped(reason: String)

  /// What the outcome counts as.
  package var kind: OutcomeKind {
    switch self {
    case .accepted: .accepted
    case .rejected(_, let reason, _): Reason.isDeadToken(reason) ? .deadToken : .failed
    case .unknown: .unknown
    case .skipped: .skipped
    }
  }
}

/// The words in which results are counted. Stored as the number: append only.
package enum OutcomeKind: Int, Sendable, CaseIterable, Hashable {
  case accepted = 1
  case failed = 2
  case deadToken = 3
  case skipped = 4
  case unknown = 5

  /// As the API and the pages say it.
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

/// The life of a push. Stored as the text.
package enum PushState: String, Sendable, Codable, CaseIterable {
  /// Accepted and kept, waiting for its turn.
  case queued
  /// Under way.
  case sending
  /// Stopped by a person who may let it go on.
  case paused
  /// Every device of the audience has an outcome.
  case finished
  /// Stopped by a person; devices not reached yet are skipped.
  case cancelled
  /// Could not be sent at all; see its error.
  case failed

  /// Whether nothing more goes out.
  package var isOver: Bool {
    switch self {
    case .queued, .sending, .paused: false
    case .finished, .cancelled, .failed: true
    }
  }
}
