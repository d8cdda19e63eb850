import HTTPServer
import SQLite

/// What the disk under the database refuses, for whoever sent a request: without the statement and without the path.
struct DiskWords {
  private let error: SQLiteError

  init(_ error: SQLiteError) { self.error = error }

  /// Nil: it is no error of the disk.
  init?(of error: SQLiteError) {
    guard error.isOfDisk else { return nil }
    self.error = error
  }

  /// 507 if there is no room, else 503.
  var status: Status { error.code == .full ? .insufficientStorage : .serviceUnavailable }

  /// What is wrong.
  var text: String {
    switch error.code {
    case .full: "The database disk is full."
    case .readOnly: "The database file or its disk is not writable."
    case .cannotOpen: "The database or its folder cannot be opened."
    case .corrupt, .notADatabase: "The database cannot be read from disk, or the file is damaged."
    default: "The database disk is failing."
    }
  }
}
