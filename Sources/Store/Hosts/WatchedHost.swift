package import Foundation
internal import Model
internal import SQLite
import Text

/// A host whose certificate is watched by its address, and what was last seen there.
package struct WatchedHost: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// Where.
  package let address: HostAddress
  /// What people say of it.
  package let note: String
  /// Who wanted it watched.
  package let createdBy: String
  /// Since when.
  package let createdAt: Date
  /// When it was last looked at, nil: not yet.
  package let probedAt: Date?
  /// When it last showed certificates.
  package let answeredAt: Date?
  /// Since when it shows none; nil: the last probe saw some.
  package let failingSince: Date?
  /// Why the last probe saw nothing.
  package let failure: HostFailure?
  /// What was seen at ``answeredAt``; still counts while it fails.
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

/// Why a host showed no certificate.
package struct HostFailure: Error, Sendable, Hashable {
  /// What happened. The raw values stand in the database and in JSON.
  package enum Code: String, Sendable, Hashable, Codable, CaseIterable {
    /// The name has no address.
    case noSuchName = "no_such_name"
    /// Its address is link-local, or of a cloud's metadata service.
    case forbiddenAddress = "forbidden_address"
    /// Nothing listens there.
    case refused
    /// No way leads there.
    case unreachable
    /// It did not answer in time.
    case timeout
    /// It hung up.
    case closed
    /// What it answered is no TLS.
    case notTLS = "not_tls"
    /// It speaks the protocol and does not offer to begin TLS.
    case startTLSNotOffered = "starttls_not_offered"
    /// What it answered is not the protocol that TLS should begin from.
    case wrongProtocol = "wrong_protocol"
    /// It ended the handshake.
    case handshake
    /// The handshake was done without a certificate.
    case noCertificate = "no_certificate"
  }

  /// What happened.
  package let code: Code
  /// The same in the words of whoever said so; may come from a stranger.
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
