import Foundation
import Mustache
import Push

/// What the step “when and how” of the send form offers.
extension SendForm {
  /// The days of a month; the last of them is the last of every month.
  private static let days = (1...31).map(String.init)

  /// For the template: choices with what is chosen, and whether what is folded away is used.
  func timeChoices(_ texts: Texts) -> Value {
    let zone = form["time_zone"].isEmpty ? "UTC" : form["time_zone"]
    // A former name, or one that is none: it comes back as it was sent.
    let zones = (NamedZone.names.contains(zone) ? [] : [zone]) + NamedZone.names
    func chosen(_ name: String, _ usual: String) -> [String] { form[name].isEmpty ? [usual] : [form[name]] }
    return [
      "whens": .choices(["now", "at", "repeat"].map { ($0, texts("when.\($0)")) }, checked: chosen("when", "now")),
      "zones": .options(zones.map { ($0, $0.replacing("_", with: " ")) }, selected: zone),
      "zone_chosen": .bool(!form["time_zone"].isEmpty),
      "everys": .options(["day", "week", "month"].map { ($0, texts("when.every_\($0)")) }, selected: form["every"]),
      "weekdays": .choices(
        RepeatRule.Weekday.allCases.map { ($0.rawValue, texts("when.\($0.rawValue)")) },
        checked: form.all("weekdays")),
      "days": .options(
        Self.days.map { ($0, $0 == "31" ? texts("when.day_last") : $0) },
        selected: form["day"].isEmpty ? "1" : form["day"]),
      "speeds": .choices(
        ["fast", "rate", "spread"].map { ($0, texts("when.speed_\($0)")) }, checked: chosen("speed", "fast")),
      "at_most_once": .bool(form.has("at_most_once")),
    ]
  }
}
