import Calendar
import Foundation
import JSON
import Model

/// When, how often, and how fast: by the clocks of the zone that was chosen.
extension SendForm {
  /// The fields that are text.
  static let timeTexts = ["send_at", "interval", "at", "starts", "until", "count", "rate", "spread_minutes"]
  /// All of them.
  static let timeFields = timeTexts + ["when", "time_zone", "every", "weekdays", "day", "speed", "at_most_once"]

  /// The zone of the times in the form; UTC if none was chosen.
  ///
  /// - Throws: what is wrong with its name.
  func zone() throws(Problem) -> NamedZone {
    if form["time_zone"].isEmpty { return .utc }
    do { return try NamedZone(form["time_zone"]) } catch { throw Problem(error) }
  }

  /// Puts what was typed where the API's JSON has it.
  func readTime(
    _ members: inout [String: JSONValue], options: inout [String: JSONValue], _ problems: inout [Problem]
  ) {
    if form.has("at_most_once") { options["at_most_once"] = true }
    switch form["speed"] {
    case "rate": options["rate"] = number("rate", required: true, &problems)
    case "spread": options["spread_minutes"] = number("spread_minutes", required: true, &problems)
    default: break
    }
    switch form["when"] {
    case "at":
      if form["send_at"].isEmpty { problems.append(Problem("send_at", FieldMessage.required)) }
      members["send_at"] = moment("send_at", &problems)
      // One that is none was told with the time.
      if !form["time_zone"].isEmpty, let zone = try? zone() { members["time_zone"] = .string(zone.name) }
    case "repeat":
      members["send_at"] = moment("starts", &problems)
      members["repeat"] = .object(rule(&problems))
    default: break
    }
  }

  private func rule(_ problems: inout [Problem]) -> [String: JSONValue] {
    var rule: [String: JSONValue] = [:]
    rule["time_zone"] = .string(form["time_zone"].isEmpty ? "UTC" : form["time_zone"])
    for field in ["every", "at"] where !form[field].isEmpty { rule[field] = .string(form[field]) }
    // What belongs to another choice is not used, as with the kinds of audience.
    if form["every"] == "week" { rule["weekdays"] = .array(form.all("weekdays").map(JSONValue.string)) }
    if form["every"] == "month" { rule["day"] = number("day", &problems) }
    for field in ["interval", "count"] { rule[field] = number(field, &problems) }
    rule["until"] = moment("until", &problems)
    return rule
  }

  private func number(_ field: String, required: Bool = false, _ problems: inout [Problem]) -> JSONValue? {
    guard !form[field].isEmpty else {
      if required { problems.append(Problem(field, FieldMessage.required)) }
      return nil
    }
    if let number = Int64(form[field]), !form[field].hasPrefix("+") { return .integer(number) }
    problems.append(Self.noNumber(field, form[field]))
    return nil
  }

  static func noNumber(_ field: String, _ text: String) -> Problem {
    Problem(field, code: "form.number", "Enter a whole number, not “{value}”.", ["value": text])
  }

  /// A time as the chosen zone's clocks show it.
  private func moment(_ field: String, _ problems: inout [Problem]) -> JSONValue? {
    guard !form[field].isEmpty else { return nil }
    guard let (day, second) = LocalTime.parse(form[field]) else {
      problems.append(
        Problem(
          field, code: "form.local_time", "Enter a date and time, e.g. 2026-12-01 09:00, not “{value}”.",
          ["value": String(form[field].prefix(40))]))
      return nil
    }
    do {
      return .string(Timestamp.text(try zone().moment(day, second: second)))
    } catch {
      let problem = error.under("time_zone")
      // Once is enough; of what repeats, the reader of the API's JSON says it.
      if form["when"] != "repeat", !problems.contains(problem) { problems.append(problem) }
      return nil
    }
  }

  /// The fields of a form that a draft could have come from.
  static func timeFields(_ draft: PushDraft) -> [(String, String)] {
    var fields: [(String, String)] = []
    func add(_ name: String, _ value: String?) { if let value { fields.append((name, value)) } }
    let zone = draft.recurrence?.zone ?? draft.timeZone ?? .utc
    if let rule = draft.recurrence {
      add("when", "repeat")
      add("starts", draft.sendAt.map { LocalTime.text($0, zone) })
      add("at", rule.time)
      add("interval", rule.interval == 1 ? nil : String(rule.interval))
      add("until", rule.until.map { LocalTime.text($0, zone) })
      add("count", rule.count.map(String.init))
      switch rule.days {
      case .daily: add("every", "day")
      case .weekly(let weekdays):
        add("every", "week")
        for weekday in weekdays { add("weekdays", weekday.rawValue) }
      case .monthly(let day):
        add("every", "month")
        add("day", String(day))
      }
    } else {
      add("when", draft.sendAt == nil ? "now" : "at")
      add("send_at", draft.sendAt.map { LocalTime.text($0, zone) })
    }
    if draft.recurrence != nil || draft.sendAt != nil { add("time_zone", zone.name) }
    add("rate", draft.options.rate.map(String.init))
    add("spread_minutes", draft.options.spreadMinutes.map(String.init))
    add("speed", draft.options.rate != nil ? "rate" : draft.options.spreadMinutes != nil ? "spread" : "fast")
    if draft.options.atMostOnce { add("at_most_once", "1") }
    return fields
  }
}

/// A time without a zone, as `<input type="datetime-local">` sends it.
enum LocalTime {
  /// Reads `2026-12-01T09:00`, also with a blank and with seconds; nil for anything else.
  static func parse(_ text: String) -> (day: CivilDate, second: Int)? {
    let text = text.replacing(" ", with: "T")
    let whole = text.utf8.count == 16 ? text + ":00Z" : text + "Z"
    guard let date = Timestamp.parse(whole) else { return nil }
    return NamedZone.utc.wall(date)
  }

  /// As the zone's clocks show it; with seconds if there are any.
  static func text(_ date: Date, _ zone: NamedZone) -> String {
    let seconds = zone.wall(date).second % 60
    let text = zone.text(date).replacing(" ", with: "T")
    return seconds == 0 ? text : text + (seconds < 10 ? ":0\(seconds)" : ":\(seconds)")
  }
}
