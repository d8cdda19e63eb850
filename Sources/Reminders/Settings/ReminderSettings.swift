import Certificates
package import Foundation
import JSON
internal import Model
package import SQLite
import Store

package struct ReminderSettings: Sendable, Hashable {
  /// Days before the end.
  package var ladder: ReminderLadder
  /// Hour of the day, 0 to 23, in ``zone``.
  package var hour: Int
  /// The time zone of the hour and of dates in messages.
  package var zone: TimeZone

  /// At eight in the morning, UTC.
  package static let usual = ReminderSettings(ladder: .usual, hour: 8, zone: .gmt)

  package init(ladder: ReminderLadder, hour: Int, zone: TimeZone) {
    self.ladder = ladder
    self.hour = min(max(hour, 0), 23)
    self.zone = zone
  }

  private static let key = "reminders"

  /// The stored settings, or the defaults.
  package static func load(_ database: Database) throws -> ReminderSettings {
    guard let text = try Setting.find(database, key) else { return usual }
    let json = try JSONValue(parsing: Data(text.utf8))
    let days = json["days"]?.array?.compactMap { $0.integer.map(Int.init) }
    return ReminderSettings(
      ladder: days.map(ReminderLadder.init) ?? .usual, hour: json["hour"]?.integer.map(Int.init) ?? usual.hour,
      zone: json["zone"]?.string.flatMap { TimeZone(identifier: $0) } ?? usual.zone)
  }

  package func save(_ database: Database) throws {
    let json: JSONValue = [
      "days": .array(ladder.days.map { .number($0) }), "hour": .number(hour), "zone": .string(zone.identifier),
    ]
    try Setting.set(database, Self.key, json.text())
  }
}
