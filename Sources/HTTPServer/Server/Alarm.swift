import Reactor
import Synchronization

/// Gathers warnings: the first is told at once, what follows once a minute with its numbers.
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

  /// A newcomer found no place.
  ///
  /// - Parameter gaveWay: whether an idle connection was closed for it; otherwise it was turned away.
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
