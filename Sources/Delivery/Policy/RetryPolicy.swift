package import Foundation
package import Model

/// Decides what to do after a failure: a pure function.
///
/// Sources: Apple, "Handling notification responses from APNs" (never repeat a refusal of the token or of the request;
/// after 500 and 503 wait 15 minutes, then longer); Firebase, "Best practices when sending FCM messages at scale" (10
/// seconds, doubled, with jitter; one minute after a 429 without `Retry-After`).
package struct RetryPolicy: Sendable, Hashable {
  package enum Decision: Sendable, Hashable {
    /// No retry; the outcome.
    case final(Outcome)
    /// Send again at this time, with the same `apns-id`.
    case retry(at: Date)
    /// Send again at once, with a newly signed provider token.
    case resign
    /// Send again at once, on a new connection.
    case newConnection
    /// Stop this device and all others that need this credential, until a person has fixed it, and raise an alarm.
    case stopCredential(Outcome)
  }

  /// Whether to resend unanswered pushes, which may arrive twice. Off: at most once.
  package var repeatsUnanswered = true

  /// Seconds of retries for a push without a time to live, from the first attempt at a device.
  package var patience: TimeInterval = 24 * 3600

  /// Limits retries whose pauses are short: too many requests for one device, and unanswered pushes.
  package var maximumAttempts = 8

  /// Multiplies our own pauses; below 1 for tests with the simulator and the real clock. `Retry-After` is not scaled.
  package var pauseScale = 1.0

  package init() {}

  /// - Parameters:
  ///   - failure: the failure of this attempt.
  ///   - history: all attempts at this device, including this one.
  ///   - jitter: 0 to 1, spreads the retries of many devices; see ``jitter(seed:device:attempt:)``.
  package func decide(_ failure: Failure, _ history: History, now: Date, jitter: Double) -> Decision {
    let decision = rule(failure, history, now: now, jitter: jitter)
    guard case .retry(let date) = decision else {
      if decision.isAtOnce, history.isOver(now) { return .final(failure.outcome(.expired)) }
      return decision
    }
    let end = history.deadline ?? history.firstAt.addingTimeInterval(patience)
    if date < end { return decision }
    // Without a time to live nothing expires: keep the last answer.
    return .final(history.deadline == nil ? failure.outcome : failure.outcome(.expired))
  }

  /// 0 to 1, evenly distributed; deterministic for the push, device and attempt.
  package static func jitter(seed: UInt64, device: Int64, attempt: Int) -> Double {
    // SplitMix64 (Steele, Lea, Flood 2014).
    var word = seed &+ UInt64(bitPattern: device) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(attempt)
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((word ^ (word >> 31)) >> 11) / Double(UInt64(1) << 53)
  }

  private func rule(_ failure: Failure, _ history: History, now: Date, jitter: Double) -> Decision {
    switch failure {
    case .rejected(let status, let word, let retryAfter, _):
      return answered(Reason.of(word), status, retryAfter, failure, history, now: now, jitter: jitter)
    case .unanswered(let word):
      // A server with another protocol will answer the same way again.
      let isReadable = OwnReason(rawValue: Reason.head(word)) != .unreadableAnswer
      guard repeatsUnanswered, isReadable, history.attempts < maximumAttempts else { return .final(failure.outcome) }
      return .retry(at: now + wait(.unanswered, history.attempts, jitter))
    case .notProcessed(let word):
      let reason = Reason.of(word)
      switch reason.retry {
      case .afterCredential, .resignOnce: return .stopCredential(failure.outcome(.credentialRefused))
      // Queued behind a refusal of the credential: Apple's 403 Forbidden.
      case .never where reason.source == .apns: return .stopCredential(failure.outcome(.credentialRefused))
      // Never sent: retry within the time to live without a limit on attempts.
      case .newConnection where history.attempts == 0: return .newConnection
      case .never, .later, .newConnection, .perDevice: return .retry(at: now + wait(.brief, history.attempts, jitter))
      }
    }
  }

  private func answered(
    _ reason: Reason, _ status: Int, _ retryAfter: TimeInterval?, _ failure: Failure, _ history: History, now: Date,
    jitter: Double
  ) -> Decision {
    // `Retry-After` is a minimum: our own pause may be longer.
    func later(_ pace: Backoff) -> Decision {
      .retry(at: now + max(wait(pace, history.attempts, jitter), retryAfter ?? 0))
    }
    switch reason.retry {
    case .never where !reason.isKnown && (status == 429 || status >= 500):
      // An unknown or missing reason: the status shows that it is temporary.
      return later(status == 429 ? .device : .service)
    case .never where status == 403 && reason.source == .apns, .never where status == 403 && !reason.isKnown:
      return .stopCredential(failure.outcome)
    case .never: return .final(failure.outcome)
    case .later: return later(Backoff(reason))
    case .perDevice: return history.attempts < maximumAttempts ? later(.device) : .final(failure.outcome)
    case .newConnection:
      guard history.attempts > 1 || retryAfter != nil else { return .newConnection }
      guard history.attempts < maximumAttempts else { return .final(failure.outcome) }
      return later(status >= 500 ? .service : .brief)
    case .resignOnce: return history.isResigned ? .stopCredential(failure.outcome) : .resign
    // The key at Firebase is not the credential that Android devices are sent to with.
    case .afterCredential where FCMCode(rawValue: reason.code) == .thirdPartyAuthError: return .final(failure.outcome)
    case .afterCredential: return .stopCredential(failure.outcome)
    }
  }

  private func wait(_ pace: Backoff, _ attempts: Int, _ jitter: Double) -> TimeInterval {
    pauseScale * pace.wait(afterAttempt: max(1, attempts), jitter: jitter)
  }
}

extension RetryPolicy.Decision {
  fileprivate var isAtOnce: Bool { self == .resign || self == .newConnection }
}
