/// Dates of HTTP and mail, in whole seconds since 1970. By hand because this toolchain's Foundation has no HTTP date
/// style, and its formatters cost more than the rest of an answer.
package enum HTTPDate {
  /// RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func format(_ seconds: Int) -> String { "\(text(seconds)) GMT" }

  /// RFC 5322 §3.3: `Sun, 06 Nov 1994 08:49:37 +0000`.
  package static func mail(_ seconds: Int) -> String { "\(text(seconds)) +0000" }

  private static func text(_ seconds: Int) -> String {
    let (number, time) = CivilDate.floor(seconds, 86_400)
    let date = CivilDate(number: number)
    let (year, month, day) = date.parts
    func two(_ number: Int) -> String { CivilDate.padded(number, 2) }
    return "\(CivilDate.dayNames[date.weekday]), \(two(day)) \(CivilDate.monthNames[month - 1]) "
      + "\(CivilDate.padded(year, 4)) \(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60))"
  }

  /// Reads the three forms that recipients must accept; nil for anything else.
  package static func parse(_ text: String) -> Int? {
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
    guard let day = Int(day), let month = CivilDate.monthNames.firstIndex(where: { $0 == month }), let year,
      (1...31).contains(day), (1601...9999).contains(year), clock.count == 3,
      (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    return CivilDate.number(year, month + 1, day) * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
  }
}
