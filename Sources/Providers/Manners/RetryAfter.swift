import Calendar
package import Foundation

/// The field `Retry-After` (RFC 9110 §10.2.3): seconds, or a date in any of the three forms of §5.6.7.
package enum RetryAfter {
  /// A day: nobody waits longer for a push.
  private static let maximum: Int64 = 86_400

  /// How long to wait from `now`, never less than nothing; nil if it is neither.
  package static func wait(_ text: String, now: Date) -> Duration? {
    if let seconds = Int64(text) { return .seconds(min(max(0, seconds), maximum)) }
    guard let date = HTTPDate.parse(text).map({ Date(timeIntervalSince1970: Double($0)) }) else { return nil }
    return .seconds(Int64(min(max(0, date.timeIntervalSince(now).rounded(.up)), Double(maximum))))
  }
}
