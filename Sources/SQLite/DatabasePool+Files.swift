internal import Glibc
internal import Synchronization

/// The database's file, its log and the log's index, as they were when they were opened.
struct OpenFiles {
  private struct Identity: Equatable {
    let device: dev_t
    let number: ino_t

    /// Nil: there is no such file.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, number) = (status.st_dev, status.st_ino)
    }
  }

  private var known: [(path: String, identity: Identity)] = []

  /// Without files: nothing is missed.
  init() {}

  init(_ path: String) {
    known = ["", "-wal", "-shm"].compactMap { end in Identity(path + end).map { (path + end, $0) } }
  }

  /// What has become of the first file that is no longer the one that was opened; nil: all are.
  var loss: SQLiteError? {
    for (path, identity) in known {
      let present = Identity(path)
      if present != identity {
        return SQLiteError(.moved, "\(path) was \(present == nil ? "removed" : "replaced") while it was open")
      }
    }
    return nil
  }
}

/// Notices that files were replaced or removed. SQLite goes on writing to files that have no name any more: what it
/// acknowledges is gone when the process ends.
extension DatabasePool {
  /// What has become of the files; nil: they are those that were opened. A few system calls.
  package var lostFiles: SQLiteError? { files.withLock { $0.loss } }

  /// Runs a write unless files were lost, before it or until its end.
  func keepingFiles<Value>(_ body: () throws -> Value) throws -> Value {
    if let loss = lostFiles { throw loss }
    let value = try body()
    if let loss = lostFiles { throw loss }
    return value
  }
}
