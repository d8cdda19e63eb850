package import Foundation
package import Store

/// When hosts are looked at: pure.
package enum HostSchedule {
  /// The time between two looks.
  package static let interval: TimeInterval = 6 * 3600
  /// The same while a host shows nothing: what was repaired should be seen soon.
  package static let retryInterval: TimeInterval = 3600

  /// When a host is to be looked at next: a tenth sooner or later than the interval says, so that those that were
  /// added together do not stay together. The same host at the same time gives the same answer.
  package static func next(_ host: WatchedHost) -> Date {
    guard let probedAt = host.probedAt else { return host.createdAt }
    let base = host.failure == nil ? interval : retryInterval
    var mixed = UInt64(bitPattern: host.id) &+ UInt64(bitPattern: Int64(probedAt.timeIntervalSince1970))
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    let share = Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
    return probedAt.addingTimeInterval(base * (0.9 + 0.2 * share))
  }

  /// Those whose time has come, the longest waiting first. A clock that was set back leaves nobody waiting for it.
  package static func due(_ hosts: [WatchedHost], now: Date) -> [WatchedHost] {
    hosts.filter { next($0) <= now || ($0.probedAt ?? now) > now.addingTimeInterval(60) }
      .sorted { ($0.probedAt ?? .distantPast, $0.id) < ($1.probedAt ?? .distantPast, $1.id) }
  }

  /// Those that were not looked at within a time.
  package static func olderThan(_ age: TimeInterval, _ hosts: [WatchedHost], now: Date) -> [WatchedHost] {
    hosts.filter { host in host.probedAt.map { abs(now.timeIntervalSince($0)) > age } ?? true }
  }
}
