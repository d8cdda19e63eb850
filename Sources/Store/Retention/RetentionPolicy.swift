package import JSON
package import Model
package import SQLite

/// Retention times in days; 0: forever. The activity log is kept, except failed sign-ins, which leave it after 90 days.
///
/// Sessions, sign-in links and idempotency keys have no setting: they are deleted after their end.
package struct RetentionPolicy: Sendable, Hashable {
  /// The deliveries of pushes.
  package var deliveries = 90
  /// Pushes with their counts.
  package var pushes = 730
  /// Notifications of simulated phones.
  package var phoneNotifications = 30
  /// Failed sign-ins of an account or address, since the last one.
  package var signInFailures = 30

  /// A hundred years.
  package static let limit = 36_500

  package init() {}

  package struct Field: Sendable {
    /// As in forms and the API, and in the database under `retention.`.
    package let name: String
    package let value: any WritableKeyPath<RetentionPolicy, Int> & Sendable
  }

  /// In the order of the page.
  package static let fields = [
    Field(name: "deliveries_days", value: \.deliveries), Field(name: "pushes_days", value: \.pushes),
    Field(name: "phone_notifications_days", value: \.phoneNotifications),
    Field(name: "sign_in_failures_days", value: \.signInFailures),
  ]

  package static func find(_ database: Database) throws -> RetentionPolicy {
    var policy = RetentionPolicy()
    for field in fields {
      guard let text = try Setting.find(database, key(field)) else { continue }
      guard let days = Int(text), (0...limit).contains(days) else {
        throw StoreError.unreadable(column: "settings." + key(field), value: text)
      }
      policy[keyPath: field.value] = days
    }
    return policy
  }

  /// Stores it.
  ///
  /// - Precondition: ``problems`` is empty.
  package func save(_ database: Database) throws {
    for field in Self.fields { try Setting.set(database, Self.key(field), String(self[keyPath: field.value])) }
  }

  private static func key(_ field: Field) -> String { "retention." + field.name }

  package var problems: [Problem] {
    var problems = Self.fields.compactMap { field in
      (0...Self.limit).contains(self[keyPath: field.value]) ? nil : Self.outOfRange(field.name)
    }
    if problems.isEmpty, let problem = outlived { problems.append(problem) }
    return problems
  }

  /// The problem of results that would be kept longer than their pushes; nil if none would.
  private var outlived: Problem? {
    guard pushes != 0, deliveries == 0 || deliveries > pushes else { return nil }
    if deliveries == 0 {
      return Problem(
        "pushes_days", code: "retention.order_forever",
        "Per-device results are kept forever, so pushes must be, too. Enter 0 for pushes as well, or keep the results for 1 to {days} days.",
        ["days": String(pushes)])
    }
    return Problem(
      "pushes_days", code: "retention.order",
      "Pushes must be kept at least as long as their per-device results. Enter at least {days}, or 0 to keep them forever.",
      ["days": String(deliveries)])
  }

  /// The problem of an invalid number.
  package static func outOfRange(_ field: String) -> Problem {
    Problem(
      field, code: "retention.range", "Enter a whole number of days from 1 to {limit}, or 0 to keep data forever.",
      ["limit": String(limit)])
  }
}

package struct RetentionAnswer: JSONObject, Sendable {
  private let policy: RetentionPolicy
  private let due: Trim.Due?

  /// - Parameter due: what the policy would remove now; nil: counting took too long.
  package init(policy: RetentionPolicy, due: Trim.Due?) { (self.policy, self.due) = (policy, due) }

  package func writeMembers(to json: inout JSONWriter) {
    for field in RetentionPolicy.fields {
      json.key(dynamic: field.name)
      json.integer(Int64(policy[keyPath: field.value]))
    }
    guard let due else {
      json.key("due")
      return json.null()
    }
    json.object("due") { json in
      for kind in Trim.Kind.allCases {
        json.key(dynamic: kind.rawValue)
        json.integer(Int64(due[kind]))
      }
    }
  }
}
