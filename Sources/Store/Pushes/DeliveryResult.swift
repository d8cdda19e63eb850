package import Foundation
package import Model

/// What became of a push on one device, as the engine tells it.
package struct DeliveryResult: Sendable, Hashable {
  /// The device.
  package var deviceID: Int64
  /// What it runs.
  package var platform: Platform
  /// What became of it.
  package var outcome: Outcome
  /// When that was known.
  package var at: Date
  /// From the request to the answer; 0 if nothing was asked.
  package var durationMilliseconds: Int
  /// How many times it was sent.
  package var attempts: Int
  package init(
    deviceID: Int64, platform: Platform, outcome: Outcome, at: Date, durationMilliseconds: Int = 0, attempts: Int = 1
  ) {
    self.deviceID = deviceID
    self.platform = platform
    self.outcome = outcome
    self.at = at
    self.durationMilliseconds = durationMilliseconds
    self.attempts = attempts
  }
}
