package import Foundation
internal import OpenSSL
package import SQLite

/// A request that may come twice because its answer was lost. With a key it takes effect once: a repeat gets the first
/// answer, and the same key with another request is an error.
package struct Idempotency: Sendable {
  /// How long an answer is kept, in seconds.
  static let lifetime: TimeInterval = 86_400

  /// What a request was answered.
  package struct Answer: Sendable, Hashable {
    package var status: Int
    package var body: [UInt8]
    package var location: String?

    package init(status: Int, body: [UInt8], location: String? = nil) {
      (self.status, self.body, self.location) = (status, body, location)
    }
  }

  /// The same key was used for another request.
  package struct Mismatch: Error, Hashable {
    package init() {}
  }

  /// As sent; nil: the client gave none, and nothing is kept.
  package let key: String?
  private let actor: String
  private let route: String
  private let hash: [UInt8]
  private let now: Date
  /// Encrypts the kept answer; nil: it has no secret.
  private let sealer: (any Sealer)?

  /// - Parameters:
  ///   - actor: whose key it is; the same key of another client is another key.
  ///   - route: method and path, as `POST /api/v1/pushes`.
  ///   - content: what makes two requests the same.
  ///   - sealer: encrypts the answer for as long as it is kept, because it has a secret.
  package init(
    actor: String, key: String?, route: String, content: [UInt8], now: Date, sealer: (any Sealer)? = nil
  ) {
    (self.actor, self.key, self.route) = (actor, key, route)
    hash = Digest.sha256(content)
    (self.now, self.sealer) = (now, sealer)
  }

  /// What the request was answered the first time; nil: it is new.
  ///
  /// - Throws: ``Mismatch``; or that a kept answer was encrypted with another key.
  package func known(_ database: Database) throws -> Answer? {
    guard let key else { return nil }
    return try database.fetchOne(
      """
      SELECT route, request_hash, status, location, body FROM idempotency
      WHERE actor = ? AND key = ? AND expires_at > ?
      """, actor, key, now
    ) { row in
      guard row.text(0) == route, row.blob(1) == hash else { throw Mismatch() }
      let body = try sealer?.open(row.blob(4), associatedData: place) ?? row.blob(4)
      return Answer(status: row.int(2), body: body, location: row.optionalText(3))
    }
  }

  /// Where a kept answer belongs.
  private var place: [UInt8] { Array("idempotency \(actor) \(route) \(key ?? "")".utf8) }

  /// Answers from memory, or carries the request out and keeps its answer, in the transaction around it.
  ///
  /// - Returns: the answer, and what `body` gave beside it; nil if it was not called.
  /// - Throws: ``Mismatch``.
  package func once<Value>(
    _ database: Database, _ body: () throws -> (Answer, Value)
  ) throws -> (answer: Answer, value: Value?) {
    if let known = try known(database) { return (known, nil) }
    let (answer, value) = try body()
    guard let key else { return (answer, value) }
    try database.run("DELETE FROM idempotency WHERE actor = ? AND key = ? AND expires_at <= ?", actor, key, now)
    try database.run(
      """
      INSERT INTO idempotency(actor, key, route, request_hash, status, location, body, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, actor, key, route, hash, answer.status, answer.location,
      try sealer?.seal(answer.body, associatedData: place) ?? answer.body, now,
      now.addingTimeInterval(Self.lifetime))
    return (answer, value)
  }

  /// As ``once(_:_:)``, for a request that gives nothing but its answer.
  package func answer(_ database: Database, _ body: () throws -> Answer) throws -> Answer {
    try once(database) { (try body(), ()) }.answer
  }

  /// As ``answer(_:_:)``, for what no transaction can hold, such as a question to a push service. A repetition that comes
  /// before the answer is carried out, too.
  package func answer(_ store: Store, _ body: () async throws -> Answer) async throws -> Answer {
    if let known = try await store.read({ try known($0) }) { return known }
    let answer = try await body()
    return try await store.write { try self.answer($0) { answer } }
  }
}
