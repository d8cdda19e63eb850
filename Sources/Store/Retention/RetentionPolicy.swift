package import Model
package import SQLite

/// How long what is kept for a time is kept, in days; 0: for ever. The audit is always kept.
///
/// What ends by itself has no setting: sessions, sign-in links and idempotency keys are cleared away when they have
/// ended.
package struct RetentionPolicy: Sendable, Hashable {
  /// What a push did on each device.
  package var deliveries = 90
  /// Pushes themselves, with their counts.
  package var pushes = 730
  /// What the simulator's phones received.
  package var phoneNotifications = 30
  /// Failed sign-ins of an account or an address, since the last of them.
  package var signInFailures = 30

  /// The most days that can be set: a hundred years.
  package static let limit = 36_500

  /// The values without a setting.
  package init() {}

  /// One setting.
  package struct Field: Sendable {
    /// As in forms, in the API, and in the database under `retention.`.
    package let name: String
    /// Where its value is.
    package let value: any WritableKeyPath<RetentionPolicy, Int> & Sendable
  }

  /// Every setting, in the order of the page.
  package static let fields = [
    Field(name: "deliveries_days", value: \.deliveries), Field(name: "pushes_days", value: \.pushes),
    Field(name: "phone_notifications_days", value: \.phoneNotifications),
    Field(name: "sign_in_failures_days", value: \.signInFailures),
  ]

  /// What was set.
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

  /// Keeps it.
  ///
  /// - Precondition: ``problems`` is empty.
  package func save(_ database: Database) throws {
    for field in Self.fields { try Setting.set(database, Self.key(field), String(self[keyPath: field.value])) }
  }

  private static func key(_ field: Field) -> String { "retention." + field.name }

  /// What is wrong with it.
  package var problems: [Problem] {
    var problems = Self.fields.compactMap { field in
      (0...Self.limit).contains(self[keyPath: field.value]) ? nil : Self.outOfRange(field.name)
    }
    let detailsOutlive = pushes != 0 && (deliveries == 0 || deliveries > pushes)
    if problems.isEmpty, detailsOutlive {
      problems.append(
        Problem(
          "pushes_days", code: "retention.order",
          "Pushes must be kept at least as long as their per-device results. Enter {days} days or more, or 0 to keep them forever.",
          ["days": deliveries == 0 ? "0" : String(deliveries)]))
    }
    return problems
  }

  /// The problem of a number that none of the fields takes.
  package static func outOfRange(_ field: String) -> Problem {
    Problem(
      field, code: "retention.range", "Enter a whole number of days from 1 to {limit}, or 0 to keep data forever.",
      ["limit": String(limit)])
  }
}
