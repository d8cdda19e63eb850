internal import Foundation
internal import JSON
package import Model
package import SQLite

/// Which environment's right a push needs: that of the phones it reaches, whatever environment it names.
///
/// APNs has an address for each environment. FCM and JPush know none: one service account or AppKey reaches every phone
/// of its project. Devices are told apart by what they are registered as here: through FCM and through JPush, each is
/// named by its own token or registration ID. But the subscribers of a topic are known to FCM alone. Topics and conditions
/// count as production, unless the credential for development serves nothing in production (docs/protocols.md §7.6).
package struct ProductionGuard: Sendable, Hashable {
  /// Whose right is needed, and whose approval.
  package let environment: Environment
  /// The service because of which a push in development counts as production; nil: it does not, or names production.
  package let service: ProviderKind?

  /// - Parameters:
  ///   - app: its row ID.
  ///   - environment: the one that the push names.
  ///   - draft: its JSON.
  private init(_ database: Database, app: Int64, _ environment: Environment, _ draft: JSONValue) throws {
    service = environment == .production ? nil : try Self.sharedService(database, app: app, Audience(draft: draft))
    // JPush's option for the environment is about iOS alone (docs/protocols.md §4.9).
    let reachesAndroid = draft["platforms"]?.array?.contains(.string(Platform.android.rawValue)) ?? false
    let isAnyAndroid = draft["options"]?["any_android"] == true && reachesAndroid
    self.environment = service != nil || isAnyAndroid ? .production : environment
  }

  package init(_ database: Database, app: Int64, _ draft: PushDraft) throws {
    try self.init(database, app: app, draft.environment, draft.json)
  }

  /// - Parameter draftJSON: as stored; what cannot be read is not sent.
  package init(_ database: Database, app: Int64, _ environment: Environment, draftJSON: String) throws {
    let draft = environment == .production ? nil : try? JSONValue(parsing: Data(draftJSON.utf8))
    try self.init(database, app: app, environment, draft ?? .null)
  }

  package init(_ database: Database, _ push: Push) throws {
    try self.init(database, app: push.appID, push.environment, draftJSON: push.draftJSON)
  }

  package init(_ database: Database, _ schedule: Schedule) throws {
    try self.init(database, app: schedule.appID, schedule.environment, draftJSON: schedule.draftJSON)
  }

  /// Tokens of FCM that join or leave a topic, whoever they belong to.
  package init(_ database: Database, app: Int64, topicsIn environment: Environment) throws {
    service =
      environment == .production ? nil : try Self.sharedService(database, app: app, .topic(""))
    self.environment = service == nil ? environment : .production
  }

  /// The environment of a draft that is not stored: the one that it names, if there is no such app.
  package static func environment(_ database: Database, of draft: PushDraft) throws -> Environment {
    try App.find(database, bundleID: draft.app).map { try Self(database, app: $0.id, draft).environment }
      ?? draft.environment
  }

  private static func sharedService(
    _ database: Database, app: Int64, _ audience: Audience?
  ) throws -> ProviderKind? {
    switch audience {
    case .topic, .condition: try isDevelopmentOnly(database, app: app) ? nil : .fcm
    // These devices are registered in development; a channel of APNs belongs to one environment.
    case .all, .rule, .channel, nil: nil
    }
  }

  /// Whether an app's service account for development is neither that of any app in production nor of the same project
  /// there, and not the built-in simulator of both.
  private static func isDevelopmentOnly(_ database: Database, app: Int64) throws -> Bool {
    let provider = ProviderKind.fcm
    guard let own = try Credential.find(database, app: app, provider: provider, environment: .development) else {
      return false
    }
    let project = try own.certificateID.flatMap { try Self.project(database, certificate: $0) }
    let others = try database.fetchAll(
      "SELECT certificate_id, endpoint FROM credentials WHERE provider = ? AND environment = ?", provider.rawValue,
      Environment.production.rawValue
    ) { (certificate: $0.optionalInt64(0), endpoint: $0.text(1)) }
    return try !others.contains { other in
      guard let certificate = other.certificate, let ownCertificate = own.certificateID else {
        return other.certificate == own.certificateID && other.endpoint == own.endpoint
      }
      if certificate == ownCertificate { return true }
      return try project != nil && Self.project(database, certificate: certificate) == project
    }
  }

  /// The project that a service account belongs to; nil: its file does not say.
  private static func project(_ database: Database, certificate: Int64) throws -> String? {
    try database.fetchOne(
      """
      SELECT json_extract(says, '$.service_account.project_id') FROM certificate_facts WHERE certificate_id = ?
      """, certificate
    ) { $0.optionalText(0) } ?? nil
  }
}
