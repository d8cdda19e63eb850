package import Foundation

/// The pause before a failed message is retried.
package enum RetryPause {
  /// Seconds until the next attempt: a minute, doubling each time up to six hours; longer if the other side asks for
  /// it, up to a day.
  ///
  /// - Parameters:
  ///   - attempt: 1 after the first.
  ///   - asked: the other side's wish in seconds.
  package static func seconds(afterAttempt attempt: Int, asked: Int? = nil) -> TimeInterval {
    let doubled = 60 * pow(2, Double(min(max(attempt, 1), 20) - 1))
    return min(max(min(doubled, 6 * 3600), Double(asked ?? 0)), 86_400)
  }

  /// After this time sending is given up: the next step follows.
  package static let patience: TimeInterval = 14 * 86_400
  /// After this many attempts people are told.
  package static let alarming = 3
}
