package import Foundation
package import JSON
package import Model
package import Providers
package import SQLite
package import Store

/// Puts a successor in place: looks, tries it with the push service, and only then moves everything over in one
/// transaction. The same for the page, the API and the command line.
package struct CertificateSwitch: Sendable {
  /// How far it came.
  package enum Outcome: String, Sendable, Hashable {
    /// Nothing stands in the way; nothing was changed.
    case ready
    /// The file cannot take the other's place.
    case stopped
    /// The push service refuses it.
    case refused
    /// The push service could not be asked, and nobody said that this does not matter.
    case untried
  }

  /// What was found.
  package struct Report: Sendable {
    /// The file against what it is to replace.
    package let renewal: Renewal
    /// What the push service says, for each credential.
    package let attempts: [CredentialAttempt]
    /// How far it came.
    package let outcome: Outcome

    /// Why it goes no further, nil if it may.
    package var problems: Problems? {
      switch outcome {
      case .ready: nil
      case .stopped: Problems(renewal.stops)
      case .refused, .untried: Problems(attempts.compactMap { $0.problem() })
      }
    }
  }

  let store: Store
  let attempt: @Sendable (CredentialTrial) async -> ProviderVerdict

  /// - Parameter attempt: makes one trial.
  package init(
    store: Store, attempt: @escaping @Sendable (CredentialTrial) async -> ProviderVerdict
  ) {
    self.store = store
    self.attempt = attempt
  }

  /// Looks, and tries. Changes nothing.
  ///
  /// - Parameters:
  ///   - allowsUntried: whether it may go on although the push service could not be asked.
  ///   - load: the file against what it is to replace.
  package func look(
    allowsUntried: Bool, _ load: @escaping @Sendable (Database) throws -> Renewal
  ) async throws -> Report {
    let renewal = try await store.read { try load($0) }
    guard !renewal.isStopped else { return Report(renewal: renewal, attempts: [], outcome: .stopped) }
    let attempts = try await CredentialAttempt.all(
      store, credentials: renewal.uses.map(\.credentialID), details: renewal.details, material: renewal.material,
      attempt: attempt)
    return Report(
      renewal: renewal, attempts: attempts, outcome: Self.outcome(attempts, allowsUntried: allowsUntried))
  }

  /// What refuses counts whatever is allowed.
  static func outcome(_ attempts: [CredentialAttempt], allowsUntried: Bool) -> Outcome {
    if attempts.contains(where: \.isRefused) { return .refused }
    return attempts.contains(where: \.isUndecided) && !allowsUntried ? .untried : .ready
  }

  /// Moves everything over and keeps the audit line, in the transaction around it.
  ///
  /// - Parameter load: looks once more: what was found may have changed since.
  package static func commit(
    _ database: Database, _ report: Report, sealer: any Sealer, by actor: String, address: String? = nil, now: Date,
    _ load: (Database) throws -> Renewal
  ) throws -> Renewal.Switched {
    let renewal = try load(database)
    let switched = try renewal.carryOut(database, sealer: sealer, by: actor, now: now)
    var detail = switched.audited.object ?? [:]
    detail["trials"] = JSONValue(written: report.attempts)
    try AuditEntry.add(
      database,
      NewAuditEntry(
        actor: actor, action: renewal.isRefill ? "certificate.refill" : "certificate.renew",
        subject: "certificate \(renewal.old.id)", detail: .object(detail), address: address), now: now)
    return switched
  }
}

extension CertificateSwitch.Report {
  /// Writes the members of the schema `Renewal` that say what was found.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("replaces", renewal.old.id)
    json.array("findings", renewal.findings) { json, finding in
      json.object { json in
        json.member("level", finding.level.rawValue)
        json.member("code", finding.problem.code)
        json.member("message", finding.problem.text)
      }
    }
    json.member("trials", attempts)
  }
}
