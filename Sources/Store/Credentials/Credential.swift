package import Foundation
package import Model
internal import SQLite
import Text

/// With what, and where, an app's pushes are sent in one environment of one provider.
package struct Credential: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// The app.
  package let appID: Int64
  /// The service.
  package let provider: ProviderKind
  /// The environment.
  package let environment: Environment
  /// The certificate or key; nil: none yet, as for the simulator.
  package let certificateID: Int64?
  /// `apple`, `simulator`, or `host:port`.
  package let endpoint: String
  /// Roots that the server's certificate must come from; nil: the system's.
  package let trustPEM: String?
  /// When the provider last took a push with it.
  package let lastAcceptedAt: Date?
  /// When the provider last refused the credential itself.
  package let lastRefusedAt: Date?
  /// What it said then.
  package let lastRefusal: String?
  /// The name of the certificate or key.
  package let certificateName: String?
  /// When the certificate ends; nil: never, or there is none.
  package let certificateNotAfter: Date?

  /// What the last answer says about it.
  package enum Health: String, Sendable, Hashable {
    /// Never used.
    case unused
    /// The last answer took a push.
    case accepted
    /// The last answer refused the credential.
    case refused
  }

  /// What the last answer says about it.
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
    c.last_refused_at, c.last_refusal, t.name, t.not_after
    """
  static let table = "credentials c LEFT JOIN certificates t ON t.id = c.certificate_id"

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
  }
}
