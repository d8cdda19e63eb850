public import Foundation
public import SQLite

/// Failed sign-ins of one account, or from one address: what a throttle decides by.
public struct SignInFailures: Sendable, Hashable {
  /// Whose failures.
  public enum Subject: Sendable, Hashable {
    /// Of an account, whether it exists or not.
    case account(String)
    /// From an address.
    case address(String)

    var key: String {
      switch self {
      case .account(let name): "account:" + name.lowercased()
      case .address(let address): "address:" + address
      }
    }
  }

  /// How many since the first.
  public var count = 0
  /// The first of them; nil: none.
  public var firstAt: Date?
  /// The last of them; nil: none.
  public var lastAt: Date?

  /// The failures of the last `window` seconds; a pause of that length makes them forgotten.
  public static func find(
    _ database: Database, _ subject: Subject, window: TimeInterval, now: Date
  ) throws -> SignInFailures {
    try database.fetchOne(
      "SELECT count, first_at, last_at FROM sign_in_failures WHERE subject = ? AND last_at > ?", subject.key,
      now.addingTimeInterval(-window)
    ) { row in SignInFailures(count: row.int(0), firstAt: row.date(1), lastAt: row.date(2)) } ?? SignInFailures()
  }

  /// Counts one more.
  ///
  /// - Returns: with this one.
  @discardableResult
  public static func add(
    _ database: Database, _ subject: Subject, window: TimeInterval, now: Date
  ) throws -> SignInFailures {
    try database.run(
      """
      INSERT INTO sign_in_failures(subject, count, first_at, last_at) VALUES (?1, 1, ?2, ?2)
      ON CONFLICT(subject) DO UPDATE SET
        count = iif(last_at > ?3, count + 1, 1), first_at = iif(last_at > ?3, first_at, ?2), last_at = ?2
      """, subject.key, now, now.addingTimeInterval(-window))
    return try find(database, subject, window: window, now: now)
  }

  /// Forgets them: the sign-in was right.
  public static func clear(_ database: Database, _ subject: Subject) throws {
    try database.run("DELETE FROM sign_in_failures WHERE subject = ?", subject.key)
  }

  /// Clears away what is older than `window` seconds.
  @discardableResult
  public static func deleteOld(_ database: Database, window: TimeInterval, now: Date) throws -> Int {
    try database.run("DELETE FROM sign_in_failures WHERE last_at <= ?", now.addingTimeInterval(-window))
  }
}
