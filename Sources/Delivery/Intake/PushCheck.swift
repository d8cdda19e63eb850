import Certificates
package import Foundation
package import Model
import SQLite
package import Store

/// The result of checking a draft: the devices it reaches, and the findings.
package struct PushCheck: Sendable {
  package let draft: PushDraft
  package let app: App
  /// Whose right and approval it needs.
  package let production: ProductionGuard
  /// Nil if counting timed out.
  package let count: AudienceCount?
  /// Tokens in the audience that belong to no device yet; they are registered with the push.
  package let unknown: Int
  /// The linter's findings, errors first, plus an error if the audience is empty.
  package let findings: [Lint.Finding]

  /// The number of devices the push reaches; nil if counting timed out.
  package var reachable: Int? { count.map { $0.reachable + unknown } }

  /// The errors that block sending; empty if there are none.
  package var problems: [Problem] { findings.filter { $0.severity == .error }.map(\.problem) }

  init(
    _ draft: PushDraft, app: App, context: Lint.Context, count: AudienceCount?, unknown: [Registration],
    elsewhere: Int, parkedFor: [String], production: ProductionGuard
  ) {
    (self.draft, self.app, self.count, self.unknown) = (draft, app, count, unknown.count)
    self.production = production
    var findings = Lint.findings(in: draft, context)
    // A mistake that empties the audience is reported instead of the empty audience.
    let isSound = !findings.contains { $0.severity == .error }
    if isSound, count?.reachable == 0, unknown.isEmpty, !draft.options.allowEmptyAudience {
      // A name that no device has may be why.
      findings = findings.map { finding in
        let isName = LintMessage.unknownNames.contains { $0.code == finding.problem.code }
        return isName ? Lint.Finding(severity: .error, problem: finding.problem, fix: finding.fix) : finding
      }
      let nobody = Self.nobody(draft, app, count, elsewhere: elsewhere, parkedFor: parkedFor)
      findings.insert(Lint.Finding(severity: .error, problem: nobody), at: 0)
    }
    if let service = production.service {
      let problem = Problem("environment", ApprovalMessage.countsAsProduction, ["service": service.name])
      findings.append(Lint.Finding(severity: .hint, problem: problem))
    }
    if let count { findings += Self.unserved(draft, app, count, unknown: unknown, context) }
    self.findings = findings.filter { $0.severity == .error } + findings.filter { $0.severity != .error }
  }

  /// Services of the audience that the app has no credential for: errors if nobody is left who gets the push at once; and
  /// those that refused it at its last use: warnings, because it may be right by now.
  private static func unserved(
    _ draft: PushDraft, _ app: App, _ count: AudienceCount, unknown: [Registration], _ context: Lint.Context
  ) -> [Lint.Finding] {
    let services = context.services
    let added = Set(unknown.map(\.reach.provider))
    let wanted = ProviderKind.allCases.filter { count.reachable($0) > 0 || added.contains($0) }
    let isNow = draft.sendAt == nil && draft.recurrence == nil && !draft.options.dryRun
    let reachesNobody = services.isDisjoint(with: wanted) && isNow && !draft.options.allowEmptyAudience
    return wanted.compactMap { service in
      var about = ["app": app.name, "service": service.name, "environment": draft.environment.rawValue]
      if !services.contains(service) {
        return Lint.Finding(
          severity: reachesNobody ? .error : .warning, problem: Problem("app", LintMessage.noCredential, about))
      }
      guard let reason = context.refusals[service] else { return nil }
      about["reason"] = reason
      about["remedy"] = Reason.of(reason).remedy
      return Lint.Finding(severity: .warning, problem: Problem("app", LintMessage.credentialRefused, about))
    }
  }

  /// Why an audience has no active device.
  ///
  /// - Parameter elsewhere: how many it has in the other environment.
  private static func nobody(
    _ draft: PushDraft, _ app: App, _ count: AudienceCount?, elsewhere: Int, parkedFor reasons: [String]
  ) -> Problem {
    let (parked, retired) = (count?.total(.quarantined) ?? 0, count?.total(.dead) ?? 0)
    let message: DraftMessage =
      switch (parked, retired) {
      case (0, 0): elsewhere > 0 ? .nobodyHere : .nobody
      case (_, 0): .nobodyParked
      case (0, _): .nobodyRetired
      default: .nobodyActive
      }
    return Problem(
      "audience", message,
      [
        "app": app.bundleID, "environment": draft.environment.rawValue, "other": draft.environment.other.rawValue,
        "count": String(parked + retired + elsewhere),
        "parked": String(parked), "retired": String(retired), "reasons": reasons.joined(separator: ", "),
      ])
  }
}

extension PushIntake {
  /// Checks a draft and counts its audience. Counting runs on a reader: a large audience takes seconds and would block
  /// every write.
  ///
  /// - Parameter limit: the time limit for counting; nil for none.
  /// - Throws: ``NoApp``.
  package func check(_ draft: PushDraft, now: Date, within limit: Duration?) async throws -> PushCheck {
    var (app, context, unknown, production) = try await store.read { database in
      guard let app = try App.find(database, bundleID: draft.app) else { throw NoApp(bundleID: draft.app) }
      return (
        app, try Lint.Context(database, app, draft, now: now), try Device.unknown(database, of: draft, app: app.id),
        try ProductionGuard(database, app: app.id, draft)
      )
    }
    let query = AudienceQuery(app: app.id, draft, now: now)
    var count: AudienceCount?
    var elsewhere = 0
    do {
      (count, elsewhere) = try await store.read(limit: limit) { database -> (AudienceCount?, Int) in
        let count = try query.count(database)
        guard count.total == 0, draft.audience.subscribers == nil else { return (count, 0) }
        // Most often, a token of a development build is to be sent to in production.
        var other = query
        other.environment = draft.environment.other
        return (count, try other.count(database).reachable)
      }
    } catch let error as SQLiteError where error.code == .interrupt {
      // A push is sent even if counting timed out; the engine counts again without a limit.
      count = nil
    }
    var reasons: [String] = []
    if let count {
      // What was counted knows better than the app's counters which devices JPush reaches.
      context.jpush = draft.platforms.filter { count.reachable(Reach($0, .jpush)) > 0 }
      context.fcm = draft.platforms.filter { platform in
        count.reachable(Reach(platform, .fcm)) > 0 || unknown.contains { $0.reach == Reach(platform, .fcm) }
      }
      if count.reachable == 0, count.total(.quarantined) > 0 {
        reasons = try await store.read { try query.parkedReasons($0) }
      }
    }
    return PushCheck(
      draft, app: app, context: context, count: count, unknown: unknown, elsewhere: elsewhere, parkedFor: reasons,
      production: production)
  }
}
