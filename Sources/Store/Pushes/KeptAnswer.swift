import Model
package import SQLite

/// What a push service answered to the request for a device, as it came. Kept where it says more than the delivery:
/// of failures, and of the first successes of a push.
package struct KeptAnswer: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// The most bytes of all fields, and of the body; more is cut off.
  package static let limit = 2048

  package let status: Int
  /// In their order, without cookies.
  package let fields: [Field]
  package let body: String

  package init(status: Int, fields: [Field], body: String) {
    self.status = status
    var left = Self.limit
    self.fields = fields.filter { $0.name != "set-cookie" }.prefix { field in
      left -= field.name.utf8.count + field.value.utf8.count + 3
      return left >= 0
    }
    // A character that was cut in two is shown as one that cannot be read.
    self.body = String(decoding: body.utf8.prefix(Self.limit), as: UTF8.self)
  }

  /// The first value of a field; nil: it did not come.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Whether it is the answer that a delivery tells of, and not one to an earlier attempt.
  package func isOf(_ delivery: Delivery) -> Bool {
    if delivery.status != 0 { return delivery.status == status }
    return delivery.reason.map { Reason.head($0) == OwnReason.unreadableAnswer.rawValue } ?? false
  }

  /// Status line, fields and body, as they are shown.
  package var text: String {
    (["HTTP/2 \(status)"] + fields.map { "\($0.name): \($0.value)" } + (body.isEmpty ? [] : ["", body]))
      .joined(separator: "\n")
  }

  /// `name: value`, a line each: HTTP allows no line break in a value.
  private var lines: String { fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }

  private init(_ row: borrowing Row, from column: Int) {
    status = row.int(column)
    fields = row.text(column + 1).split(separator: "\n").map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1].dropFirst()) : "")
    }
    body = row.text(column + 2)
  }

  /// Keeps answers by their devices' IDs; the last one counts.
  package static func keep(_ database: Database, _ answers: [Int64: KeptAnswer], push: Int64) throws {
    for (device, answer) in answers {
      try database.run(
        "INSERT OR REPLACE INTO delivery_answers(push_id, device_id, status, fields, body) VALUES (?, ?, ?, ?, ?)",
        push, device, answer.status, answer.lines, answer.body)
    }
  }

  /// The answer for a device; nil: it was not kept.
  package static func find(_ database: Database, push: Int64, device: Int64) throws -> KeptAnswer? {
    try database.fetchOne(
      "SELECT status, fields, body FROM delivery_answers WHERE push_id = ? AND device_id = ?", push, device
    ) { KeptAnswer($0, from: 0) }
  }

  /// The kept answers of a push for these devices.
  package static func all(_ database: Database, push: Int64, devices: [Int64]) throws -> [Int64: KeptAnswer] {
    var found: [Int64: KeptAnswer] = [:]
    for device in devices { found[device] = try find(database, push: push, device: device) }
    return found
  }
}
