internal import CSQLite

/// An SQLite failure in SQLite's words. Never contains a bound value.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A result code of SQLite (https://www.sqlite.org/rescode.html), primary or extended.
  package struct Code: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package var primary: Code { Code(rawValue: rawValue & 0xff) }

    /// SQLITE_ERROR: usually a mistake in the SQL.
    package static let error = Code(rawValue: 1)
    /// SQLITE_BUSY: another connection held the lock longer than the busy time-out.
    package static let busy = Code(rawValue: 5)
    /// SQLITE_LOCKED: another statement of the same process holds the table.
    package static let locked = Code(rawValue: 6)
    /// SQLITE_NOMEM: no memory left.
    package static let outOfMemory = Code(rawValue: 7)
    /// SQLITE_READONLY: a write on a reader or a write-protected file.
    package static let readOnly = Code(rawValue: 8)
    /// SQLITE_INTERRUPT: a time limit or a cancellation.
    package static let interrupt = Code(rawValue: 9)
    /// SQLITE_IOERR: the disk failed.
    package static let inputOutput = Code(rawValue: 10)
    /// SQLITE_CORRUPT: the file is damaged, or the disk did not read it.
    package static let corrupt = Code(rawValue: 11)
    /// SQLITE_FULL: no space left.
    package static let full = Code(rawValue: 13)
    /// SQLITE_CANTOPEN: no such file or folder, or no permission.
    package static let cannotOpen = Code(rawValue: 14)
    /// SQLITE_MISMATCH: a value whose type the column does not accept.
    package static let mismatch = Code(rawValue: 20)
    /// SQLITE_MISUSE: a mistake of the caller, such as using a closed database.
    package static let misuse = Code(rawValue: 21)
    /// SQLITE_RANGE: more or fewer arguments than parameters.
    package static let range = Code(rawValue: 25)
    /// SQLITE_NOTADB: another kind of file.
    package static let notADatabase = Code(rawValue: 26)
    /// SQLITE_READONLY_DBMOVED: the file was moved or replaced since it was opened.
    package static let moved = Code(rawValue: 8 | 4 << 8)
    package static let constraintPrimaryKey = Code(rawValue: 19 | 6 << 8)
    package static let constraintUnique = Code(rawValue: 19 | 8 << 8)
  }

  package var code: Code { extendedCode.primary }
  package let extendedCode: Code
  /// SQLite's message, read at once on the connection that failed.
  package let message: String
  /// The statement with its `?` parameters.
  package let sql: String?
  package init(_ code: Code, _ message: String, sql: String? = nil) {
    extendedCode = code
    self.message = message
    self.sql = sql
  }

  /// Reads the error of the last call on `connection`.
  init(connection: OpaquePointer?, sql: String?) {
    extendedCode = Code(rawValue: sqlite3_extended_errcode(connection))
    message = sqlite3_errmsg(connection).map { String(cString: $0) } ?? "out of memory"
    self.sql = sql
  }

  /// Whether a UNIQUE or PRIMARY KEY constraint failed.
  package var isUniqueViolation: Bool {
    extendedCode == .constraintUnique || extendedCode == .constraintPrimaryKey
  }

  /// Whether another connection held the lock too long: a retry may work.
  package var isBusy: Bool { code == .busy }

  /// Whether the cause is external (lock, disk, permissions, memory): a retry works once it is solved.
  package var mayPass: Bool { isOfDisk || [.busy, .locked, .outOfMemory].contains(code) }

  /// Whether the disk failed, or the file on it is unusable.
  ///
  /// Includes damage, which SQLite also reports for a disk that does not read at present (SQLITE_IOERR_CORRUPTFS,
  /// "converted into SQLITE_CORRUPT prior to returning"). ``DatabasePool/damage()`` tells which it is.
  package var isOfDisk: Bool {
    switch code {
    case .readOnly, .inputOutput, .full, .cannotOpen, .corrupt, .notADatabase: true
    default: false
    }
  }

  /// Whether the file may be damaged; see ``isOfDisk``.
  package var suspectsDamage: Bool { code == .corrupt || code == .notADatabase }

  /// As `SQLite 2067: UNIQUE constraint failed: apps.bundle_id [INSERT …]`, with a remedy if there is one.
  package var description: String {
    var text = "SQLite \(extendedCode.rawValue): \(message)"
    if let sql { text += " [\(sql)]" }
    if let remedy { text += ". \(remedy)" }
    return text
  }

  /// As `database or disk is full (SQLite 13). The disk is full; …`: without the statement, for a page.
  package var cause: String { "\(message) (SQLite \(extendedCode.rawValue))" + (remedy.map { ". \($0)" } ?? "") }

  private var remedy: String? {
    switch code {
    case _ where extendedCode == .moved:
      "Put the file back, or restart Signalbox to go on with what is there now; nothing is saved meanwhile"
    case .busy: "Another program is writing to the database; try again when it is done"
    case .full: "The disk is full; free space and try again"
    // Without room for the -shm file SQLite says SQLITE_IOERR_SHMSIZE, not SQLITE_FULL.
    case .inputOutput: "The disk is full or failing; check it and its free space"
    case .corrupt:
      "The file cannot be read from disk or is damaged: run signalbox doctor to check it"
    case .notADatabase: "The file is not an SQLite database; check the path"
    case .readOnly: "Check that this user can write to the file and its folder"
    case .cannotOpen: "Check that the folder exists and that this user can write to it"
    default: nil
    }
  }
}
