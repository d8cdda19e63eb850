import Calendar
import Foundation
import JSON
import Model

/// The time, recurrence and speed fields, in the selected time zone.
extension SendForm {
  /// The text fields.
  static let timeTexts = ["send_at", "interval", "at", "starts", "until", "count", "rate", "spread_minutes"]
  /// All of these fields.
  static let timeFields = timeTexts + ["when", "time_zone", "every", "weekdays", "day", "speed", "at_most_once"]

  /// The time zone of the form's times; UTC if none is selected.
  ///
  /// - Throws: a problem with the zone's name.
  func zone() throws(Problem) -> NamedZone {
    if form["time_zone"].isEmpty { return .utc }
    do { return try NamedZone(form["time_zone"]) } catch { throw Problem(error) }
  }

  /// Moves the form's values to their places in the API's JSON.
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
      // An invalid zone is already reported with the time.
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
    // Ignores the fields of unselected choices, as the audience does.
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

  /// A local time in the selected zone.
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
      // Reports a problem once. For a recurrence, the API's JSON reader reports it.
      if form["when"] != "repeat", !problems.contains(problem) { problems.append(problem) }
      return nil
    }
  }

  /// The form fields that produce a draft's time settings.
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
      case .monthlyOn(let days):
        // The form has one day: a person chooses again.
        add("every", "month")
        add("day", days.first.map(String.init))
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
  /// Parses `2026-12-01T09:00`, also with a space instead of `T` and with seconds; nil for anything else.
  static func parse(_ text: String) -> (day: CivilDate, second: Int)? {
    let text = text.replacing(" ", with: "T")
    let whole = text.utf8.count == 16 ? text + ":00Z" : text + "Z"
    guard let date = Timestamp.parse(whole) else { return nil }
    return NamedZone.utc.wall(date)
  }

  /// The local time in the zone; seconds only if they are not 0.
  static func text(_ date: Date, _ zone: NamedZone) -> String {
    let seconds = zone.wall(date).second % 60
    let text = zone.text(date).replacing(" ", with: "T")
    return seconds == 0 ? text : text + (seconds < 10 ? ":0\(seconds)" : ":\(seconds)")
  }
}
