package import Foundation
package import Providers
package import Model

extension RetryPolicy {
  /// The reason why a push did not get through to a device.
  package enum Failure: Sendable, Hashable {
    /// Refused by the provider. `retryAfter` is in seconds.
    case rejected(status: Int, reason: String, retryAfter: TimeInterval?, tokenInvalidSince: Date?)
    /// Sent without an answer: it may have arrived.
    case unanswered(reason: String)
    /// Certainly not processed: it was never sent, or the server said so (REFUSED_STREAM, a stream above the last one
    /// of a GOAWAY). If queued devices were dropped because of a refusal, the reason is the provider's.
    case notProcessed(reason: String)

    /// Nil if the result is not a failure.
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

    /// The provider's reason or our own.
    package var reason: String {
      switch self {
      case .rejected(_, let reason, _, _), .unanswered(let reason), .notProcessed(let reason): reason
      }
    }

    /// The outcome if there is no retry.
    package var outcome: Outcome {
      switch self {
      case .rejected(let status, let reason, _, let since):
        .rejected(status: status, reason: reason, tokenInvalidSince: since)
      case .unanswered(let reason): .unknown(reason: reason)
      case .notProcessed(let reason): .skipped(reason: reason)
      }
    }

    /// The outcome if our own reason ended the retries. A refusal stays a refusal, and an unanswered push stays
    /// unknown.
    package func outcome(_ own: OwnReason) -> Outcome {
      let words = Reason.combined(own, after: reason)
      return switch self {
      case .rejected(let status, _, _, _): .rejected(status: status, reason: words, tokenInvalidSince: nil)
      case .unanswered: .unknown(reason: words)
      // CredentialRefused already means that the device waited behind a refusal; the refusal itself is in the refused
      // row.
      case .notProcessed: .skipped(reason: own == .credentialRefused ? own.rawValue : words)
      }
    }
  }

  /// The earlier attempts at a device.
  package struct History: Sendable, Hashable {
    /// 0 if it was never sent.
    package var attempts: Int
    /// The time of the first attempt.
    package var firstAt: Date
    /// The end of the push's time to live; nil without one.
    package var deadline: Date?
    /// Whether it was sent with a newly signed token already.
    package var isResigned: Bool
    package init(attempts: Int, firstAt: Date, deadline: Date? = nil, isResigned: Bool = false) {
      (self.attempts, self.firstAt, self.deadline, self.isResigned) = (attempts, firstAt, deadline, isResigned)
    }

    func isOver(_ now: Date) -> Bool { deadline.map { $0 <= now } ?? false }
  }
}
