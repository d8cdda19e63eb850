package import Model
internal import SQLite

/// What a list of devices is narrowed down to; nil: not by this.
package struct DeviceFilter: Sendable, Hashable {
  /// Devices of this app.
  package var app: Int64?
  /// Devices of this environment.
  package var environment: Environment?
  /// Devices of this platform.
  package var platform: Platform?
  /// Devices in this state.
  package var state: DeviceState?
  /// Devices with the tag of exactly this name.
  package var tag: String?
  /// Devices of exactly this user.
  package var alias: String?
  /// Devices whose token is this, or begins so.
  package var tokenPrefix: [UInt8]?
  /// The device with exactly this registration id.
  package var registrationID: String?

  /// All devices.
  package init(app: Int64? = nil) { self.app = app }
}

/// Conditions on `devices d`, joined by AND.
struct DeviceCondition {
  private(set) var sql = ""
  private(set) var arguments: [SQLiteValue] = []

  mutating func add(_ condition: String, _ values: [SQLiteValue] = []) {
    sql += sql.isEmpty ? condition : " AND " + condition
    arguments += values
  }

  mutating func add(_ column: String, in values: [SQLiteValue]) {
    add("d.\(column) IN \(placeholders(values.count))", values)
  }

  mutating func add(_ column: String, equals value: Int64?) {
    if let value { add("d.\(column) = ?", [.integer(value)]) }
  }

  /// With any of these tags, or, negated, with none of them.
  mutating func addTags(_ ids: [Int64], negated: Bool = false) {
    add(
      """
      \(negated ? "NOT " : "")EXISTS
      (SELECT 1 FROM device_tags x WHERE x.tag_id IN \(placeholders(ids.count)) AND x.device_id = d.id)
      """, ids.map { .integer($0) })
  }
}
