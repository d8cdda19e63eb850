public import Foundation
public import Model

/// What became of a push on one device, as the engine tells it.
public struct DeliveryResult: Sendable, Hashable {
  /// The device.
  public var deviceID: Int64
  /// What it runs.
  public var platform: Platform
  /// What became of it.
  public var outcome: Outcome
  /// When that was known.
  public var at: Date
  /// From the request to the answer; 0 if nothing was asked.
  public var durationMilliseconds: Int
  /// How many times it was sent.
  public var attempts: Int

  /// Creates a result.
  public init(
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
