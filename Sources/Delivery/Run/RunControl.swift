import Synchronization

/// What people want of a push that is under way.
final class RunControl: Sendable {
  enum Order: Sendable {
    case go
    /// Hand out nothing more, and end when what is under way has come back.
    case pause
    /// The same, and what waits has its outcome now.
    case cancel
  }

  private struct State {
    var order = Order.go
    var isStopping = false
    var isInterrupted = false
  }

  let inbox = Inbox()
  private let state: Mutex<State>

  init(isStopping: Bool) { state = Mutex(State(isStopping: isStopping)) }

  var order: Order { state.withLock { $0.order } }
  /// The process ends: do not sit and wait for a time that is far off.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func give(_ order: Order) {
    state.withLock { $0.order = order }
    inbox.nudge()
  }

  /// The process has no more time: hand out nothing more.
  var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  func interrupt() {
    state.withLock { state in
      state.isStopping = true
      state.isInterrupted = true
    }
    inbox.nudge()
  }

  func stop() {
    state.withLock { $0.isStopping = true }
    inbox.nudge()
  }
}
