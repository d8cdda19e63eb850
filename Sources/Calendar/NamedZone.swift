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
    if let minutes = Self.minutes(name) {
      throw NamedZoneError(name: name, suggestion: Self.zone(aheadBy: minutes), isOffset: true)
    }
    let suggestion = Suggestion.closest(to: name, among: Self.candidates) ?? Self.city(name)
    throw NamedZoneError(name: name, suggestion: suggestion)
  }

  /// The minutes ahead of UTC that `UTC+8`, `GMT-05:30` or `+0800` says; nil: another text.
  private static func minutes(_ name: String) -> Int? {
    guard let match = name.wholeMatch(of: #/(UTC|GMT)? *([+−-])? *(\d{1,2}):?(\d{2})?/#.ignoresCase()),
      match.1 != nil || match.2 != nil, let hours = Int(match.3)
    else { return nil }
    let minutes = hours * 60 + (match.4.flatMap { Int($0) } ?? 0)
    return match.2 == nil || match.2 == "+" ? minutes : -minutes
  }

  /// A zone that is always so far ahead of UTC. The names `Etc/GMT-8` count the other way round (POSIX).
  private static func zone(aheadBy minutes: Int) -> String? {
    let places = [
      0: "UTC", 480: "Asia/Shanghai", 540: "Asia/Tokyo", 210: "Asia/Tehran", 270: "Asia/Kabul", 330: "Asia/Kolkata",
      345: "Asia/Kathmandu", 390: "Asia/Yangon", 525: "Australia/Eucla", 570: "Australia/Darwin",
      -570: "Pacific/Marquesas",
    ]
    if let place = places[minutes] { return place }
    let hours = minutes / 60
    guard minutes.isMultiple(of: 60), (-12...14).contains(hours) else { return nil }
    return "Etc/GMT\(hours > 0 ? "-" : "+")\(abs(hours))"
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
  /// The zone that was probably meant; of an offset, one that has it.
  package let suggestion: String?
  /// Whether the name is a distance from UTC, such as `UTC+8`.
  package var isOffset = false
}
