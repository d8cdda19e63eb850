import Certificates
package import Foundation
package import Model
import SQLite
package import Store

/// What a draft would do to an app as it is now: whom it reaches, and what speaks against it.
package struct PushCheck: Sendable {
  package let draft: PushDraft
  package let app: App
  /// The audience; nil: it could not be counted in time.
  package let count: AudienceCount?
  /// Tokens of the audience that no device has yet; they are registered with the push.
  package let unknown: Int
  /// What the linter says, graver first, and whether the audience is empty.
  package let findings: [Lint.Finding]

  /// How many devices the push reaches; nil: not counted in time.
  package var reachable: Int? { count.map { $0.reachable + unknown } }

  /// Why the push must not be sent; empty: it may be.
  package var problems: [Problem] { findings.filter { $0.severity == .error }.map(\.problem) }

  init(_ draft: PushDraft, app: App, credential: CredentialScope?, count: AudienceCount?, unknown: Int, now: Date) {
    (self.draft, self.app, self.count, self.unknown) = (draft, app, count, unknown)
    var findings = Lint.findings(in: draft, Lint.Context(app, credential: credential, now: now))
    // Who reaches nobody for a mistake in the audience hears of the mistake.
    let isSound = !findings.contains { $0.severity == .error }
    if isSound, count?.reachable == 0, unknown == 0, !draft.options.allowEmptyAudience {
      let arguments = ["app": app.bundleID, "environment": draft.environment.rawValue]
      findings.insert(
        Lint.Finding(severity: .error, problem: Problem("audience", DraftMessage.nobody, arguments)), at: 0)
    }
    self.findings = findings
  }
}

extension PushIntake {
  /// Checks a draft, and counts its audience on a reader: a large audience takes seconds, and every write would wait.
  ///
  /// - Parameter limit: how long counting may take; nil: as long as it takes.
  /// - Throws: ``NoApp``.
  package func check(_ draft: PushDraft, now: Date, within limit: Duration?) async throws -> PushCheck {
    let (app, credential, unknown) = try await store.read { database in
      guard let app = try App.find(database, bundleID: draft.app) else { throw NoApp(bundleID: draft.app) }
      return (
        app, try CredentialScope.find(database, app: app.id, environment: draft.environment),
        try Device.unknownTokens(database, app: app.id, audience: draft.audience).count
      )
    }
    let query = AudienceQuery(
      app: app.id, environment: draft.environment, platforms: draft.platforms, audience: draft.audience)
    var count: AudienceCount?
    do {
      count = try await store.read(limit: limit) { try query.count($0) }
    } catch let error as SQLiteError where error.code == .interrupt {
      // An audience that takes so long is sent to nevertheless; the engine counts it again without a limit.
      count = nil
    }
    return PushCheck(draft, app: app, credential: credential, count: count, unknown: unknown, now: now)
  }
}
