package import Calendar
package import JSON
import Text

extension RepeatRule {
  /// The values of the field `every`.
  enum Unit: String, CaseIterable { case day, week, month }

  static func read(_ fields: JSONFields) -> RepeatRule? {
    let unit = fields.choice("every", required: true, as: Unit.self)
    let interval = fields.integer("interval", in: PushLimits.repeatInterval) ?? 1
    let weekdays = readWeekdays(fields, unit)
    let several = readDays(fields, unit)
    let day = several.isEmpty ? readDay(fields, unit) : nil
    let second = fields.string("at", required: true, limit: .bytes(16)) { text in
      Self.second(text) == nil ? Problem("", RepeatMessage.time, ["value": text]) : nil
    }.flatMap(Self.second)
    var zone: NamedZone?
    if let name = fields.string("time_zone", required: true) {
      do { zone = try NamedZone(name) } catch { fields.report("time_zone", Problem(error)) }
    }
    let until = fields.time("until")
    let count = fields.integer("count", in: PushLimits.repeatCount)
    guard let unit, let second, let zone else { return nil }
    let days: Days =
      switch unit {
      case .day: .daily
      case .week: .weekly(weekdays.sorted())
      case .month: several.isEmpty ? .monthly(day: day ?? 1) : .monthlyOn(several)
      }
    var rule = RepeatRule(days, interval: interval, minute: 0, zone: zone)
    (rule.second, rule.until, rule.count) = (second, until, count)
    return rule
  }

  private static func readWeekdays(_ fields: JSONFields, _ unit: Unit?) -> [Weekday] {
    let before = fields.problems.count
    let choices = Weekday.allCases.map(\.rawValue).joined(separator: ", ")
    let weekdays = fields.elements("weekdays", atMost: 7) { word throws(Problem) in
      if let weekday = Weekday(rawValue: word.lowercased()) { return weekday }
      throw Problem("", FieldMessage.expectedChoice, ["choices": choices, "value": word.abbreviated(to: 40)])
    }
    guard fields.problems.count == before else { return weekdays }
    if unit == .week, weekdays.isEmpty {
      fields.report("weekdays", Problem("", RepeatMessage.weekdaysMissing, ["weekdays": choices]))
    }
    if let unit, unit != .week, !weekdays.isEmpty {
      fields.report("weekdays", Problem("", RepeatMessage.weekdaysUnused, ["unit": unit.rawValue]))
    }
    return weekdays
  }

  /// A list of days, which months without one of them leave out; empty if `day` is not a list.
  private static func readDays(_ fields: JSONFields, _ unit: Unit?) -> [Int] {
    guard unit == .month, let list = fields.value("day")?.array else { return [] }
    let days = list.compactMap { $0.integer.flatMap { Int(exactly: $0) } }
    guard Set(days).count == list.count, !days.isEmpty, days.allSatisfy((1...31).contains) else {
      fields.report("day", Problem("", RepeatMessage.days))
      return [1, 2]
    }
    return days.sorted()
  }

  /// 1…31, or `last`, which is 31.
  private static func readDay(_ fields: JSONFields, _ unit: Unit?) -> Int? {
    let value = fields.value("day")
    let isGiven = value != nil
    // A list is right for months alone, where it is read before.
    let day = value == "last" ? 31 : value?.array != nil ? 1 : fields.integer("day", in: 1...31)
    if unit == .month, !isGiven { fields.report("day", Problem("", RepeatMessage.dayMissing)) }
    if let unit, unit != .month, isGiven, day != nil {
      fields.report("day", Problem("", RepeatMessage.dayUnused, ["unit": unit.rawValue]))
    }
    return day
  }

  package var json: JSONValue {
    var members: [String: JSONValue] = ["at": .string(time), "time_zone": .string(zone.name)]
    switch days {
    case .daily: members["every"] = "day"
    case .weekly(let weekdays):
      members["every"] = "week"
      members["weekdays"] = .array(weekdays.map { .string($0.rawValue) })
    case .monthly(let day):
      members["every"] = "month"
      members["day"] = .integer(Int64(day))
    case .monthlyOn(let days):
      members["every"] = "month"
      members["day"] = .array(days.map { .integer(Int64($0)) })
    }
    if interval != 1 { members["interval"] = .integer(Int64(interval)) }
    if let until { members["until"] = .string(Timestamp.text(until)) }
    if let count { members["count"] = .integer(Int64(count)) }
    return .object(members)
  }
}

extension Problem {
  package init(_ error: NamedZoneError) {
    let shown = error.name.abbreviated(to: 40)
    if let suggestion = error.suggestion {
      let message: RepeatMessage = error.isOffset ? .zoneOffset : .zoneSimilar
      self.init("", message, ["value": shown, "suggestion": suggestion])
    } else {
      self.init("", RepeatMessage.zone, ["value": shown])
    }
  }
}

package enum RepeatMessage: String, MessageSet {
  case zone = "repeat.zone"
  case zoneSimilar = "repeat.zone_similar"
  case zoneOffset = "repeat.zone_offset"
  case time = "repeat.time"
  case weekdaysMissing = "repeat.weekdays_missing"
  case weekdaysUnused = "repeat.weekdays_unused"
  case dayMissing = "repeat.day_missing"
  case dayUnused = "repeat.day_unused"
  case days = "repeat.days"
  case speedTwice = "options.speed_twice"

  package var english: String {
    switch self {
    case .zone: "“{value}” is not a time zone. Use an IANA name, e.g. Europe/Berlin, or UTC."
    case .zoneSimilar: "“{value}” is not a time zone. Did you mean “{suggestion}”?"
    case .zoneOffset:
      """
      “{value}” is a distance from UTC, not a time zone. Use the IANA name of a place, e.g. Europe/Berlin, or \
      “{suggestion}”, which is always that far from UTC.
      """
    case .time: "Must be a time of day from 00:00 to 23:59, e.g. 09:00, not “{value}”."
    case .weekdaysMissing: "Choose at least one weekday: {weekdays}."
    case .weekdaysUnused: "Weekdays apply only to “every week”, but this repeats every {unit}. Leave them out."
    case .dayMissing: "Choose a day of the month from 1 to 31. Shorter months use their last day."
    case .dayUnused: "A day of the month applies only to “every month”, but this repeats every {unit}. Leave it out."
    case .days: "A list of days must contain different numbers from 1 to 31. Months without one of the days skip it."
    case .speedTwice: "Choose either a limit per second (rate) or a spread over time (spread_minutes), not both."
    }
  }
}
