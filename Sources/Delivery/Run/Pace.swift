package import Foundation

/// Fixed speed: so many devices a second, evenly.
///
/// A bucket that fills at the rate and holds a twentieth of a second's worth: in any stretch of time no more than
/// rate × time plus that is let through. Times are steady seconds.
package struct Pace: Sendable, Hashable {
  /// Devices a second.
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

  /// Takes as much as may be sent now, at most `wanted`.
  package mutating func take(atMost wanted: Int, now: TimeInterval) -> Int {
    // A time before the last gives nothing, and does not stop the flow either.
    tokens = min(room, tokens + max(0, now - last) * rate)
    last = now
    // Seconds are exact to a part of a microsecond: sums may end a hair below a whole number. What is taken too early
    // is owed, so that the rate holds.
    let taken = max(0, min(wanted, Int(tokens + 0.01)))
    tokens -= Double(taken)
    return taken
  }

  /// Gives back what was taken and not used.
  package mutating func giveBack(_ count: Int) { tokens = min(room, tokens + Double(count)) }

  /// When the bucket is full: the time to come again.
  package var next: TimeInterval { last + max(0, room - tokens) / rate }
}
