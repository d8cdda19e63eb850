package import Foundation
package import Store

/// When hosts are checked.
package enum HostSchedule {
  /// Seconds between two checks.
  package static let interval: TimeInterval = 6 * 3600
  /// Seconds between checks of a failing host, so that a repair shows soon.
  package static let retryInterval: TimeInterval = 3600

  /// The next check: the interval plus or minus up to 10 %, so that hosts added together spread out. Deterministic for
  /// the same host and time.
  package static func next(_ host: WatchedHost) -> Date {
    guard let probedAt = host.probedAt else { return host.createdAt }
    let base = host.failure == nil ? interval : retryInterval
    var mixed = UInt64(bitPattern: host.id) &+ UInt64(bitPattern: Int64(probedAt.timeIntervalSince1970))
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    let share = Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
    return probedAt.addingTimeInterval(base * (0.9 + 0.2 * share))
  }

  /// Hosts that are due, the longest waiting first. A clock that was set back does not delay them.
  package static func due(_ hosts: [WatchedHost], now: Date) -> [WatchedHost] {
    hosts.filter { next($0) <= now || ($0.probedAt ?? now) > now.addingTimeInterval(60) }
      .sorted { ($0.probedAt ?? .distantPast, $0.id) < ($1.probedAt ?? .distantPast, $1.id) }
  }

  package static func olderThan(_ age: TimeInterval, _ hosts: [WatchedHost], now: Date) -> [WatchedHost] {
    hosts.filter { host in host.probedAt.map { abs(now.timeIntervalSince($0)) > age } ?? true }
  }
}
