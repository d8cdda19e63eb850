package import Foundation
package import Providers
package import Model

extension RetryPolicy {
  /// Why a push did not go through to a device.
  package enum Failure: Sendable, Hashable {
    /// The provider said no. `retryAfter` in seconds.
    case rejected(status: Int, reason: String, retryAfter: TimeInterval?, tokenInvalidSince: Date?)
    /// It was sent, and no answer came: it may have arrived or not.
    case unanswered(reason: String)
    /// It certainly was not processed: it never left, or the server said so (REFUSED_STREAM, a stream above a GOAWAY's
    /// last one). The reason is the provider's if what waited was given up because of a refusal.
    case notProcessed(reason: String)

    /// The failure of a provider's result, nil if it was no failure.
    package init?(_ result: SendResult) {
      switch result {
      case .outcome(.accepted): return nil
      case .outcome(.rejected(let status, let reason, let since)):
        self = .rejected(status: status, reason: reason, retryAfter: nil, tokenInvalidSince: since)
      case .outcome(.unknown(let reason)): self = .unanswered(reason: reason)
      case .outcome(.skipped(let reason)), .notSent(let reason): self = .notProcessed(reason: reason)
      case .retry(let cause) where cause.status == 0: self = .notProcessed(reason: cause.reason)
      case .retry(let cause):
        self = .rejected(
          status: cause.status, reason: cause.reason, retryAfter: cause.retryAfter.map { $0 / .seconds(1) },
          tokenInvalidSince: nil)
      }
    }

    /// The provider's word or ours.
    package var reason: String {
      switch self {
      case .rejected(_, let reason, _, _), .unanswered(let reason), .notProcessed(let reason): reason
      }
    }

    /// What came of it if it is not tried again.
    package var outcome: Outcome {
      switch self {
      case .rejected(let status, let reason, _, let since):
        .rejected(status: status, reason: reason, tokenInvalidSince: since)
      case .unanswered(let reason): .unknown(reason: reason)
      case .notProcessed(let reason): .skipped(reason: reason)
      }
    }

    /// What came of it if we ended the tries, with the last reason beside ours: a refusal stays a refusal, and what
    /// may have arrived stays unknown.
    package func outcome(_ own: OwnReason) -> Outcome {
      let words = Reason.combined(own, after: reason)
      return switch self {
      case .rejected(let status, _, _, _): .rejected(status: status, reason: words, tokenInvalidSince: nil)
      case .unanswered: .unknown(reason: words)
      // That it waited behind a refusal is what CredentialRefused says; the refusal stands in the refused row.
      case .notProcessed: .skipped(reason: own == .credentialRefused ? own.rawValue : words)
      }
    }
  }

  /// What happened to a device before.
  package struct History: Sendable, Hashable {
    /// How many times it was sent to; 0 if it never left.
    package var attempts: Int
    /// When it was first tried.
    package var firstAt: Date
    /// When the push's time to live ends; nil: it has none.
    package var deadline: Date?
    /// Whether it was sent with a newly signed token already.
    package var isResigned: Bool
    package init(attempts: Int, firstAt: Date, deadline: Date? = nil, isResigned: Bool = false) {
      self.attempts = attempts
      self.firstAt = firstAt
      self.deadline = deadline
      self.isResigned = isResigned
    }

    func isOver(_ now: Date) -> Bool { deadline.map { $0 <= now } ?? false }
  }
}
