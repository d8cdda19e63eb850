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
    case .full: "The disk of the database is full."
    case .readOnly: "The disk of the database, or its file, cannot be written to."
    case .cannotOpen: "The database, or its folder, cannot be opened."
    case .corrupt, .notADatabase: "The disk of the database does not read it at present, or the file is damaged."
    default: "The disk of the database fails."
    }
  }
}
