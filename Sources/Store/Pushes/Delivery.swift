package import Foundation
package import Model
internal import SQLite

/// What became of a push on one device, as it is kept. Its `apns-id` is `APNsID(seed: push.seed, device: deviceID)`.
package struct Delivery: Sendable, Hashable {
  /// The push's row id.
  package let pushID: Int64
  /// The device's row id.
  package let deviceID: Int64
  /// What became of it.
  package let outcome: OutcomeKind
  /// The provider's HTTP status; 0 without an answer.
  package let status: Int
  /// The provider's word or ours; nil for what was accepted.
  package let reason: String?
  /// When that was known.
  package let at: Date
  /// From the request to the answer.
  package let durationMilliseconds: Int
  /// How many times it was sent.
  package let attempts: Int

  static let columns = "x.push_id, x.device_id, x.outcome, x.status, r.text, x.at, x.duration_ms, x.attempts"
  static let columnCount = 8

  init(_ row: borrowing Row) throws {
    pushID = row.int64(0)
    deviceID = row.int64(1)
    outcome = try row.value(2, as: OutcomeKind.self)
    status = row.int(3)
    reason = row.optionalText(4)
    at = row.date(5)
    durationMilliseconds = row.int(6)
    attempts = row.int(7)
  }
}
