package import Foundation
internal import OpenSSL
package import SQLite

/// A certificate signing request created here. Its private key stays sealed until the certificate comes, and is never
/// exported.
package struct SigningRequest: Sendable, Hashable, Identifiable {
  package enum Purpose: String, Sendable, Hashable, CaseIterable {
    /// For Apple's push service.
    case push
    /// For a host's TLS, from any authority.
    case host
  }

  /// The raw values are stored and used in JSON.
  package enum Algorithm: String, Sendable, Hashable, CaseIterable {
    /// RSA with 2048 bits, which Apple accepts for push certificates.
    case rsa2048 = "rsa-2048"
    case p256 = "p-256"
  }

  package let id: Int64
  /// The public ID.
  package let uid: String
  package let details: Details
  package let createdBy: String
  package let createdAt: Date
  /// The certificate issued for it.
  package let fulfilledBy: Int64?
  /// When the certificate came; nil: waiting.
  package let fulfilledAt: Date?

  package var isWaiting: Bool { fulfilledAt == nil }

  package struct Details: Sendable, Hashable {
    package var purpose: Purpose
    /// The certificate to be renewed.
    package var certificateID: Int64?
    package var appID: Int64?
    package var subject: String
    /// The kind of key.
    package var algorithm: Algorithm
    /// SHA-256 of the public key, hexadecimal.
    package var publicKeySHA256: String
    package var pem: String

    package init(
      purpose: Purpose, certificateID: Int64? = nil, appID: Int64? = nil, subject: String, algorithm: Algorithm,
      publicKeySHA256: String, pem: String
    ) {
      (self.purpose, self.certificateID, self.appID, self.subject) = (purpose, certificateID, appID, subject)
      (self.algorithm, self.publicKeySHA256, self.pem) = (algorithm, publicKeySHA256, pem)
    }
  }

  private static let columns = """
    id, uid, purpose, certificate_id, app_id, subject, algorithm, public_key_sha256, pem, created_by, created_at,
    fulfilled_by, fulfilled_at
    """

  private init(_ row: borrowing Row) throws {
    id = row.int64(0)
    uid = row.text(1)
    details = Details(
      purpose: try row.value(2, as: Purpose.self), certificateID: row.optionalInt64(3), appID: row.optionalInt64(4),
      subject: row.text(5), algorithm: try row.value(6, as: Algorithm.self), publicKeySHA256: row.text(7),
      pem: row.text(8))
    createdBy = row.text(9)
    createdAt = row.date(10)
    fulfilledBy = row.optionalInt64(11)
    fulfilledAt = row.optionalDate(12)
  }

  /// Adds a request with its private key.
  package static func add(
    _ database: Database, _ details: Details, key: [UInt8], sealer: any Sealer, by user: String, now: Date
  ) throws -> SigningRequest {
    let uid = Random.token(bytes: 9)
    try database.run(
      """
      INSERT INTO certificate_requests(uid, purpose, certificate_id, app_id, subject, algorithm, public_key_sha256, pem,
        created_by, created_at, sealed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'')
      """, uid, details.purpose.rawValue, details.certificateID, details.appID, details.subject,
      details.algorithm.rawValue, details.publicKeySHA256, details.pem, user, now)
    let id = database.lastInsertedID
    try Sealing.keep(database, key, "certificate_requests", id, sealer, now: now)
    return try get(database, uid: uid)
  }

  package static func all(_ database: Database, certificate: Int64? = nil) throws -> [SigningRequest] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM certificate_requests WHERE ?1 IS NULL OR certificate_id = ?1
      ORDER BY fulfilled_at IS NOT NULL, id DESC
      """, certificate
    ) { try SigningRequest($0) }
  }

  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, uid: String) throws -> SigningRequest {
    let found = try database.fetchOne("SELECT \(columns) FROM certificate_requests WHERE uid = ?", uid) {
      try SigningRequest($0)
    }
    guard let found else { throw StoreError.notFound(noun: "certificate request", id: uid) }
    return found
  }

  /// The waiting request of a public key, with its private key.
  package static func awaited(
    _ database: Database, publicKeySHA256: String, sealer: any Sealer
  ) throws -> (request: SigningRequest, key: [UInt8])? {
    let found = try database.fetchOne(
      """
      SELECT \(columns), sealed FROM certificate_requests WHERE public_key_sha256 = ? AND fulfilled_at IS NULL
      """, publicKeySHA256
    ) { (try SigningRequest($0), $0.blob(13)) }
    guard let (request, sealed) = found else { return nil }
    return (request, try sealer.open(sealed, associatedData: place("certificate_requests", request.id)))
  }

  /// Marks it as fulfilled, and deletes its copy of the key, which the certificate now has.
  package static func fulfil(
    _ database: Database, id: Int64, by certificate: Int64, sealer: any Sealer, now: Date
  ) throws {
    let empty = try Sealing.seal(database, [], "certificate_requests", id, sealer, now: now)
    try database.run(
      "UPDATE certificate_requests SET fulfilled_by = ?, fulfilled_at = ?, sealed = ? WHERE id = ?", certificate, now,
      empty, id)
  }

  /// Deletes a request; a certificate issued for it later will lack its key.
  ///
  /// - Returns: whether it existed.
  @discardableResult
  package static func delete(_ database: Database, uid: String) throws -> Bool {
    try database.run("DELETE FROM certificate_requests WHERE uid = ?", uid) > 0
  }
}
