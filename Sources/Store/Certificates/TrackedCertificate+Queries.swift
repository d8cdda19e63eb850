package import Foundation
package import Model
package import SQLite

extension TrackedCertificate {
  /// Adds a file. `material`, in the Certificates room's own format, is sealed for this row.
  @discardableResult
  package static func add(
    _ database: Database, _ details: Details, material: [UInt8], sealer: any Sealer, by user: String, now: Date
  ) throws -> TrackedCertificate {
    try database.run(
      """
      INSERT INTO certificates(kind, name, app_id, subject, issuer, serial, sha256, team_id, key_id, environments,
        topics, not_before, not_after, has_private_key, public_pem, file_name, uploaded_by, created_at, sealed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'')
      """, details.kind, details.name, details.appID, details.subject, details.issuer, details.serial, details.sha256,
      details.teamID, details.keyID, text(details.environments.map(\.rawValue)), text(details.topics),
      details.notBefore, details.notAfter, details.hasPrivateKey, details.publicPEM, details.fileName, user, now)
    let id = database.lastInsertedID
    // The seal contains the row ID, which is known only now.
    try Sealing.keep(database, material, "certificates", id, sealer, now: now)
    return try get(database, id: id)
  }

  /// The unsealed material of a file.
  ///
  /// - Throws: `StoreError.notFound`, or the sealer's error if the row was changed or the key is another one.
  package static func material(_ database: Database, id: Int64, sealer: any Sealer) throws -> [UInt8] {
    let sealed = try database.fetchOne("SELECT sealed FROM certificates WHERE id = ?", id) { $0.blob(0) }
    guard let sealed else { throw StoreError.notFound(noun: "certificate", id: "\(id)") }
    return try sealer.open(sealed, associatedData: place("certificates", id))
  }

  /// Ordered by end; certificates without an end are last.
  package static func all(_ database: Database) throws -> [TrackedCertificate] {
    try database.fetchAll("SELECT \(columns) FROM certificates t ORDER BY t.not_after NULLS LAST, t.id") {
      try TrackedCertificate($0)
    }
  }

  package static func find(_ database: Database, id: Int64) throws -> TrackedCertificate? {
    try database.fetchOne("SELECT \(columns) FROM certificates t WHERE t.id = ?", id) { try TrackedCertificate($0) }
  }

  /// Certificates with this fingerprint: the file was uploaded before.
  package static func find(_ database: Database, sha256: String) throws -> [TrackedCertificate] {
    try database.fetchAll("SELECT \(columns) FROM certificates t WHERE t.sha256 = ? ORDER BY t.id", sha256) {
      try TrackedCertificate($0)
    }
  }

  package static let noun = "certificate"

  /// Changes the fields set by people.
  @discardableResult
  package static func update(_ database: Database, id: Int64, name: String, app: Int64?) throws -> TrackedCertificate {
    try database.run("UPDATE certificates SET name = ?, app_id = ? WHERE id = ?", name, app, id)
    return try get(database, id: id)
  }

  /// A use of a certificate.
  package struct Use: Sendable, Hashable {
    package let credentialID: Int64
    package let appID: Int64
    package let bundleID: String
    package let provider: ProviderKind
    package let environment: Environment
    /// When a push was last accepted with it.
    package let lastAcceptedAt: Date?
    /// Devices that depend on it.
    package let activeDevices: Int
  }

  /// The uses of all certificates, or of one, by certificate.
  package static func uses(_ database: Database, id: Int64? = nil) throws -> [Int64: [Use]] {
    var uses: [Int64: [Use]] = [:]
    try database.forEach(
      """
      SELECT c.certificate_id, c.id, a.id, a.bundle_id, c.provider, c.environment, c.last_accepted_at,
        (SELECT coalesce(sum(count), 0) FROM device_counters n WHERE n.app_id = a.id AND n.state = 1
          AND n.environment = iif(c.environment = 'development', 1, 2)
          AND n.provider = CASE c.provider WHEN 'apns' THEN 1 WHEN 'fcm' THEN 2 ELSE 3 END)
      FROM credentials c JOIN apps a ON a.id = c.app_id
      WHERE c.certificate_id IS NOT NULL AND (?1 IS NULL OR c.certificate_id = ?1)
      ORDER BY a.bundle_id, c.provider, c.environment
      """, id
    ) { row in
      let use = Use(
        credentialID: row.int64(1), appID: row.int64(2), bundleID: row.text(3),
        provider: try row.value(4, as: ProviderKind.self), environment: try row.value(5, as: Environment.self),
        lastAcceptedAt: row.optionalDate(6), activeDevices: row.int(7))
      uses[row.int64(0), default: []].append(use)
      return .continue
    }
    return uses
  }

  /// Deletes a certificate.
  ///
  /// - Returns: whether it existed.
  /// - Throws: `StoreError.inUse` if a credential uses it.
  @discardableResult
  package static func delete(_ database: Database, id: Int64) throws -> Bool {
    let uses = try uses(database, id: id)[id] ?? []
    guard uses.isEmpty else {
      let by = uses.map { "\($0.bundleID) (\($0.provider.rawValue), \($0.environment.rawValue))" }
      throw StoreError.inUse(noun: "certificate", by: by)
    }
    // Certificates that it replaced now point to its own successor, or become active.
    try database.run(
      """
      UPDATE certificates SET replaced_by = (SELECT replaced_by FROM certificates WHERE id = ?1) WHERE replaced_by = ?1
      """, id)
    try database.run(
      """
      UPDATE certificates SET replaced_at = NULL, kept_until = NULL, moved = '[]', accepted_before = '{}'
      WHERE kept_until IS NOT NULL AND replaced_by IS NULL
      """)
    return try database.run("DELETE FROM certificates WHERE id = ?", id) > 0
  }
}
