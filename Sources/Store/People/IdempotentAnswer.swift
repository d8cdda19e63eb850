package import Foundation
package import SQLite

/// The answer to a request with an `Idempotency-Key`, kept so that a repeat gets the same one.
package struct IdempotentAnswer: Sendable, Hashable {
  /// Whose key: the same key of another client is another key.
  package var actor: String
  /// As sent.
  package var key: String
  /// As `POST /api/v1/pushes`.
  package var route: String
  /// Of the request's body: the same key with another body is a mistake.
  package var requestHash: [UInt8]
  /// HTTP status.
  package var status: Int
  /// The Location header.
  package var location: String?
  /// The body.
  package var body: [UInt8]
  /// Until when it is kept.
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

  /// What is known of a key.
  package enum Lookup: Sendable, Hashable {
    /// Nothing: the request is to be carried out.
    case fresh
    /// It was carried out; this was the answer.
    case answered(IdempotentAnswer)
    /// The key was used for another request.
    case mismatch
  }

  /// Looks a key up, in the transaction that carries the request out.
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

  /// Keeps the answer, in the transaction that carried the request out.
  ///
  /// - Throws: `SQLiteError` if the key is in use: then nothing of the transaction may stay.
  package func keep(_ database: Database, now: Date) throws {
    try database.run("DELETE FROM idempotency WHERE actor = ? AND key = ? AND expires_at <= ?", actor, key, now)
    try database.run(
      """
      INSERT INTO idempotency(actor, key, route, request_hash, status, location, body, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, actor, key, route, requestHash, status, location, body, now, expiresAt)
  }
}
