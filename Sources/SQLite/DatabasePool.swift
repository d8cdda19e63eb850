internal import Dispatch
internal import Synchronization

/// A database file: one writer, some readers, each on a queue of its own, so that no thread of the cooperative pool
/// and no event loop ever waits for the disk.
///
/// Readers see the last commit and never wait for the writer (https://www.sqlite.org/wal.html). Don't call a method of
/// the pool inside a closure that it runs: `writeSync` inside `writeSync` waits for itself.
package final class DatabasePool: Sendable {
  /// Which readers a query uses.
  package enum Lane: Sendable {
    /// For what somebody waits for.
    case requests
    /// For long rows of queries, as exports make them: however many there are, those of the other lane do not wait.
    case exports
  }

  /// The file.
  package let path: String
  private let writer: Connection
  private let requests: ReaderLane
  private let exports: ReaderLane
  private let isClosed = Mutex(false)
  let disk = Mutex(Disk())
  /// Where the index of the log lies; 0: nowhere.
  let logIndex: Mutex<UInt>

  /// Opens a file, or creates it (readable by its owner alone).
  ///
  /// - Parameter readers: how many queries may run at the same time, at least 1; exports have one of their own.
  /// - Throws: `SQLiteError` if it cannot be opened, is no database, or lies on a network file system.
  package init(path: String, readers: Int = 4) throws {
    precondition(readers > 0, "a pool without readers cannot answer")
    try FileSystem.prepare(path)
    self.path = path
    writer = try Connection(path: path, mode: .readWrite, label: "sqlite.writer")
    logIndex = Mutex(try writer.sync { try $0.logIndex() })
    requests = try ReaderLane(path: path, readers: readers, label: "sqlite.reader")
    exports = try ReaderLane(path: path, readers: 1, label: "sqlite.export")
  }

  private func readers(_ lane: Lane) -> ReaderLane {
    switch lane {
    case .requests: requests
    case .exports: exports
    }
  }

  /// Runs `body` in a transaction on the writer: all of it is kept, or, if it throws, nothing.
  ///
  /// What was handed over is done, also when the task is cancelled meanwhile.
  package func write<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      writer.async { database in
        let result = Swift.Result { try database.transaction { try body(database) } }
        self.noteWrite(result)
        continuation.resume(with: result)
      }
    }
  }

  /// Runs `body` on a reader, in a transaction of its own: all its queries see the same state.
  ///
  /// - Parameters:
  ///   - limit: how long it may take; then it ends with `SQLiteError.Code.interrupt`.
  ///   - lane: queries of one lane wait for each other in the order in which they came.
  /// - Throws: what `body` throws; `CancellationError` if the task is cancelled.
  package func read<Result: Sendable>(
    limit: Duration? = nil, lane: Lane = .requests, _ body: @escaping @Sendable (Database) throws -> Result
  ) async throws -> Result {
    let interruption = Interruption(limit: limit)
    let readers = readers(lane)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        readers.take { reader in
          reader.async { database in
            let result = Swift.Result {
              try interruption.watch(database) { try database.snapshot { try body(database) } }
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

  /// Runs `body` at once, on the thread that calls, with a reader that has nothing to do.
  ///
  /// For a row that is found by its key: a few pages, nearly always in memory. Handing it to another thread and back
  /// costs more than reading it. Whatever walks over rows waits elsewhere: see ``read(limit:lane:_:)``.
  ///
  /// - Returns: nil if all readers are busy.
  package func readAtOnce<Result>(_ body: (Database) throws -> Result) throws -> Result? {
    guard let reader = requests.takeIdle() else { return nil }
    defer { requests.give(back: reader) }
    let result = Swift.Result { try reader.sync { database in try database.snapshot { try body(database) } } }
    noteRead(result)
    return try result.get()
  }

  /// ``write(_:)`` for a thread that may wait.
  package func writeSync<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let result = Swift.Result { try writer.sync { database in try database.transaction { try body(database) } } }
    noteWrite(result)
    return try result.get()
  }

  /// ``read(limit:_:)`` for a thread that may wait.
  package func readSync<Result>(limit: Duration? = nil, _ body: (Database) throws -> Result) throws -> Result {
    let reader = requests.waitForOne()
    defer { requests.give(back: reader) }
    return try reader.sync { database in
      try Interruption(limit: limit).watch(database) { try database.snapshot { try body(database) } }
    }
  }

  /// Brings the schema up to date.
  ///
  /// - Throws: `MigrationError`.
  package func migrate(_ migrator: Migrator, at time: Int64) throws {
    try writer.sync { database in try migrator.migrate(database, at: time) }
  }

  /// Moves the write-ahead log into the file.
  ///
  /// - Parameter waiting: whether to wait for readers, so that the log is emptied.
  @discardableResult
  package func checkpoint(waiting: Bool = false) throws -> Database.Checkpoint {
    try writer.sync { database in try database.checkpoint(waiting: waiting) }
  }

  /// Moves the write-ahead log into the file and empties it, unless somebody is reading; holds nobody up.
  @discardableResult
  package func emptyLogIfIdle() async throws -> Database.Checkpoint {
    try await withCheckedThrowingContinuation { continuation in
      writer.async { database in continuation.resume(with: Swift.Result { try database.emptyLogIfIdle() }) }
    }
  }

  /// Writes the whole file anew, without anything that was ever freed in it; see ``Database/vacuum()``. For a file
  /// that nobody else uses.
  package func vacuum() throws { try writer.sync { try $0.vacuum() } }

  /// Looks through the whole file, on a reader; see ``Database/integrityCheck(limit:)``.
  package func integrityCheck() async throws -> [String] { try await read { try $0.integrityCheck() } }

  /// Waits for what is under way, empties the log into the file and closes it. A second time does nothing.
  package func close() {
    let first = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    guard first else { return }
    logIndex.withLock { $0 = 0 }
    let lanes = [requests, exports].map { lane in (lane, (0..<lane.count).map { _ in lane.waitForOne() }) }
    // Closing a reader reports nothing that one could act on.
    for reader in lanes.flatMap(\.1) { try? reader.sync { $0.close() } }
    // The last connection to close moves the log into the file by itself, but tells nobody when it could not; the log
    // is kept then, and the next start reads it.
    try? writer.sync { database in
      defer { database.close() }
      try database.checkpoint(waiting: true)
    }
    // Whoever comes now, or waits already, is told that the database was closed.
    for (lane, readers) in lanes {
      for reader in readers { lane.give(back: reader) }
    }
  }
}
