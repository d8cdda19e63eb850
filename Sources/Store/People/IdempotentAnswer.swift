package import Foundation
package import SQLite

/// The answer to a request with an `Idempotency-Key`, stored for repetitions.
package struct IdempotentAnswer: Sendable, Hashable {
  /// The client: keys of different clients are independent.
  package var actor: String
  package var key: String
  /// Such as `POST /api/v1/pushes`.
  package var route: String
  /// Of the request's body: the same key with another body is an error.
  package var requestHash: [UInt8]
  package var status: Int
  package var location: String?
  package var body: [UInt8]
  package var expiresAt: Date
  package init(
    actor: String, key: String, route: String, requestHash: [UInt8], status: Int, location: String?, body: [UInt8],
    expiresAt: Date
  ) {
    self.actor = actor
    self.key = key
    self.route = route
    self.requestHash = requestHash
    self.status = status
    self.location = location
    self.body = body
    self.expiresAt = expiresAt
  }

  package enum Lookup: Sendable, Hashable {
    /// Unknown: carry out the request.
    case fresh
    /// Carried out before, with this answer.
    case answered(IdempotentAnswer)
    /// Used for another request.
    case mismatch
  }

  /// Looks a key up, in the request's transaction.
  package static func find(
    _ database: Database, actor: String, key: String, route: String, requestHash: [UInt8], now: Date
  ) throws -> Lookup {
    let found = try database.fetchOne(
      """
      SELECT route, request_hash, status, location, body, expires_at FROM idempotency
      WHERE actor = ? AND key = ? AND expires_at > ?
      """, actor, key, now
    ) { row in
      IdempotentAnswer(
        actor: actor, key: key, route: row.text(0), requestHash: row.blob(1), status: row.int(2),
        location: row.optionalText(3), body: row.blob(4), expiresAt: row.date(5))
    }
    guard let found else { return .fresh }
    return found.route == route && found.requestHash == requestHash ? .answered(found) : .mismatch
  }

  /// Stores the answer, in the request's transaction.
  ///
  /// - Throws: `SQLiteError` if the key is in use: then the transaction must be rolled back.
  package func keep(_ database: Database, now: Date) throws {
    try database.run("DELETE FROM idempotency WHERE actor = ? AND key = ? AND expires_at <= ?", actor, key, now)
    try database.run(
      """
      INSERT INTO idempotency(actor, key, route, request_hash, status, location, body, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, actor, key, route, requestHash, status, location, body, now, expiresAt)
  }
}
