internal import Dispatch

/// A database and the serial queue that owns it.
///
/// `@unchecked Sendable` because `database` is only ever touched on `queue`, one closure after the other.
final class Connection: @unchecked Sendable {
  private let queue: DispatchQueue
  private let database: Database

  init(path: String, mode: Database.Mode, label: String) throws(SQLiteError) {
    database = try Database(path: path, mode: mode)
    queue = DispatchQueue(label: label)
  }

  /// Runs `body` on the queue and waits for it.
  func sync<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try queue.sync { try body(database) }
  }

  /// Hands `body` to the queue.
  func async(_ body: @escaping @Sendable (Database) -> Void) {
    queue.async { [self] in body(database) }
  }
}
