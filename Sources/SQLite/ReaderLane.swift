internal import CSQLite
internal import Dispatch
internal import Synchronization

/// Some readers, and a first-in-first-out queue of callers that wait for one.
final class ReaderLane: Sendable {
  private struct State {
    var idle: [Connection]
    var waiting: [@Sendable (Connection) -> Void] = []
  }

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

  /// Calls `use` with a reader as soon as one is free.
  func take(_ use: @escaping @Sendable (Connection) -> Void) {
    let reader = state.withLock { state in
      let reader = state.idle.popLast()
      if reader == nil { state.waiting.append(use) }
      return reader
    }
    if let reader { use(reader) }
  }

  func takeIdle() -> Connection? { state.withLock { $0.idle.popLast() } }

  /// ``take(_:)`` for a thread that may block.
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

  /// Hands a reader to the caller that waits longest.
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

/// A database and the serial queue that owns it.
///
/// @unchecked Sendable because `database` is accessed only on `queue`, one closure at a time.
final class Connection: @unchecked Sendable {
  private let queue: DispatchQueue
  private let database: Database

  init(path: String, mode: Database.Mode, label: String) throws(SQLiteError) {
    database = try Database(path: path, mode: mode)
    queue = DispatchQueue(label: label)
  }

  func sync<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try queue.sync { try body(database) }
  }

  func async(_ body: @escaping @Sendable (Database) -> Void) {
    queue.async { [self] in body(database) }
  }
}

/// Stops a query whose task was cancelled, or whose time is up.
final class Interruption: Sendable {
  private let cancelled = Atomic(false)
  private let deadline: ContinuousClock.Instant?

  init(limit: Duration?) { deadline = limit.map { .now + $0 } }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  private var isDue: Bool {
    if isCancelled { return true }
    guard let deadline else { return false }
    return ContinuousClock.now >= deadline
  }

  /// Runs `body` on a connection and can stop it. Inside the transaction: its end must not be stopped.
  func watch<Result>(_ database: Database, _ body: () throws -> Result) throws -> Result {
    let connection = try database.connection()
    // Every 10 000 steps of the virtual machine: about a millisecond.
    sqlite3_progress_handler(
      connection, 10_000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().isDue ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { sqlite3_progress_handler(connection, 0, nil, nil) }
    do {
      if isCancelled { throw CancellationError() }
      return try withExtendedLifetime(self) { try body() }
    } catch let error as SQLiteError where error.code == .interrupt {
      if isCancelled { throw CancellationError() }
      throw SQLiteError(error.extendedCode, "the query exceeded its time limit", sql: error.sql)
    }
  }
}

extension Database {
  /// Runs `body`, and interrupts its queries when the time is over. Inside the transaction: SQLite counts the steps of a
  /// statement over all its runs, so that a rollback would be interrupted now and then, and the transaction stay open.
  ///
  /// - Throws: what `body` throws; `SQLiteError.Code.interrupt`.
  func within<Result>(_ time: Duration, _ body: () throws -> Result) throws -> Result {
    var deadline = ContinuousClock.now + time
    let connection = try connection()
    defer { sqlite3_progress_handler(connection, 0, nil, nil) }
    return try withUnsafeMutablePointer(to: &deadline) { deadline in
      // Every 200 steps of the virtual machine: about 20 microseconds, if all pages are in memory.
      sqlite3_progress_handler(
        connection, 200,
        { context in
          guard let deadline = context?.assumingMemoryBound(to: ContinuousClock.Instant.self) else { return 0 }
          return ContinuousClock.now >= deadline.pointee ? 1 : 0
        }, deadline)
      return try body()
    }
  }
}
