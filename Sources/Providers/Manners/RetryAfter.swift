public import Foundation

/// The field `Retry-After` (RFC 9110 §10.2.3): seconds, or a date in any of the three forms of §5.6.7.
public enum RetryAfter {
  /// A day: nobody waits longer for a push.
  private static let maximum: Int64 = 86_400
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// How long to wait from `now`, never less than nothing; nil if it is neither.
  public static func wait(_ text: String, now: Date) -> Duration? {
    if let seconds = Int64(text) { return .seconds(min(max(0, seconds), maximum)) }
    guard let date = date(text) else { return nil }
    return .seconds(Int64(min(max(0, date.timeIntervalSince(now).rounded(.up)), Double(maximum))))
  }

  private static func date(_ text: String) -> Date? {
    // `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    let words = text.split { " ,-:".contains($0) }.map(String.init)
    switch words.count {
    case 8 where words[7] == "GMT": return date(year: words[3], month: words[2], day: words[1], words[4...6])
    case 7: return date(year: words[6], month: words[1], day: words[2], words[3...5])
    default: return nil
    }
  }

  private static func date(year: String, month: String, day: String, _ time: ArraySlice<String>) -> Date? {
    let numbers = ([day, year] + time).compactMap { Int($0) }
    guard let month = months.firstIndex(of: month), numbers.count == 5 else { return nil }
    var parts = DateComponents()
    parts.timeZone = .gmt
    // Two digits are of our time: fifty years around it hold every wait.
    parts.year = numbers[1] < 100 ? numbers[1] + (numbers[1] < 70 ? 2000 : 1900) : numbers[1]
    parts.month = month + 1
    parts.day = numbers[0]
    parts.hour = numbers[2]
    parts.minute = numbers[3]
    parts.second = numbers[4]
    return Calendar(identifier: .gregorian).date(from: parts)
  }
}
