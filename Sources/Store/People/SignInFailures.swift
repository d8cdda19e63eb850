package import Foundation
internal import OpenSSL
package import SQLite

/// Failed sign-ins of one account or address, for the throttle. An attempt counts as failed while its password is being
/// checked.
package struct SignInFailures: Sendable, Hashable {
  package enum Subject: Sendable, Hashable {
    /// An account, existing or not, from unknown browsers.
    case account(String)
    /// An IPv4 address.
    case address(String)
    /// An IPv6 network such as `2001:db8::/64`, because one customer has all its addresses.
    case network(String)
    /// A known device, by the hash of its cookie.
    case device([UInt8])
    /// A signed-in person, by the session's hash.
    case session([UInt8])
    /// Codes for a person whose password was right.
    case code(user: Int64)

    var key: String {
      switch self {
      case .account(let name): "account:" + name.lowercased()
      case .address(let address): "address:" + address
      case .network(let network): "network:" + network
      case .device(let hash): "device:" + Base64URL.encode(hash)
      case .session(let hash): "session:" + Base64URL.encode(hash)
      case .code(let user): "code:\(user)"
      }
    }
  }

  /// The number since the first.
  package var count = 0
  package var firstAt: Date?
  package var lastAt: Date?

  /// The failures of the last `window` seconds; a pause of that length resets them.
  package static func find(
    _ database: Database, _ subject: Subject, window: TimeInterval, now: Date
  ) throws -> SignInFailures {
    try database.fetchOne(
      "SELECT count, first_at, last_at FROM sign_in_failures WHERE subject = ? AND last_at > ?", subject.key,
      now.addingTimeInterval(-window)
    ) { row in SignInFailures(count: row.int(0), firstAt: row.date(1), lastAt: row.date(2)) } ?? SignInFailures()
  }

  /// Counts a failure.
  ///
  /// - Returns: including this one.
  @discardableResult
  package static func add(
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

  /// Reverts an attempt that was counted before its check.
  ///
  /// - Parameters:
  ///   - attemptedAt: when it was counted.
  ///   - lastAt: of the previous failure.
  package static func takeBack(
    _ database: Database, _ subject: Subject, attemptedAt: Date, lastAt: Date?
  ) throws {
    try database.run(
      """
      UPDATE sign_in_failures SET count = count - 1, last_at = iif(last_at = ?2, coalesce(?3, last_at), last_at)
      WHERE subject = ?1
      """, subject.key, attemptedAt, lastAt)
    try database.run("DELETE FROM sign_in_failures WHERE subject = ? AND count <= 0", subject.key)
  }

  /// Resets them after a successful sign-in.
  package static func clear(_ database: Database, _ subject: Subject) throws {
    try database.run("DELETE FROM sign_in_failures WHERE subject = ?", subject.key)
  }
}
