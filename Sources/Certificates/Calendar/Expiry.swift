package import Foundation

/// How long something is still valid: pure arithmetic over dates.
///
/// `notAfter` is the last second of validity (RFC 5280 §4.1.2.5), so something expires when that second is over.
package enum Expiry {
  /// How urgent a renewal is. The raw values stand in JSON.
  package enum Band: String, Sendable, Hashable, Codable, CaseIterable {
    /// More time is left than the warning wants.
    case fine
    /// At most as much time is left as the warning wants, normally 30 days.
    case soon
    /// At most 7 days are left.
    case urgent
    /// It is over.
    case expired
    /// It has not begun.
    case notYetValid = "not_yet_valid"
    /// It has no end.
    case neverExpires = "never_expires"
  }

  /// The days before the end from which on it is ``Band/soon``, unless somebody chooses others.
  package static let warningDays = 30
  /// The days before the end from which on it is ``Band/urgent``.
  package static let urgentDays = 7

  package static let secondsPerDay = 86_400

  /// RFC 5280 §4.1.2.5: 9999-12-31 23:59:59 says that there is no end.
  package static let never = Date(timeIntervalSince1970: 253_402_300_799)

  /// Whole days that are left, rounded down: 0 on the last day, negative when it is over; nil without an end.
  package static func daysLeft(notAfter: Date?, now: Date) -> Int? {
    secondsLeft(notAfter, now).map { Int((Double($0) / Double(secondsPerDay)).rounded(.down)) }
  }

  /// How urgent a renewal is. Exactly `days` days left is ``Band/soon``, one second more is ``Band/fine``.
  package static func band(notBefore: Date?, notAfter: Date?, now: Date, within days: Int = warningDays) -> Band {
    if let left = secondsLeft(notAfter, now), left < 0 { return .expired }
    if let notBefore, now < notBefore { return .notYetValid }
    guard let left = secondsLeft(notAfter, now) else { return .neverExpires }
    if left <= urgentDays * secondsPerDay { return .urgent }
    return left <= days * secondsPerDay ? .soon : .fine
  }

  /// In whole seconds, because that is how certificates count.
  private static func secondsLeft(_ notAfter: Date?, _ now: Date) -> Int? {
    guard let notAfter, notAfter < never else { return nil }
    return Int(notAfter.timeIntervalSince1970.rounded(.down)) - Int(now.timeIntervalSince1970.rounded(.down))
  }
}
