import Foundation
import Model

/// Why the simulated APNs does not take a request: what the answer says.
struct APNsRejection: Error, Sendable, Hashable {
  /// The HTTP status.
  var status: Int
  /// Apple's code, as `BadDeviceToken`.
  var reason: String
  /// The `apns-id` of the answer. The judge always sets it, given or made: clients hang without one
  /// (docs/protocols.md §1.7).
  var apnsID: String?
  /// Since when the token is dead; only with status 410. The answer writes it in milliseconds.
  var timestamp: Date?
  /// Whether the connection ends after the answer. No reason that a judge of single requests gives does that: Apple
  /// names a GOAWAY for what happens to the connection itself (`IdleTimeout`, `Shutdown`).
  var closesConnection: Bool

  /// - Parameters:
  ///   - reason: a code of APNs in ``Reason/table``, which also gives the status.
  ///   - status: for a code that is not in the table; otherwise 400.
  init(
    _ reason: String, status: Int? = nil, apnsID: String? = nil, timestamp: Date? = nil,
    closesConnection: Bool = false
  ) {
    self.status = status ?? Reason.of(reason).status ?? 400
    self.reason = reason
    self.apnsID = apnsID
    self.timestamp = timestamp
    self.closesConnection = closesConnection
  }
}
