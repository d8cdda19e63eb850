package import Foundation

/// How long a message waits that nobody took.
package enum RetryPause {
  /// Seconds until the next attempt: a minute, then twice as long each time, at most six hours; more if the other side
  /// asks for it, at most a day.
  ///
  /// - Parameters:
  ///   - attempt: 1 after the first.
  ///   - asked: what the other side asks for, in seconds.
  package static func seconds(afterAttempt attempt: Int, asked: Int? = nil) -> TimeInterval {
    let doubled = 60 * pow(2, Double(min(max(attempt, 1), 20) - 1))
    return min(max(min(doubled, 6 * 3600), Double(asked ?? 0)), 86_400)
  }

  /// After so long nobody tries any more: the next step has come, or will.
  package static let patience: TimeInterval = 14 * 86_400
  /// After so many attempts people see that something is wrong.
  package static let alarming = 3
}
