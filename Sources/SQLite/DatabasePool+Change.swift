internal import CSQLite
internal import Synchronization

extension DatabasePool {
  /// Tells states of the file apart: whoever finds the same mark twice knows that nobody committed in between, neither
  /// this process nor another one.
  ///
  /// `PRAGMA data_version` says the same, but is a query, and has to wait for a connection; a mark is read from the
  /// memory that the connections of all processes share.
  package struct ChangeMark: Sendable, Hashable {
    private let counter: UInt64
    private let salt: UInt64
    private let checksum: UInt64

    init(_ state: csqlite_log_state) {
      (counter, salt, checksum) = (state.counter, state.salt, state.checksum)
    }
  }

  /// The present mark; nil once the database is closed. A query that begins after it was read sees at least this state.
  package var changeMark: ChangeMark? {
    // The lock is held while the memory is read: ``close()`` takes the address away before SQLite takes the memory away.
    logIndex.withLock { index in index == 0 ? nil : ChangeMark(csqlite_read_log_state(index)) }
  }
}

extension Database {
  /// The address of the log's index, 0 if there is none.
  func logIndex() throws -> UInt {
    // The first query opens the log.
    _ = try int("PRAGMA schema_version")
    return csqlite_log_index(handle)
  }
}
