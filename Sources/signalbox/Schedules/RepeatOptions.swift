import Arguments
import JSON
import Model
import Text

/// The options of `send` for repeating pushes.
enum RepeatOptions {
  private static let every = Option<String?>("every", "unit", "Repeat the push every day, week, or month.")
  private static let interval = Option<Int?>(
    "interval", "number", "With --every: the interval, e.g. 2 for every second day, week, or month.",
    SendCommand.parseNumber)
  private static let weekdays = Option(
    repeated: "on", "weekday", "With --every week: mon, tue, wed, thu, fri, sat, or sun.")
  private static let day = Option<String?>(
    "day", "day", "With --every month: 1 to 31 or last. Shorter months use their last day.")
  private static let clock = Option<String?>("time", "hh:mm", "With --every: the time of day, e.g. 09:00.")
  private static let zone = Option<String?>(
    "time-zone", "name", "With --every: the time zone, e.g. Europe/Berlin (default: UTC).")
  private static let until = Option<String?>("until", "time", "With --every: the end. No run is later than this.")
  private static let count = Option<Int?>(
    "count", "number", "With --every: the number of runs.", SendCommand.parseNumber)

  static let parameters = [
    every.parameter, interval.parameter, weekdays.parameter, day.parameter, clock.parameter, zone.parameter,
    until.parameter, count.parameter,
  ]

  /// The options by the fields of the API.
  static let names = [
    "repeat": "--every", "repeat.every": "--every", "repeat.interval": "--interval", "repeat.weekdays": "--on",
    "repeat.day": "--day", "repeat.at": "--time", "repeat.time_zone": "--time-zone", "repeat.until": "--until",
    "repeat.count": "--count",
  ]

  /// The field `repeat` of `POST /api/v1/pushes`; nil without `--every`.
  static func rule(_ values: Parsed) throws -> JSONValue? {
    var rule: [String: JSONValue] = [:]
    for (name, text) in [("every", values[every]), ("at", values[clock]), ("until", values[until])] {
      if let text { rule[name] = .string(text) }
    }
    for (name, number) in [("interval", values[interval]), ("count", values[count])] {
      if let number { rule[name] = .number(number) }
    }
    if !values[weekdays].isEmpty { rule["weekdays"] = .array(values[weekdays].map { .string($0) }) }
    if let day = values[day] { rule["day"] = Int(day).map { .number($0) } ?? .string(day) }
    guard values[every] != nil else {
      guard rule.isEmpty, values[zone] == nil else {
        throw CommandFailure.usage(
          "--interval, --on, --day, --time, --time-zone, --until, and --count require --every day, week, or month.")
      }
      return nil
    }
    rule["time_zone"] = .string(values[zone] ?? "UTC")
    return .object(rule)
  }
}
