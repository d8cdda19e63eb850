package import Foundation
package import Model
import Providers

/// Growing pauses: the first, then twice as long each time, up to the longest.
package struct Backoff: Sendable, Hashable {
  /// Seconds before the first repeat.
  package let first: TimeInterval
  /// No pause is longer, in seconds.
  package let longest: TimeInterval

  /// Creates pauses.
  package init(first: TimeInterval, longest: TimeInterval) {
    self.first = first
    self.longest = longest
  }

  /// Apple's service has trouble: after 15 minutes, then longer.
  package static let service = Backoff(first: 15 * 60, longest: 4 * 3600)
  /// A new provider token is refused before the last is 20 minutes old.
  package static let providerToken = Backoff(first: 20 * 60, longest: 4 * 3600)
  /// One device gets too much; also Firebase's wait after a 429 that names none.
  package static let device = Backoff(first: 60, longest: 3600)
  /// A service that asks for 10 seconds at first (Firebase, JPush).
  package static let quick = Backoff(first: 10, longest: 3600)
  /// It may have arrived: sent again when what troubles the connections has had time to pass.
  package static let unanswered = Backoff(first: 15, longest: 600)
  /// Nothing is known to be wrong with anything but the connection.
  package static let brief = Backoff(first: 5, longest: 300)

  /// The pauses that the one who gives a reason asks for.
  package init(_ reason: Reason) {
    switch reason.source {
    case .apns: self = APNsCode(rawValue: reason.code) == .tooManyProviderTokenUpdates ? .providerToken : .service
    case .fcm, .jpush: self = reason.status == 429 ? .device : .quick
    case .signalbox: self = .brief
    case .unknown: self = .service
    }
  }

  /// The pause after an attempt, in seconds: never less than what is asked for, up to a quarter more by jitter.
  ///
  /// - Parameters:
  ///   - attempt: 1 after the first.
  ///   - jitter: 0 to 1.
  package func wait(afterAttempt attempt: Int, jitter: Double) -> TimeInterval {
    let doubled = first * pow(2, Double(min(max(attempt, 1), 30) - 1))
    return min(doubled, longest) * (1 + 0.25 * min(max(jitter, 0), 1))
  }
}
