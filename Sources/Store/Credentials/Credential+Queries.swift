package import Foundation
package import Model
package import SQLite

extension Credential {
  /// Assigns a certificate and endpoint for an app's pushes. A change resets the health, and ends the incident that there
  /// was none.
  @discardableResult
  package static func bind(
    _ database: Database, app: Int64, provider: ProviderKind, environment: Environment, certificate: Int64?,
    endpoint: String, trustPEM: String? = nil, now: Date
  ) throws -> Credential {
    try database.run(
      """
      INSERT INTO credentials(app_id, provider, environment, certificate_id, endpoint, trust_pem, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT(app_id, provider, environment) DO UPDATE SET
        last_accepted_at = iif(certificate_id IS excluded.certificate_id AND endpoint = excluded.endpoint,
          last_accepted_at, NULL),
        last_refused_at = NULL, last_refusal = NULL,
        certificate_id = excluded.certificate_id, endpoint = excluded.endpoint, trust_pem = excluded.trust_pem
      """, app, provider.rawValue, environment.rawValue, certificate, endpoint, trustPEM, now)
    guard let bound = try find(database, app: app, provider: provider, environment: environment) else {
      throw StoreError.notFound(noun: "app", id: "\(app)")
    }
    let place = IncidentPlace(app: app, environment: environment, provider: provider)
    for incident in try Incident.going(database, place) where incident.cause.isMissingCredential {
      try Incident.heal(database, incident, now: now)
    }
    return bound
  }

  /// Deletes a credential; the certificate stays.
  ///
  /// - Returns: whether it existed.
  @discardableResult
  package static func unbind(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM credentials WHERE id = ?", id) > 0
  }

  package static func all(_ database: Database, app: Int64? = nil) throws -> [Credential] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM \(table) WHERE ?1 IS NULL OR c.app_id = ?1
      ORDER BY c.app_id, c.provider, c.environment
      """, app
    ) { try Credential($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> Credential? {
    try database.fetchOne("SELECT \(columns) FROM \(table) WHERE c.id = ?", id) { try Credential($0) }
  }

  /// The credential for an app's pushes, nil if there is none.
  package static func find(
    _ database: Database, app: Int64, provider: ProviderKind, environment: Environment
  ) throws -> Credential? {
    try database.fetchOne(
      "SELECT \(columns) FROM \(table) WHERE c.app_id = ? AND c.provider = ? AND c.environment = ?", app,
      provider.rawValue, environment.rawValue
    ) { try Credential($0) }
  }

  /// A provider's verdict on a credential.
  package enum Verdict: Sendable, Hashable {
    /// A push was accepted.
    case accepted(at: Date)
    /// The credential was refused, for instance with `ExpiredProviderToken`.
    case refused(at: Date, reason: String)
  }

  /// Records a verdict; an older one never replaces a newer one.
  package static func note(_ database: Database, id: Int64, _ verdict: Verdict) throws {
    switch verdict {
    case .accepted(let at):
      try database.run(
        "UPDATE credentials SET last_accepted_at = max(coalesce(last_accepted_at, 0), ?) WHERE id = ?", at, id)
    case .refused(let at, let reason):
      try database.run(
        """
        UPDATE credentials SET last_refused_at = ?1, last_refusal = ?2
        WHERE id = ?3 AND coalesce(last_refused_at, 0) <= ?1
        """, at, reason, id)
    }
  }
}
