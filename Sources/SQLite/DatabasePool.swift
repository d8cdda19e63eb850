internal import Dispatch
internal import Synchronization

/// A database file with one writer and some readers, each on its own queue, so that neither the cooperative pool nor an
/// event loop waits long for the disk.
///
/// Readers see the last commit and never wait for the writer (https://www.sqlite.org/wal.html). Calling a method of the
/// pool inside a closure that it runs deadlocks.
package final class DatabasePool: Sendable {
  /// The readers that a query uses.
  package enum Lane: Sendable {
    /// For queries that a person or client waits for.
    case requests
    /// For long series of queries, such as exports, which do not delay the other lane.
    case exports
  }

  /// How long a query may keep the thread of its caller, which may be an event loop.
  private static let patience = Duration.milliseconds(1)

  package let path: String
  private let writer: Connection
  private let requests: ReaderLane
  private let exports: ReaderLane
  private let isClosed = Mutex(false)
  let disk = Mutex(Disk())
  /// The files that were opened.
  let files: Mutex<OpenFiles>
  /// The address of the log's index; 0: none.
  let logIndex: Mutex<UInt>

  /// Opens a file, or creates it readable by its owner only.
  ///
  /// - Parameters:
  ///   - readers: concurrent queries, at least 1; exports have a reader of their own.
  ///   - isReplicated: whether another program replicates the file, and checkpoints its log.
  /// - Throws: `SQLiteError` if it cannot be opened, is no database, or is on a network file system.
  package init(path: String, readers: Int = 4, isReplicated: Bool = false) throws {
    precondition(readers > 0, "a pool without readers cannot answer")
    try FileSystem.prepare(path)
    self.path = path
    writer = try Connection(path: path, mode: isReplicated ? .replicated : .readWrite, label: "sqlite.writer")
    logIndex = Mutex(try writer.sync { try $0.logIndex() })
    files = Mutex(OpenFiles(path))
    requests = try ReaderLane(path: path, readers: readers, label: "sqlite.reader")
    exports = try ReaderLane(path: path, readers: 1, label: "sqlite.export")
  }

  private func readers(_ lane: Lane) -> ReaderLane {
    switch lane {
    case .requests: requests
    case .exports: exports
    }
  }

  /// Runs `body` in a transaction on the writer. If it throws, everything is rolled back.
  ///
  /// Completes even if the task is cancelled meanwhile.
  package func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      writer.async { database in
        let result = Swift.Result { try self.keepingFiles { try database.transaction { try body(database) } } }
        self.noteWrite(result)
        continuation.resume(with: result)
      }
    }
  }

  /// Runs `body` on a reader, in a transaction of its own: all its queries see the same state.
  ///
  /// First tries at once, on the calling thread, for at most ``patience``: most queries are over by then, and changing
  /// threads twice costs more CPU than they do. A query that takes longer is run again on a thread of its own, so `body`
  /// must have no effect but its result.
  ///
  /// - Parameters:
  ///   - limit: after it, the query ends with `SQLiteError.Code.interrupt`. Such queries are expected to be long, and
  ///     never run on the calling thread.
  ///   - lane: queries of one lane wait for each other in order.
  /// - Throws: what `body` throws; `CancellationError` if the task is cancelled.
  package func read<Result: Sendable>(
    limit: Duration? = nil, lane: Lane = .requests, _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    if limit == nil, lane == .requests, !Task.isCancelled, let result = try readAtOnce(body) { return result }
    let interruption = Interruption(limit: limit)
    let readers = readers(lane)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        readers.take { reader in
          reader.async { database in
            let result = Swift.Result {
              try database.snapshot { try interruption.watch(database) { try body(database) } }
            }
            readers.give(back: reader)
            self.noteRead(result)
            continuation.resume(with: result)
          }
        }
      }
    } onCancel: {
      interruption.cancel()
    }
  }

  /// Runs `body` on the calling thread with an idle reader, for at most ``patience``.
  ///
  /// - Returns: nil if all readers are busy, or if the time was too short.
  private func readAtOnce<Result>(_ body: (Database) throws -> Result) throws -> Result? {
    guard let reader = requests.takeIdle() else { return nil }
    defer { requests.give(back: reader) }
    do {
      return try reader.sync { database in
        try database.snapshot { try database.within(Self.patience) { try body(database) } }
      }
    } catch let error as SQLiteError where error.code == .interrupt {
      return nil
    } catch {
      noteRead(Swift.Result<Result, any Error>.failure(error))
      throw error
    }
  }

  /// ``write(_:)`` for a thread that may block.
  package func writeSync<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let result = Swift.Result {
      try writer.sync { database in try keepingFiles { try database.transaction { try body(database) } } }
    }
    noteWrite(result)
    return try result.get()
  }

  /// ``read(limit:_:)`` for a thread that may block.
  package func readSync<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let reader = requests.waitForOne()
    defer { requests.give(back: reader) }
    return try reader.sync { database in try database.snapshot { try body(database) } }
  }

  /// Brings the schema up to date.
  ///
  /// - Throws: `MigrationError`.
  package func migrate(_ migrator: Migrator, at time: Int64) throws {
    try writer.sync { database in try migrator.migrate(database, at: time) }
  }

  /// Checkpoints the write-ahead log.
  ///
  /// - Parameter waiting: whether to wait for readers, so that the log is truncated.
  @discardableResult
  package func checkpoint(waiting: Bool = false) throws -> Database.Checkpoint {
    try writer.sync { database in try database.checkpoint(waiting: waiting) }
  }

  /// Checkpoints and truncates the write-ahead log unless there are readers; blocks no one.
  @discardableResult
  package func emptyLogIfIdle() async throws -> Database.Checkpoint {
    try await withCheckedThrowingContinuation { continuation in
      writer.async { database in continuation.resume(with: Swift.Result { try database.emptyLogIfIdle() }) }
    }
  }

  /// Rewrites the whole file; see ``Database/vacuum()``. For a file without other users.
  package func vacuum() throws { try writer.sync { try $0.vacuum() } }

  /// Waits for running work, checkpoints the log and closes the file. Idempotent.
  package func close() {
    let first = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    guard first else { return }
    logIndex.withLock { $0 = 0 }
    // The last connection removes the log.
    files.withLock { $0 = OpenFiles() }
    let lanes = [requests, exports].map { lane in (lane, (0..<lane.count).map { _ in lane.waitForOne() }) }
    // An error while closing a reader has no consequence.
    for reader in lanes.flatMap(\.1) { try? reader.sync { $0.close() } }
    // The last connection checkpoints by itself, but does not report a failure; the log is then kept, and the next
    // start reads it.
    try? writer.sync { database in
      defer { database.close() }
      try database.checkpoint(waiting: true)
    }
    // Later and waiting callers get an error that the database is closed.
    for (lane, readers) in lanes {
      for reader in readers { lane.give(back: reader) }
    }
  }
}
