import Synchronization

/// The orders of people and of the process for a running push.
final class RunControl: Sendable {
  enum Order: Sendable {
    case go
    /// Send nothing more, and end when everything in flight has returned.
    case pause
    /// Like pause; waiting devices also get their outcome.
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
  /// The process is shutting down: do not wait for a distant time.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func give(_ order: Order) {
    state.withLock { $0.order = order }
    inbox.nudge()
  }

  /// The process has no time left: send nothing more.
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
