import Calendar
package import Foundation
package import JSON

/// The hours, days or months that `/v3/users` counts users in (docs/protocols.md §4.5). Beijing time.
package struct JPushSpan: Sendable, Hashable {
  private enum Unit: String { case hour = "HOUR", day = "DAY", month = "MONTH" }

  package struct Step: Sendable, Hashable {
    /// As JPush writes it: `2026-12-01 09`, `2026-12-01` or `2026-12`.
    package let name: String
    package let start: Date
    /// The next one's start.
    package let end: Date
  }

  /// Days that can be looked back, and counted.
  private static let longest = 60

  /// At least one, in order.
  package let steps: [Step]
  private let unit: Unit
  private let start: String

  /// - Parameters:
  ///   - unit: `time_unit` of the query, as `start` and `duration`.
  ///   - now: what is asked for must be within 60 days before.
  package init(unit: String?, start: String?, duration: String?, now: Date) throws(JPushError) {
    guard let unit = unit.flatMap({ Unit(rawValue: $0.uppercased()) }) else {
      throw JPushError(.invalid, "time_unit must be HOUR, DAY or MONTH.")
    }
    guard let duration = duration.flatMap({ Int($0) }), (1...Self.longest).contains(duration) else {
      throw JPushError(.invalid, "duration must be a number from 1 to \(Self.longest).")
    }
    (self.unit, self.start) = (unit, start ?? "")
    guard let first = Self.first(unit, self.start) else {
      throw JPushError(.reportUnit, "start does not match time_unit, such as 2026-12-01 09, 2026-12-01 or 2026-12.")
    }
    let edges = (0...duration).map { Self.edge(unit, first, $0) }
    steps = zip(edges, edges.dropFirst()).map { Step(name: $0.name, start: $0.start, end: $1.start) }
    let oldest = JPushTime.moment(JPushTime.wall(now).day + -Self.longest)
    guard duration <= (unit == .hour ? 24 : unit == .month ? 2 : Self.longest), edges[0].start >= oldest else {
      throw JPushError(.reportSpan, "Only users of the last \(Self.longest) days can be queried.")
    }
  }

  /// The whole answer.
  ///
  /// - Parameter platforms: what is counted in a step, by platform.
  package func json(_ platforms: (Step) -> [String: JSONValue]) -> JSONValue {
    let items = steps.map { step in JSONValue.object(platforms(step).merging(["time": .string(step.name)]) { $1 }) }
    return [
      "time_unit": .string(unit.rawValue), "start": .string(start), "duration": .number(steps.count),
      "items": .array(items),
    ]
  }

  private static func first(_ unit: Unit, _ text: String) -> (day: CivilDate, hour: Int)? {
    switch unit {
    case .day: return JPushTime.day(text).map { ($0, 0) }
    case .month: return JPushTime.day(text + "-01").map { ($0, 0) }
    case .hour:
      let parts = text.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 2, let day = JPushTime.day(parts[0]), parts[1].utf8.count == 2, let hour = Int(parts[1]),
        (0..<24).contains(hour)
      else { return nil }
      return (day, hour)
    }
  }

  private static func edge(
    _ unit: Unit, _ first: (day: CivilDate, hour: Int), _ index: Int
  ) -> (name: String, start: Date) {
    switch unit {
    case .day:
      let day = first.day + index
      return (day.text, JPushTime.moment(day))
    case .month:
      let (year, month, _) = first.day.parts
      let (years, months) = CivilDate.floor(month - 1 + index, 12)
      let day = CivilDate(year: year + years, month: months + 1, day: 1)
      return (String(day.text.prefix(7)), JPushTime.moment(day))
    case .hour:
      let (days, hour) = CivilDate.floor(first.hour + index, 24)
      let day = first.day + days
      return ("\(day.text) \(CivilDate.padded(hour, 2))", JPushTime.moment(day, second: hour * 3600))
    }
  }
}
