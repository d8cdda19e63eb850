package import Foundation
internal import Model
internal import SQLite
import Text

/// A watched host with its last known certificate.
package struct WatchedHost: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  package let address: HostAddress
  package let note: String
  package let createdBy: String
  package let createdAt: Date
  /// When it was last checked; nil: not yet.
  package let probedAt: Date?
  /// When it last presented a certificate.
  package let answeredAt: Date?
  /// Since when it presents none; nil: the last probe succeeded.
  package let failingSince: Date?
  /// Why the last probe failed.
  package let failure: HostFailure?
  /// Seen at ``answeredAt``; still valid while probes fail.
  package let seen: HostSighting?

  static let columns = """
    h.id, h.protocol, h.host, h.port, h.server_name, h.note, h.created_by, h.created_at, h.probed_at, h.answered_at,
    h.failing_since, h.failure, h.failure_detail, h.address, h.tls_version, h.subject, h.issuer, h.serial, h.sha256,
    h.names, h.not_before, h.not_after, h.chain, h.trust, h.name_matches
    """

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    guard let port = UInt16(exactly: row.int64(3)) else {
      throw StoreError.unreadable(column: "watched_hosts.port", value: "\(row.int64(3))")
    }
    address = HostAddress(
      host: row.text(2), port: port, serverName: row.text(4),
      startProtocol: try row.value(1, as: HostAddress.StartProtocol.self))
    note = row.text(5)
    createdBy = row.text(6)
    createdAt = row.date(7)
    probedAt = row.optionalDate(8)
    answeredAt = row.optionalDate(9)
    failingSince = row.optionalDate(10)
    failure = try row.optionalText(11).map {
      try HostFailure(code: $0, detail: (row.optionalText(12) ?? "").singleLine)
    }
    seen = try row.optionalText(18).map { sha256 in
      HostSighting(
        address: row.optionalText(13) ?? "", tlsVersion: row.optionalText(14) ?? "",
        subject: (row.optionalText(15) ?? "").singleLine, issuer: (row.optionalText(16) ?? "").singleLine,
        serial: row.optionalText(17) ?? "", sha256: sha256,
        names: try texts(row.text(19), "watched_hosts.names").map(\.singleLine), notBefore: row.optionalDate(20),
        chain: try HostSighting.chain(row.text(22)), trust: row.optionalText(23) ?? "", nameMatches: row.bool(24))
    }
  }
}

/// Why a host presented no certificate.
package struct HostFailure: Error, Sendable, Hashable {
  package enum Code: String, Sendable, Hashable, Codable, CaseIterable {
    /// The name has no address.
    case noSuchName = "no_such_name"
    /// Link-local, or a cloud's metadata service.
    case forbiddenAddress = "forbidden_address"
    /// Not on the list of allowed targets.
    case notAllowed = "not_allowed"
    /// Nothing listens there.
    case refused
    /// No route to the host.
    case unreachable
    case timeout
    /// The host closed the connection.
    case closed
    /// The proxy opened no tunnel to the host.
    case proxy
    /// The answer is not TLS.
    case notTLS = "not_tls"
    /// The host does not offer STARTTLS.
    case startTLSNotOffered = "starttls_not_offered"
    /// The answer is not the expected protocol.
    case wrongProtocol = "wrong_protocol"
    /// The handshake failed.
    case handshake
    /// The handshake succeeded without a certificate.
    case noCertificate = "no_certificate"
  }

  package let code: Code
  /// The original message; may come from an untrusted host.
  package let detail: String
  package init(_ code: Code, detail: String = "") {
    self.code = code
    self.detail = String(detail.prefix(300))
  }

  init(code: String, detail: String) throws {
    guard let known = Code(rawValue: code) else {
      throw StoreError.unreadable(column: "watched_hosts.failure", value: code)
    }
    self.init(known, detail: detail)
  }
}
