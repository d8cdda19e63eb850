import Calendar
package import JSON
package import Model
package import SQLite
import Text

/// What is known of an installation beyond its address: for segments, topics, and pushes in several languages.
package struct DeviceDetails: Sendable, Hashable {
  /// Such as `2.4.1`.
  package var appVersion: String?
  /// Such as `Asia/Shanghai`.
  package var timeZone: String?
  /// As the app reported it, such as `zh-Hans` or `zh_CN`.
  package var language: String?

  /// Characters of each.
  package static let limit = 64
  /// In the API and in files.
  package static let names = ["app_version", "time_zone", "language"]

  package init(appVersion: String? = nil, timeZone: String? = nil, language: String? = nil) {
    (self.appVersion, self.timeZone, self.language) = (appVersion, timeZone, language)
  }

  /// Empty for a device of which nothing was told.
  package static func find(_ database: Database, device: Int64) throws -> DeviceDetails {
    try database.withStatement(query) { try find($0, device: device) }
  }

  static let query = "SELECT app_version, time_zone, language FROM device_details WHERE device_id = ?1"

  /// - Parameter statement: of ``query``.
  static func find(_ statement: borrowing Statement, device: Int64) throws -> DeviceDetails {
    try statement.bind(1, device)
    guard try statement.step() else { return DeviceDetails() }
    defer { statement.reset() }
    let row = statement.row
    return DeviceDetails(appVersion: row.optionalText(0), timeZone: row.optionalText(1), language: row.optionalText(2))
  }

  /// What another device lacks.
  func missing(in other: DeviceDetails) -> DeviceDetails {
    DeviceDetails(
      appVersion: other.appVersion == nil ? appVersion : nil, timeZone: other.timeZone == nil ? timeZone : nil,
      language: other.language == nil ? language : nil)
  }

  /// Which of them change.
  package struct Changes: Sendable, Hashable {
    package var appVersion: Change<String?> = .keep
    package var timeZone: Change<String?> = .keep
    package var language: Change<String?> = .keep

    package init() {}

    /// What is given; the rest stays.
    package init(_ details: DeviceDetails) {
      if let version = details.appVersion { appVersion = .set(version) }
      if let zone = details.timeZone { timeZone = .set(zone) }
      if let tag = details.language { language = .set(tag) }
    }

    /// Reads the three members; `null` removes one. Problems are reported to the fields.
    package init(_ fields: JSONFields, _ json: JSONValue) {
      let limit = TextLimit.characters(DeviceDetails.limit)
      appVersion = fields.change("app_version", json, limit: limit)
      timeZone = fields.change("time_zone", json, limit: limit) { DeviceDetails.problem(withTimeZone: $0) }
      language = fields.change("language", json, limit: limit) { DeviceDetails.problem(withLanguage: $0) }
    }

    func save(_ database: Database, device: Int64) throws {
      if case (.keep, .keep, .keep) = (appVersion, timeZone, language) { return }
      func given(_ change: Change<String?>) -> (isGiven: Bool, text: String?) {
        if case .set(let text) = change { (true, text) } else { (false, nil) }
      }
      let (version, zone, tag) = (given(appVersion), given(timeZone), given(language))
      try database.run(
        """
        INSERT INTO device_details(device_id, app_version, time_zone, language) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT(device_id) DO UPDATE SET app_version = iif(?5, excluded.app_version, app_version),
          time_zone = iif(?6, excluded.time_zone, time_zone), language = iif(?7, excluded.language, language)
        """, device, version.text, zone.text, tag.text, version.isGiven, zone.isGiven, tag.isGiven)
    }
  }

  /// Nil: a name of the IANA database, or an offset as phones report it that know no place, such as `GMT+8`.
  package static func problem(withTimeZone text: String) -> Problem? {
    // First, because an unknown name is compared with all zones.
    if isOffset(text.utf8) { return nil }
    do throws(NamedZoneError) {
      _ = try NamedZone(text)
      return nil
    } catch {
      return Problem(error)
    }
  }

  /// `GMT`, or with hours, and minutes with or without a colon. By hand: making a `Regex` takes longer than the rest of
  /// a device.
  private static func isOffset(_ text: String.UTF8View) -> Bool {
    guard text.starts(with: "GMT".utf8) || text.starts(with: "UTC".utf8) else { return false }
    guard let sign = text.dropFirst(3).first else { return true }
    let parts = text.dropFirst(4).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), parts.allSatisfy({ $0.allSatisfy(ASCII.isDigit) })
    else { return false }
    return switch parts.count {
    case 1: (1...4).contains(parts[0].count)
    case 2: (1...2).contains(parts[0].count) && parts[1].count == 2
    default: false
    }
  }

  /// Nil: a language as devices report it, such as `de`, `pt_BR`, or `zh-Hans-CN`.
  package static func problem(withLanguage text: String) -> Problem? {
    LanguageTag(reported: text) == nil ? Problem("", LocalizationMessage.tag, ["value": text]) : nil
  }
}
