package import Foundation
package import Store

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
  package static func filter(_ band: Band, now: Date, within days: Int = warningDays) -> ExpiryList.Filter {
    var filter = ExpiryList.Filter(now: now)
    filter.withoutReplaced = true
    if band == .notYetValid {
      filter.ends = (Int64(now.timeIntervalSince1970.rounded(.down)) * 1000)...ExpiryList.forever
      filter.begun = false
    } else {
      filter.ends = ends(of: band, now: now, within: days) ?? 0...0
      // An expired item counts as expired even if it had never begun.
      filter.begun = band == .expired ? nil : true
    }
    return filter
  }
}
