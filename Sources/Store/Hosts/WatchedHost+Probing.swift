package import Foundation
package import SQLite

/// The result of checking a host.
package typealias HostOutcome = Result<HostSighting, HostFailure>

extension WatchedHost {
  /// Events kept per host; the oldest are dropped.
  static let historyLimit = 500

  /// Stores a probe's result, and adds changes to the history.
  ///
  /// Ignored if the address was changed meanwhile.
  package static func note(
    _ database: Database, id: Int64, at address: HostAddress, _ outcome: HostOutcome, now: Date
  ) throws {
    guard let host = try find(database, id: id), host.address == address else { return }
    switch outcome {
    case .success(let seen): try note(database, host, seen, now)
    case .failure(let failure): try note(database, host, failure, now)
    }
  }

  private static func note(_ database: Database, _ host: WatchedHost, _ seen: HostSighting, _ now: Date) throws {
    if host.failingSince != nil, host.seen != nil { try HostEvent.add(database, host.id, .answered, now: now) }
    if host.seen?.sha256 != seen.sha256 { try HostEvent.add(database, host.id, .certificate, seen: seen, now: now) }
    try database.run(
      """
      UPDATE watched_hosts SET probed_at = ?1, answered_at = ?1, failing_since = NULL, failure = NULL,
        failure_detail = NULL, address = ?2, tls_version = ?3, subject = ?4, issuer = ?5, serial = ?6, sha256 = ?7,
        names = ?8, not_before = ?9, not_after = ?10, chain = ?11, trust = ?12, name_matches = ?13
      WHERE id = ?14
      """, now, seen.address, seen.tlsVersion, seen.subject, seen.issuer, seen.serial, seen.sha256, text(seen.names),
      seen.notBefore, seen.notAfter, seen.chainJSON, seen.trust, seen.nameMatches, host.id)
  }

  private static func note(_ database: Database, _ host: WatchedHost, _ failure: HostFailure, _ now: Date) throws {
    if host.failure?.code != failure.code { try HostEvent.add(database, host.id, .failed, failure: failure, now: now) }
    try database.run(
      """
      UPDATE watched_hosts SET probed_at = ?1, failing_since = coalesce(failing_since, ?1), failure = ?2,
        failure_detail = ?3
      WHERE id = ?4
      """, now, failure.code.rawValue, failure.detail, host.id)
  }
}

/// A change at a watched host.
package struct HostEvent: Sendable, Hashable, Identifiable {
  /// The raw values are stored and used in JSON.
  package enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// A new certificate.
    case certificate
    /// No certificate, or another reason for that.
    case failed
    /// A certificate again.
    case answered
  }

  package let id: Int64
  package let at: Date
  package let kind: Kind
  /// Of the new certificate.
  package let sha256: String?
  /// Of the new certificate.
  package let serial: String?
  /// Of the new certificate.
  package let issuer: String?
  /// The effective end from then on.
  package let notAfter: Date?
  package let failure: HostFailure?

  /// A host's last 100 events, newest first.
  package static func list(_ database: Database, host: Int64) throws -> [HostEvent] {
    try database.fetchAll(
      """
      SELECT id, at, kind, sha256, serial, issuer, not_after, failure, failure_detail FROM host_events
      WHERE host_id = ? ORDER BY id DESC LIMIT 100
      """, host
    ) { row in
      HostEvent(
        id: row.int64(0), at: row.date(1), kind: try row.value(2, as: Kind.self), sha256: row.optionalText(3),
        serial: row.optionalText(4), issuer: row.optionalText(5), notAfter: row.optionalDate(6),
        failure: try row.optionalText(7).map { try HostFailure(code: $0, detail: row.optionalText(8) ?? "") })
    }
  }

  static func add(
    _ database: Database, _ host: Int64, _ kind: Kind, seen: HostSighting? = nil, failure: HostFailure? = nil,
    now: Date
  ) throws {
    try database.run(
      """
      INSERT INTO host_events(host_id, at, kind, sha256, serial, issuer, not_after, failure, failure_detail)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, host, now, kind.rawValue, seen?.sha256, seen?.serial, seen?.issuer, seen?.notAfter, failure?.code.rawValue,
      failure?.detail)
    try database.run(
      """
      DELETE FROM host_events WHERE host_id = ?1 AND id <= (
        SELECT id FROM host_events WHERE host_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
      """, host, WatchedHost.historyLimit)
  }
}
