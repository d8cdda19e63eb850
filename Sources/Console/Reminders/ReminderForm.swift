import Certificates
import Foundation
import JSON
import Model
import Reminders

/// Reminder settings from the form or the API, validated.
struct ReminderForm: Sendable {
  /// Nil: the text is not a list of whole numbers.
  var days: [Int]?
  var hour: Int
  var zone: String

  /// The settings to store.
  ///
  /// - Throws: all problems, each at its field.
  func settings() throws(Problems) -> ReminderSettings {
    var problems: [Problem] = []
    let known = days ?? []
    if known.isEmpty || known.contains(where: { !(0...ReminderLadder.longest).contains($0) }) {
      problems.append(
        Problem(
          "days", code: "reminders.days", "Enter whole numbers from 0 to {limit}.",
          ["limit": String(ReminderLadder.longest)]))
    } else if !known.contains(ReminderLadder.promised.rawValue) {
      problems.append(
        Problem(
          "days", code: "reminders.promise",
          "30 must be included, because the 30-day reminder cannot be turned off."))
    }
    if !(0...23).contains(hour) {
      problems.append(Problem("hour", code: "reminders.hour", "The hour must be a number from 0 to 23."))
    }
    let place = TimeZone(identifier: zone)
    if place == nil {
      problems.append(
        Problem(
          "zone", code: "reminders.zone", "Unknown time zone. Use an IANA name, e.g. Europe/Berlin, or UTC."))
    }
    guard problems.isEmpty, let place else { throw Problems(problems) }
    return ReminderSettings(ladder: ReminderLadder(days: known), hour: hour, zone: place)
  }
}

extension ReminderSettings {
  /// Foundation calls UTC “GMT”.
  var zoneName: String { zone.identifier == "GMT" ? "UTC" : zone.identifier }

  var revision: Revision { Revision(json.text()) }

  /// For the activity log.
  var json: JSONValue {
    ["days": .array(ladder.days.map { .number($0) }), "hour": .number(hour), "zone": .string(zoneName)]
  }
}
