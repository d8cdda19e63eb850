package import Foundation
import Text

/// A time zone by its IANA name, such as `Europe/Berlin`.
///
/// Uses the rules of the Swift runtime (`TimeZone.timeZoneDataVersion`), never the machine's own zone.
package struct NamedZone: Sendable, Hashable {
  /// As given; former names such as `Asia/Calcutta` are valid.
  package let name: String
  private let zone: TimeZone

  package static let utc = NamedZone("UTC", .gmt)

  private init(_ name: String, _ zone: TimeZone) {
    self.name = name
    self.zone = zone
  }

  /// - Throws: ``NamedZoneError`` for a name that is not in the IANA database.
  package init(_ name: String) throws(NamedZoneError) {
    if name == "UTC" {
      self = .utc
      return
    }
    // “EST” and “GMT+8” are not places: they have no daylight-saving time.
    if name.contains("/"), name.utf8.count <= 64, let zone = TimeZone(identifier: name), zone.identifier == name {
      self.init(name, zone)
      return
    }
    let suggestion = Suggestion.closest(to: name, among: Self.candidates) ?? Self.city(name)
    throw NamedZoneError(name: name, suggestion: suggestion)
  }

  /// The choices, in alphabetical order, UTC first.
  package static let names: [String] = ["UTC"] + TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") }.sorted()

  private static let candidates = Suggestion.Candidates(names)

  /// The zone of a city written without its continent.
  private static func city(_ name: String) -> String? {
    let plain = Suggestion.plain(name)
    return plain.count > 2 ? cities[plain] : nil
  }

  /// Zones by the plain names of their cities; of two, the first.
  private static let cities = Dictionary(
    names.map { (Suggestion.plain(String($0.split(separator: "/").last ?? "")), $0) }
  ) { first, _ in first }

  /// Seconds ahead of UTC at a moment.
  private func offset(_ seconds: Int) -> Int {
    zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
  }

  /// The local day, and seconds since its midnight.
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

  /// The moment of a local time. A time that occurs twice (clocks set back): the first. A time that never occurs
  /// (clocks set forward, a skipped day): the first moment after the gap.
  ///
  /// - Parameter second: seconds since midnight of the local clock.
  package func moment(_ day: CivilDate, second: Int) -> Date {
    let wanted = day.number * 86_400 + second
    // On most days the offset does not change, and never twice within these 32 hours.
    let usual = offset(wanted)
    if offset(wanted - Self.furthest) == usual, offset(wanted + Self.furthest) == usual {
      return Date(timeIntervalSince1970: Double(wanted - usual))
    }
    var start = wanted - Self.furthest
    // Hour by hour, because within an hour the offset changes at most once.
    while start < wanted + Self.furthest {
      let end = start + 3600
      let (before, after) = (offset(start), offset(end))
      let change = before == after ? end : firstSecond(from: start, to: end, before: before)
      for (from, to, offset) in [(start, change, before), (change, end, after)] where from < to {
        let moment = wanted - offset
        // Too early: the clocks skipped the time.
        if moment < to { return Date(timeIntervalSince1970: Double(max(from, moment))) }
      }
      start = end
    }
    return Date(timeIntervalSince1970: Double(start))
  }

  /// The first second whose offset is not `before`.
  private func firstSecond(from start: Int, to end: Int, before: Int) -> Int {
    var (low, high) = (start, end)
    while high - low > 1 {
      let middle = (low + high) / 2
      if offset(middle) == before { low = middle } else { high = middle }
    }
    return high
  }
}

/// An unknown IANA time zone.
package struct NamedZoneError: Error, Sendable, Hashable {
  package let name: String
  /// The zone that was probably meant.
  package let suggestion: String?
}
