package import Foundation
import Text

/// A time zone by its IANA name, as `Europe/Berlin`: what its clocks show at a moment, and when they show a time.
///
/// The rules are those that the Swift runtime brings along (`TimeZone.timeZoneDataVersion`), never the machine's own
/// zone.
package struct NamedZone: Sendable, Hashable {
  /// As it was given; `Asia/Calcutta` and other former names are good names.
  package let name: String
  private let zone: TimeZone

  /// UTC.
  package static let utc = NamedZone("UTC", .gmt)

  private init(_ name: String, _ zone: TimeZone) {
    self.name = name
    self.zone = zone
  }

  /// Finds a zone.
  ///
  /// - Throws: ``NamedZoneError`` for a name that the IANA database does not have.
  package init(_ name: String) throws(NamedZoneError) {
    if name == "UTC" {
      self = .utc
      return
    }
    // “EST” and “GMT+8” are no places: they know nothing of daylight-saving time.
    if name.contains("/"), name.utf8.count <= 64, let zone = TimeZone(identifier: name), zone.identifier == name {
      self.init(name, zone)
      return
    }
    throw NamedZoneError(name: name, suggestion: Suggestion.closest(to: name, among: Self.names) ?? Self.city(name))
  }

  /// What is offered for choice, in alphabetical order, UTC first.
  package static let names: [String] = ["UTC"] + TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") }.sorted()

  /// The zone of a city that was written without its continent.
  private static func city(_ name: String) -> String? {
    let plain = Suggestion.plain(name)
    guard plain.count > 2 else { return nil }
    return names.first { Suggestion.plain(String($0.split(separator: "/").last ?? "")) == plain }
  }

  /// What the clocks are ahead of UTC at a moment, in seconds.
  private func offset(_ seconds: Int) -> Int {
    zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
  }

  /// What the clocks show at a moment: the day, and seconds since its midnight.
  package func wall(_ date: Date) -> (day: CivilDate, second: Int) {
    let seconds = Int(date.timeIntervalSince1970.rounded(.down))
    let (days, second) = CivilDate.floor(seconds + offset(seconds), 86_400)
    return (CivilDate(number: days), second)
  }

  /// As `2026-12-01 09:00`.
  package func text(_ date: Date) -> String {
    let (day, second) = wall(date)
    return "\(day.text) \(CivilDate.padded(second / 3600, 2)):\(CivilDate.padded(second / 60 % 60, 2))"
  }

  /// No zone was ever further from UTC than 15 h 14 min (tz database: Manila and Alaska before 1868).
  private static let furthest = 16 * 3600

  /// When the clocks show a time. A time that comes twice (clocks set back): the first. A time that never comes (clocks
  /// set forward, a day left out): the first moment after the gap.
  ///
  /// - Parameter second: seconds since midnight as the clock shows them.
  package func moment(_ day: CivilDate, second: Int) -> Date {
    let wanted = day.number * 86_400 + second
    // On most days the clocks are not changed; nowhere were they twice within these 32 hours.
    let usual = offset(wanted)
    if offset(wanted - Self.furthest) == usual, offset(wanted + Self.furthest) == usual {
      return Date(timeIntervalSince1970: Double(wanted - usual))
    }
    var start = wanted - Self.furthest
    // Hour by hour; between two hours the clocks are changed once at most.
    while start < wanted + Self.furthest {
      let end = start + 3600
      let (before, after) = (offset(start), offset(end))
      let change = before == after ? end : firstSecond(from: start, to: end, before: before)
      for (from, to, offset) in [(start, change, before), (change, end, after)] where from < to {
        let moment = wanted - offset
        // Before it already: the clocks have leapt over it.
        if moment < to { return Date(timeIntervalSince1970: Double(max(from, moment))) }
      }
      start = end
    }
    return Date(timeIntervalSince1970: Double(start))
  }

  /// The first second at which the clocks are not `before` ahead any more.
  private func firstSecond(from start: Int, to end: Int, before: Int) -> Int {
    var (low, high) = (start, end)
    while high - low > 1 {
      let middle = (low + high) / 2
      if offset(middle) == before { low = middle } else { high = middle }
    }
    return high
  }
}

/// A name that is no IANA time zone.
package struct NamedZoneError: Error, Sendable, Hashable {
  /// The name as it was given.
  package let name: String
  /// The zone that was probably meant.
  package let suggestion: String?
}
