package import Foundation
import JSON
package import Model
internal import SQLite
import Text

/// The certificate and endpoint for an app's pushes in one environment of one provider.
package struct Credential: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let appID: Int64
  package let provider: ProviderKind
  package let environment: Environment
  /// Nil: none, as for the simulator.
  package let certificateID: Int64?
  /// The service's word (``ProviderKind/serviceWord``), `simulator`, or `host:port`.
  package let endpoint: String
  /// Trusted roots for the server; nil: the system's.
  package let trustPEM: String?
  /// Nil: the server's own setting.
  package let proxy: CredentialProxy?
  /// When the provider last accepted a push with it.
  package let lastAcceptedAt: Date?
  /// When the provider last refused the credential itself.
  package let lastRefusedAt: Date?
  /// The reason of that refusal.
  package let lastRefusal: String?
  package let certificateName: String?
  /// The certificate's end; nil: no end, or no certificate.
  package let certificateNotAfter: Date?

  /// According to the last answer.
  package enum Health: String, Sendable, Hashable {
    case unused
    /// The last answer accepted a push.
    case accepted
    /// The last answer refused the credential.
    case refused
  }

  package var health: Health {
    switch (lastAcceptedAt, lastRefusedAt) {
    case (nil, nil): .unused
    case (_, nil): .accepted
    case (nil, _): .refused
    case (let accepted?, let refused?): accepted > refused ? .accepted : .refused
    }
  }

  static let columns = """
    c.id, c.app_id, c.provider, c.environment, c.certificate_id, c.endpoint, c.trust_pem, c.last_accepted_at,
    c.last_refused_at, c.last_refusal, t.name, t.not_after,
    x.address, x.user, x.sealed
    """
  static let table = """
    credentials c LEFT JOIN certificates t ON t.id = c.certificate_id LEFT JOIN credential_proxies x ON x.id = c.id
    """

  /// A credential that is not stored yet, to try it.
  package init(
    app: Int64, provider: ProviderKind, environment: Environment, certificate: Int64?, endpoint: String,
    trustPEM: String?, proxy: CredentialProxy? = nil
  ) {
    id = 0
    (appID, self.provider, self.environment, certificateID) = (app, provider, environment, certificate)
    (self.endpoint, self.trustPEM, self.proxy) = (endpoint, trustPEM, proxy)
    (lastAcceptedAt, lastRefusedAt, lastRefusal) = (nil, nil, nil)
    (certificateName, certificateNotAfter) = (nil, nil)
  }

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    appID = row.int64(1)
    provider = try row.value(2, as: ProviderKind.self)
    environment = try row.value(3, as: Environment.self)
    certificateID = row.optionalInt64(4)
    endpoint = row.text(5)
    trustPEM = row.optionalText(6)
    lastAcceptedAt = row.optionalDate(7)
    lastRefusedAt = row.optionalDate(8)
    lastRefusal = row.optionalText(9)
    certificateName = row.optionalText(10)?.singleLine
    certificateNotAfter = row.optionalDate(11)
    if let address = row.optionalText(12) {
      let password: CredentialProxy.Password? = row.isNull(14) ? nil : .sealed(row.blob(14), credential: id)
      proxy = CredentialProxy(address: address, user: row.optionalText(13), password: password)
    } else {
      proxy = nil
    }
  }
}

/// The destination of a credential.
package enum CredentialPlace: Sendable, Hashable {
  case service
  case simulator
  case server(host: String, port: UInt16)

  /// The stored name of the built-in simulator.
  package static let simulatorWord = "simulator"

  /// Reads a credential's endpoint; nil if malformed.
  package init?(_ text: String, _ provider: ProviderKind) {
    if text == provider.serviceWord {
      self = .service
    } else if text == Self.simulatorWord {
      self = .simulator
    } else {
      let parts = text.split(separator: ":")
      guard parts.count == 2, let port = UInt16(parts[1]) else { return nil }
      self = .server(host: String(parts[0]), port: port)
    }
  }
}

extension ProviderKind {
  /// The stored name of the service's own servers.
  package var serviceWord: String {
    switch self {
    case .apns: "apple"
    case .fcm: "google"
    case .jpush: "jpush"
    }
  }
}

extension Credential {
  /// Nil if the endpoint is malformed.
  package var place: CredentialPlace? { CredentialPlace(endpoint, provider) }
}

extension Credential {
  fileprivate var audited: JSONValue {
    [
      "certificate": certificateID.map { .integer($0) } ?? .null, "endpoint": .string(endpoint),
      "trust": .optional(trustPEM), "proxy": .optional(proxy?.text),
    ]
  }
}

extension NewAuditEntry {
  /// The same, with what changed about a credential; nil: there was or is none.
  package func changing(_ before: Credential?, to after: Credential?) -> NewAuditEntry {
    let place = after ?? before
    var entry = self
    entry.detail = [
      "provider": .optional(place?.provider.rawValue), "environment": .optional(place?.environment.rawValue),
      "before": before?.audited ?? .null, "after": after?.audited ?? .null,
    ]
    return entry
  }
}
