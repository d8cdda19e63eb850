package import Foundation
package import Model

/// A device that a push is to be sent to again, with what came of the last attempt.
package struct WaitingDelivery: Sendable, Hashable {
  /// The device's row id.
  package var deviceID: Int64
  /// When to send again.
  package var dueAt: Date
  /// How many times it was sent; 0: it never left.
  package var attempts: Int
  /// When it was first tried.
  package var firstAt: Date
  /// What would have become of it if that had been the last attempt.
  package var last: Outcome

  /// Creates one.
  ///
  /// - Precondition: `last` is not `accepted`.
  package init(deviceID: Int64, dueAt: Date, attempts: Int, firstAt: Date, last: Outcome) {
    precondition(last != .accepted, "what was accepted does not wait")
    self.deviceID = deviceID
    self.dueAt = dueAt
    self.attempts = attempts
    self.firstAt = firstAt
    self.last = last
  }

  /// Stands for "on its way": a row that is not due, whatever the time.
  static let onItsWay = Int64.max
}
