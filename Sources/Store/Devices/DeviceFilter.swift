package import Model
internal import SQLite

/// The filter of a device list; nil: any.
package struct DeviceFilter: Sendable, Hashable {
  package var app: Int64?
  package var environment: Environment?
  package var platform: Platform?
  /// The service that reaches it.
  package var provider: ProviderKind?
  package var state: DeviceState?
  /// Exact name.
  package var tag: String?
  /// Exact alias.
  package var alias: String?
  /// A token or its prefix.
  package var tokenPrefix: [UInt8]?
  /// Exact registration ID.
  package var registrationID: String?
  /// The beginning of the name; ASCII case is ignored.
  package var namePrefix: String?
  /// A part of the name; ASCII case is ignored. Not every name is looked at where there are very many.
  package var namePart: String?

  package init(app: Int64? = nil) { self.app = app }

  /// Whether nothing but app, environment, platform, service and state is asked for.
  var isByKind: Bool {
    tokenPrefix == nil && namePrefix == nil && namePart == nil && registrationID == nil && alias == nil && tag == nil
  }
}

struct DeviceCondition: Sendable, Hashable {
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

  /// Any of these tags or, negated, none of them.
  mutating func addTags(_ ids: [Int64], negated: Bool = false) {
    add(
      """
      \(negated ? "NOT " : "")EXISTS
      (SELECT 1 FROM device_tags x WHERE x.tag_id IN \(placeholders(ids.count)) AND x.device_id = d.id)
      """, ids.map { .integer($0) })
  }
}
