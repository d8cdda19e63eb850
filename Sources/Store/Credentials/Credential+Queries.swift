package import Foundation
package import Model
package import SQLite

extension Credential {
  /// Says with what an app's pushes are sent; replaces what was said before. Health starts anew if the certificate or
  /// the endpoint is another one.
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
    return bound
  }

  /// Takes a credential away; the certificate stays.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  package static func unbind(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM credentials WHERE id = ?", id) > 0
  }

  /// All credentials, or an app's.
  package static func all(_ database: Database, app: Int64? = nil) throws -> [Credential] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM \(table) WHERE ?1 IS NULL OR c.app_id = ?1
      ORDER BY c.app_id, c.provider, c.environment
      """, app
    ) { try Credential($0) }
  }

  /// One credential, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> Credential? {
    try database.fetchOne("SELECT \(columns) FROM \(table) WHERE c.id = ?", id) { try Credential($0) }
  }

  /// What sends an app's pushes, nil if nothing does.
  package static func find(
    _ database: Database, app: Int64, provider: ProviderKind, environment: Environment
  ) throws -> Credential? {
    try database.fetchOne(
      "SELECT \(columns) FROM \(table) WHERE c.app_id = ? AND c.provider = ? AND c.environment = ?", app,
      provider.rawValue, environment.rawValue
    ) { try Credential($0) }
  }

  /// What a provider's answers said about a credential.
  package enum Verdict: Sendable, Hashable {
    /// A push was taken.
    case accepted(at: Date)
    /// The credential itself was refused, as `ExpiredProviderToken`.
    case refused(at: Date, reason: String)
  }

  /// Keeps what a provider's answer said; an older answer never hides a newer one.
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
