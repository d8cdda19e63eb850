package import Foundation

/// A fixed speed in devices per second, as a token bucket.
///
/// The bucket holds a twentieth of a second's worth: any period lets through no more than rate × time plus that. Times
/// are in steady seconds.
package struct Pace: Sendable, Hashable {
  /// Devices per second.
  package let rate: Double
  private var tokens: Double
  private var last: TimeInterval

  /// Starts with one device's worth.
  ///
  /// - Precondition: `rate` is above 0; it may be below 1.
  package init(rate: Double, now: TimeInterval) {
    precondition(rate > 0, "a rate is above 0")
    self.rate = rate
    tokens = 1
    last = now
  }

  private var room: Double { max(1, rate / 20) }

  /// Takes up to `wanted` devices.
  package mutating func take(atMost wanted: Int, now: TimeInterval) -> Int {
    // A time before the last one adds nothing, and blocks nothing.
    tokens = min(room, tokens + max(0, now - last) * rate)
    last = now
    // Sums of floating-point seconds can end slightly below a whole number. A device taken too early is owed, so the
    // rate holds.
    let taken = max(0, min(wanted, Int(tokens + 0.01)))
    tokens -= Double(taken)
    return taken
  }

  /// Returns devices that were taken but not sent.
  package mutating func giveBack(_ count: Int) { tokens = min(room, tokens + Double(count)) }

  /// The time at which the bucket is full.
  package var next: TimeInterval { last + max(0, room - tokens) / rate }
}
