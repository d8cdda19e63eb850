public import Push

/// How many devices an audience has.
public struct AudienceCount: Sendable, Hashable {
  /// What a device is counted as.
  public struct Kind: Sendable, Hashable {
    /// What it runs.
    public let platform: Platform
    /// Whether it can be sent to.
    public let state: DeviceState
  }

  /// Each kind that there is.
  public internal(set) var counts: [Kind: Int] = [:]

  /// Devices that a push would be sent to.
  public var reachable: Int { sum { $0.state == .active } }
  /// Devices of the audience that are quarantined or dead.
  public var unreachable: Int { sum { $0.state != .active } }
  /// All devices of the audience.
  public var total: Int { sum { _ in true } }

  /// Devices of a platform that a push would be sent to.
  public func reachable(_ platform: Platform) -> Int { sum { $0.platform == platform && $0.state == .active } }

  private func sum(_ isCounted: (Kind) -> Bool) -> Int {
    counts.reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 }
  }
}
