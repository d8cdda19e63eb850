/// Moments as HTTP writes them (RFC 9110 section 5.6.7), in whole seconds since 1970, UTC. Counted by hand:
/// Foundation's formatters cost more than the rest of a response.
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// As `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func format(_ seconds: Int) -> String {
    let day = floorDivide(seconds, 86_400)
    let time = seconds - day * 86_400
    let (year, month, dayOfMonth) = civil(fromDays: day)
    let weekday = days[((day + 4) % 7 + 7) % 7]
    return "\(weekday), \(two(dayOfMonth)) \(months[month - 1]) \(four(year)) "
      + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
  }

  /// Reads the three forms that a recipient must accept; nil for everything else.
  static func parse(_ text: String) -> Int? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "," })
    // Sun, 06 Nov 1994 08:49:37 GMT
    if parts.count == 6, parts[5] == "GMT" {
      return seconds(day: parts[1], month: parts[2], year: Int(parts[3]), time: parts[4])
    }
    // Sunday, 06-Nov-94 08:49:37 GMT
    if parts.count == 4, parts[3] == "GMT" {
      let date = parts[1].split(separator: "-")
      guard date.count == 3, let short = Int(date[2]), (0...99).contains(short) else { return nil }
      return seconds(day: date[0], month: date[1], year: short < 70 ? 2000 + short : 1900 + short, time: parts[2])
    }
    // Sun Nov  6 08:49:37 1994
    if parts.count == 5 { return seconds(day: parts[2], month: parts[1], year: Int(parts[4]), time: parts[3]) }
    return nil
  }

  private static func seconds(day: Substring, month: Substring, year: Int?, time: Substring) -> Int? {
    let clock = time.split(separator: ":").map { Int($0) ?? -1 }
    guard let day = Int(day), let month = months.firstIndex(where: { $0 == month }), let year,
      (1...31).contains(day), (1601...9999).contains(year), clock.count == 3,
      (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    return days(year: year, month: month + 1, day: day) * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
  }

  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": eras of 400 years, years that begin in March.

  private static func civil(fromDays day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let month = march < 10 ? march + 3 : march - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
  }

  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = floorDivide(year, 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func floorDivide(_ number: Int, _ divisor: Int) -> Int {
    number >= 0 ? number / divisor : (number - divisor + 1) / divisor
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func four(_ number: Int) -> String { two(number / 100) + two(number % 100) }
}
