/// Why a schema could not be brought up to date.
public enum MigrationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file belongs to another program.
  case foreign(path: String, applicationID: Int)
  /// The file was written by a newer version of this program.
  case newer(path: String, unknown: [String])
  /// The file has steps, but not those that come first: it was made by a build that never was released.
  case outOfOrder(path: String, missing: String)
  /// A step failed; the file is as it was before it.
  case failed(id: String, cause: SQLiteError)
  /// A step left rows that refer to nothing; the file is as it was before it.
  case danglingRows(id: String, table: String)

  /// What and what to do.
  public var description: String {
    switch self {
    case .foreign(let path, let id):
      "\(path) is another program's database (application id \(id)); name another file"
    case .newer(let path, let unknown):
      "\(path) was written by a newer version (\(unknown.joined(separator: ", "))); use that version or restore a backup"
    case .outOfOrder(let path, let missing):
      "\(path) lacks the step \(missing) but has later ones; restore a backup"
    case .failed(let id, let cause): "the step \(id) failed: \(cause)"
    case .danglingRows(let id, let table): "the step \(id) left rows in \(table) that refer to nothing"
    }
  }
}
