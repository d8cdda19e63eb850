import HTTPServer
import SQLite

/// A disk error for the sender of a request, without the statement and the path.
struct DiskWords {
  private let error: SQLiteError

  init(_ error: SQLiteError) { self.error = error }

  /// Nil for other errors.
  init?(of error: SQLiteError) {
    guard error.isOfDisk else { return nil }
    self.error = error
  }

  var status: Status { error.code == .full ? .insufficientStorage : .serviceUnavailable }

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
