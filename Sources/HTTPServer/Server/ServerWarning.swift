package import Reactor
import Synchronization

/// Warns the operator that clients are refused, or served only by closing idle connections.
package struct ServerWarning: Sendable {
  package enum Cause: Sendable {
    /// The server has reached its limit.
    case full
    /// One address (one /64 of IPv6) has reached its limit.
    case address(SocketAddress)
    /// The process or the machine is out of descriptors.
    case descriptors(SystemError)
  }

  /// Seconds, for `Retry-After`.
  static let retryAfter = "5"

  package let cause: Cause
  /// Idle connections closed for new ones since the last warning.
  package let gaveWay: Int
  /// New connections refused since the last warning.
  package let refused: Int
}

/// Collects warnings: the first is reported at once, the following once a minute with their numbers.
final class Alarm: Sendable {
  private struct State {
    var toldAt: UInt64?
    var gaveWay = 0
    var refused = 0
  }

  /// Nanoseconds.
  private static let pause: UInt64 = 60_000_000_000

  private let states = Mutex<[Int: State]>([:])
  private let tell: @Sendable (ServerWarning) -> Void

  init(_ tell: @escaping @Sendable (ServerWarning) -> Void) { self.tell = tell }

  /// Records that a new connection found no place.
  ///
  /// - Parameter gaveWay: whether an idle connection was closed for it; otherwise it was refused.
  func raise(_ cause: ServerWarning.Cause, gaveWay: Bool, at now: UInt64) {
    let warning = states.withLock { states -> ServerWarning? in
      var state = states[cause.kind] ?? State()
      if gaveWay { state.gaveWay += 1 } else { state.refused += 1 }
      defer { states[cause.kind] = state }
      if let toldAt = state.toldAt, now &- toldAt < Self.pause { return nil }
      defer { state = State(toldAt: now) }
      return ServerWarning(cause: cause, gaveWay: state.gaveWay, refused: state.refused)
    }
    if let warning { tell(warning) }
  }
}

extension ServerWarning.Cause {
  fileprivate var kind: Int {
    switch self {
    case .full: 0
    case .address: 1
    case .descriptors: 2
    }
  }
}
