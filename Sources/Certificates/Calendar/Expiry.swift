package import Foundation
package import Store

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
    /// Also what was never valid: it ends before it begins.
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

  /// Whole days since an expiry, rounded down: 0 on the first day after it; nil before it. Takes the result of
  /// ``daysLeft(notAfter:now:)``, which is -2 after 25 hours.
  package static func daysSince(daysLeft: Int?) -> Int? { daysLeft.flatMap { $0 < 0 ? -$0 - 1 : nil } }

  /// The days left as numbers show them, in JSON, CSV and for monitoring systems: after the expiry, the days that texts
  /// name, -1 for “1 day ago” and for less than a day, so that it is negative exactly if the item has expired.
  package static func number(daysLeft: Int?) -> Int? { daysSince(daysLeft: daysLeft).map { -max(1, $0) } ?? daysLeft }

  /// The urgency. Exactly `days` days left is ``Band/soon``; one second more is ``Band/fine``.
  package static func band(notBefore: Date?, notAfter: Date?, now: Date, within days: Int = warningDays) -> Band {
    if let left = secondsLeft(notAfter, now), left < 0 || isNeverValid(notBefore, notAfter) { return .expired }
    if let notBefore, now < notBefore { return .notYetValid }
    guard let left = secondsLeft(notAfter, now) else { return .neverExpires }
    if left <= urgentDays * secondsPerDay { return .urgent }
    return left <= days * secondsPerDay ? .soon : .fine
  }

  /// Whether it ends before it begins.
  package static func isNeverValid(_ notBefore: Date?, _ notAfter: Date?) -> Bool {
    guard let notBefore, let notAfter, notAfter < never else { return false }
    return notAfter < notBefore
  }

  /// In whole seconds, the precision of certificates.
  private static func secondsLeft(_ notAfter: Date?, _ now: Date) -> Int? {
    guard let notAfter, notAfter < never else { return nil }
    return Int(notAfter.timeIntervalSince1970.rounded(.down)) - Int(now.timeIntervalSince1970.rounded(.down))
  }
}

extension Expiry {
  /// The range of end times, in milliseconds since 1970, of items in a band that have begun; nil for
  /// ``Band/notYetValid``, which does not depend on the end. Agrees with ``band(notBefore:notAfter:now:within:)``.
  package static func ends(of band: Band, now: Date, within days: Int = warningDays) -> ClosedRange<Int64>? {
    let second = Int64(now.timeIntervalSince1970.rounded(.down))
    func last(_ days: Int) -> Int64 { (second + Int64(days * secondsPerDay)) * 1000 + 999 }
    switch band {
    case .expired: return 0...(second * 1000 - 1)
    case .urgent: return (second * 1000)...last(urgentDays)
    case .soon:
      // With a limit under 7 days, the band is empty.
      return days > urgentDays ? (last(urgentDays) + 1)...last(days) : nil
    case .fine: return (last(max(days, urgentDays)) + 1)...(ExpiryList.forever - 1)
    case .neverExpires: return ExpiryList.forever...ExpiryList.forever
    case .notYetValid: return nil
    }
  }

  /// The filter of a list for a band.
  package static func filter(_ band: Band, now: Date) -> ExpiryList.Filter {
    var filter = ExpiryList.Filter(now: now)
    filter.withoutReplaced = true
    if band == .notYetValid {
      filter.ends = (Int64(now.timeIntervalSince1970.rounded(.down)) * 1000)...ExpiryList.forever
      filter.begun = false
    } else {
      filter.ends = ends(of: band, now: now) ?? 0...0
      // An expired item counts as expired even if it had never begun, and so does one that never will.
      filter.begun = band == .expired ? nil : true
      filter.orNeverValid = band == .expired
    }
    return filter
  }
}
