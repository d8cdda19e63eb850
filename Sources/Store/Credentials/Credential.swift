public import Foundation
public import Model
internal import SQLite
import Text

/// With what, and where, an app's pushes are sent in one environment of one provider.
public struct Credential: Sendable, Hashable, Identifiable {
  /// Row id.
  public let id: Int64
  /// The app.
  public let appID: Int64
  /// The service.
  public let provider: Provider
  /// The environment.
  public let environment: Environment
  /// The certificate or key; nil: none yet, as for the simulator.
  public let certificateID: Int64?
  /// `apple`, `simulator`, or `host:port`.
  public let endpoint: String
  /// Roots that the server's certificate must come from; nil: the system's.
  public let trustPEM: String?
  /// When the provider last took a push with it.
  public let lastAcceptedAt: Date?
  /// When the provider last refused the credential itself.
  public let lastRefusedAt: Date?
  /// What it said then.
  public let lastRefusal: String?
  /// The name of the certificate or key.
  public let certificateName: String?
  /// When the certificate ends; nil: never, or there is none.
  public let certificateNotAfter: Date?

  /// What the last answer says about it.
  public enum Health: String, Sendable, Hashable {
    /// Never used.
    case unused
    /// The last answer took a push.
    case accepted
    /// The last answer refused the credential.
    case refused
  }

  /// What the last answer says about it.
  public var health: Health {
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
    provider = try row.value(2, as: Provider.self)
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
