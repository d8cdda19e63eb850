import Calendar
import JSON
import Model

/// The choices of the send form, with the selected ones marked.
extension SendForm {
  /// Days of the month; 31 means the last day of every month.
  private static let days = (1...31).map(String.init)

  static func choices(_ values: [(String, String)], chosen: [String]) -> [ChoiceView] {
    values.map { ChoiceView(value: $0.0, label: $0.1, isSelected: chosen.contains($0.0)) }
  }

  /// Those of a list whose values are their own labels. It saves 170 bytes of the compressed form.
  static func plain(_ values: [(String, String)], chosen: [String]) -> [ChoiceView] {
    choices(values, chosen: chosen).map { choice in
      var choice = choice
      // The value of an `option` without one is its text without white space at the ends.
      choice.isPlain = choice.label == choice.value && !choice.value.contains(where: \.isWhitespace)
      return choice
    }
  }

  private func chosen(_ name: String, usual: String) -> [String] { [form[name].isEmpty ? usual : form[name]] }

  func environments(_ texts: Texts, mayProduce: Bool = true) -> [ChoiceView] {
    Environment.allCases.map { environment in
      ChoiceView(
        value: environment.rawValue, label: environment.word(texts).capitalizedFirst,
        isSelected: form.all("environment").contains(environment.rawValue),
        isProduction: environment == .production, isDisabled: environment == .production && !mayProduce)
    }
  }

  private static let deviceKinds = ["device_token", "alias", "registration_id", "tag"]

  /// Those that choose devices.
  func deviceAudiences(_ texts: Texts) -> [ChoiceView] {
    Self.choices((Self.deviceKinds + ["all"]).map { ($0, texts("audience.kind.\($0)")) }, chosen: form.all("audience"))
  }

  /// - Parameter hasChannels: whether any app has broadcast channels; they are offered only then.
  func audiences(_ texts: Texts, hasChannels: Bool) -> [ChoiceView] {
    let isChosen = form.all("audience").contains("channel")
    let kinds =
      Self.deviceKinds + ["segment", "all", "topic", "condition"] + (hasChannels || isChosen ? ["channel"] : [])
    return Self.choices(kinds.map { ($0, texts("audience.kind.\($0)")) }, chosen: form.all("audience"))
  }

  func whens(_ texts: Texts) -> [ChoiceView] {
    Self.choices(["now", "at", "repeat"].map { ($0, texts("when.\($0)")) }, chosen: chosen("when", usual: "now"))
  }

  /// The button that asks for every time zone.
  static let allZones = "all_zones"

  /// Offered without asking: the whole list is a third of the page, and scripts have it from the browser.
  private static let usualZones = NamedZone.names.filter(usual.contains)
  private static let usual: Set = [
    "UTC", "Africa/Cairo", "Africa/Lagos", "America/Chicago", "America/Denver", "America/Los_Angeles",
    "America/New_York", "America/Sao_Paulo", "Asia/Dubai", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo",
    "Australia/Sydney", "Europe/Berlin", "Europe/London", "Europe/Moscow",
    // Which of its names is known depends on the system.
    "Asia/Calcutta", "Asia/Kolkata",
  ]

  func zones() -> [ChoiceView] {
    let zone = chosen("time_zone", usual: "UTC")
    let offered = form.has(Self.allZones) ? NamedZone.names : Self.usualZones
    // Keeps a rare, former or invalid zone name as it was submitted.
    let zones = (offered.contains(zone[0]) ? [] : zone) + offered
    return Self.plain(zones.map { ($0, $0.replacing("_", with: " ")) }, chosen: zone)
  }

  func intervals(_ texts: Texts) -> [ChoiceView] {
    Self.choices(["day", "week", "month"].map { ($0, texts("when.every_\($0)")) }, chosen: form.all("every"))
  }

  func weekdays(_ texts: Texts) -> [ChoiceView] {
    Self.choices(
      RepeatRule.Weekday.allCases.map { ($0.rawValue, texts("when.\($0.rawValue)")) }, chosen: form.all("weekdays"))
  }

  func days(_ texts: Texts) -> [ChoiceView] {
    Self.plain(Self.days.map { ($0, $0 == "31" ? texts("when.day_last") : $0) }, chosen: chosen("day", usual: "1"))
  }

  func speeds(_ texts: Texts) -> [ChoiceView] {
    Self.choices(
      ["fast", "rate", "spread"].map { ($0, texts("when.speed_\($0)")) }, chosen: chosen("speed", usual: "fast"))
  }
}
