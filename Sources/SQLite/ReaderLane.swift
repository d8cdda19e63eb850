internal import Dispatch
internal import Synchronization

/// Some readers, and those who wait for one of them, in the order in which they came.
final class ReaderLane: Sendable {
  private struct State {
    var idle: [Connection]
    var waiting: [@Sendable (Connection) -> Void] = []
  }

  /// How many readers there are.
  let count: Int
  private let state: Mutex<State>

  init(path: String, readers: Int, label: String) throws(SQLiteError) {
    var idle: [Connection] = []
    for number in 0..<readers {
      idle.append(try Connection(path: path, mode: .reader, label: "\(label).\(number)"))
    }
    count = readers
    state = Mutex(State(idle: idle))
  }

  /// Calls `use` with a reader, as soon as one is free.
  func take(_ use: @escaping @Sendable (Connection) -> Void) {
    let reader = state.withLock { state in
      let reader = state.idle.popLast()
      if reader == nil { state.waiting.append(use) }
      return reader
    }
    if let reader { use(reader) }
  }

  /// A reader, if one is free.
  func takeIdle() -> Connection? { state.withLock { $0.idle.popLast() } }

  /// ``take(_:)`` for a thread that may wait.
  func waitForOne() -> Connection {
    let found = Mutex<Connection?>(nil)
    let arrived = DispatchSemaphore(value: 0)
    take { reader in
      found.withLock { $0 = reader }
      arrived.signal()
    }
    arrived.wait()
    guard let reader = found.withLock({ $0 }) else { preconditionFailure("signalled without a reader") }
    return reader
  }

  /// Hands a reader to who waits longest.
  func give(back reader: Connection) {
    let next = state.withLock { state -> (@Sendable (Connection) -> Void)? in
      if state.waiting.isEmpty {
        state.idle.append(reader)
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?(reader)
  }
}
