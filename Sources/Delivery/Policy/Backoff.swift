package import Foundation
package import Model

/// Exponential backoff: each pause is twice the previous one, up to a limit.
package struct Backoff: Sendable, Hashable {
  /// Seconds before the first retry.
  package let first: TimeInterval
  /// The limit in seconds.
  package let longest: TimeInterval

  package init(first: TimeInterval, longest: TimeInterval) { (self.first, self.longest) = (first, longest) }

  /// The service has problems: Apple asks for 15 minutes at least.
  package static let service = Backoff(first: 15 * 60, longest: 4 * 3600)
  /// Apple refuses a new provider token before the last one is 20 minutes old.
  package static let providerToken = Backoff(first: 20 * 60, longest: 4 * 3600)
  /// Too many requests for one device; also Firebase's pause after a 429 without `Retry-After`.
  package static let device = Backoff(first: 60, longest: 3600)
  /// Firebase and JPush ask for 10 seconds at first.
  package static let quick = Backoff(first: 10, longest: 3600)
  /// The push may have arrived: wait until a connection problem has had time to pass.
  package static let unanswered = Backoff(first: 15, longest: 600)
  /// Only the connection failed.
  package static let brief = Backoff(first: 5, longest: 300)

  /// The pauses that the service of a reason asks for.
  package init(_ reason: Reason) {
    switch reason.source {
    case .apns: self = APNsCode(rawValue: reason.code) == .tooManyProviderTokenUpdates ? .providerToken : .service
    case .fcm, .jpush: self = reason.status == 429 ? .device : .quick
    case .signalbox: self = .brief
    case .unknown: self = .service
    }
  }

  /// The pause in seconds: never below the requested one, plus up to a quarter of jitter.
  ///
  /// - Parameters:
  ///   - attempt: 1 after the first attempt.
  ///   - jitter: 0 to 1.
  package func wait(afterAttempt attempt: Int, jitter: Double) -> TimeInterval {
    let doubled = first * pow(2, Double(min(max(attempt, 1), 30) - 1))
    return min(doubled, longest) * (1 + 0.25 * min(max(jitter, 0), 1))
  }
}
