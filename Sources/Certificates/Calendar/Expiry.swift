package import Foundation

/// The remaining validity: pure date arithmetic.
///
/// `notAfter` is the last second of validity (RFC 5280 §4.1.2.5), so an item expires when that second is over.
package enum Expiry {
  /// The urgency of a renewal. The raw values are used in JSON.
  package enum Band: String, Sendable, Hashable, Codable, CaseIterable {
    /// More than the warning days are left.
    case fine
    /// At most the warning days (normally 30) are left.
    case soon
    /// At most 7 days are left.
    case urgent
    case expired
    case notYetValid = "not_yet_valid"
    case neverExpires = "never_expires"
  }

  /// Default number of days for ``Band/soon``.
  package static let warningDays = 30
  /// Number of days for ``Band/urgent``.
  package static let urgentDays = 7

  package static let secondsPerDay = 86_400

  /// 9999-12-31 23:59:59, which means “no expiry” (RFC 5280 §4.1.2.5).
  package static let never = Date(timeIntervalSince1970: 253_402_300_799)

  /// Whole days left, rounded down: 0 on the last day, negative after expiry; nil without an expiry.
  package static func daysLeft(notAfter: Date?, now: Date) -> Int? {
    secondsLeft(notAfter, now).map { Int((Double($0) / Double(secondsPerDay)).rounded(.down)) }
  }

  /// The urgency. Exactly `days` days left is ``Band/soon``; one second more is ``Band/fine``.
  package static func band(notBefore: Date?, notAfter: Date?, now: Date, within days: Int = warningDays) -> Band {
    if let left = secondsLeft(notAfter, now), left < 0 { return .expired }
    if let notBefore, now < notBefore { return .notYetValid }
    guard let left = secondsLeft(notAfter, now) else { return .neverExpires }
    if left <= urgentDays * secondsPerDay { return .urgent }
    return left <= days * secondsPerDay ? .soon : .fine
  }

  /// In whole seconds, the precision of certificates.
  private static func secondsLeft(_ notAfter: Date?, _ now: Date) -> Int? {
    guard let notAfter, notAfter < never else { return nil }
    return Int(notAfter.timeIntervalSince1970.rounded(.down)) - Int(now.timeIntervalSince1970.rounded(.down))
  }
}
