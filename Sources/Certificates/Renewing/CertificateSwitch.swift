package import Foundation
package import JSON
package import Model
package import Providers
package import SQLite
package import Store

/// Replaces a certificate: checks the new file, tries it with the push service, and only then moves everything in one
/// transaction. Shared by the page, the API and the command line.
package struct CertificateSwitch: Sendable {
  /// Whether the switch may go ahead. Nothing was changed yet.
  package enum Outcome: String, Sendable, Hashable {
    case ready
    /// The file cannot replace the other one.
    case stopped
    /// The push service refused the file.
    case refused
    /// The push service could not be asked, and a switch without a trial was not allowed.
    case untried
  }

  /// The result of a check.
  package struct Report: Sendable {
    /// The new file, compared with the certificate that it replaces.
    package let renewal: Renewal
    /// The push service's answer for each credential.
    package let attempts: [CredentialAttempt]
    package let outcome: Outcome

    /// Why the switch stops; nil if it may go ahead.
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
  package init(store: Store, attempt: @escaping @Sendable (CredentialTrial) async -> ProviderVerdict) {
    (self.store, self.attempt) = (store, attempt)
  }

  /// Checks the file and tries it with the push service. Changes nothing.
  ///
  /// - Parameters:
  ///   - allowsUntried: whether the switch may go ahead if the push service could not be asked.
  ///   - load: compares the file with the certificate that it replaces.
  package func look(
    allowsUntried: Bool, _ load: @escaping @Sendable (Database) throws -> Renewal
  ) async throws -> Report {
    let renewal = try await store.read { try load($0) }
    guard !renewal.isStopped else { return Report(renewal: renewal, attempts: [], outcome: .stopped) }
    let attempts = try await CredentialAttempt.all(
      store, credentials: renewal.uses.map(\.credentialID), details: renewal.details, material: renewal.material,
      attempt: attempt)
    return Report(renewal: renewal, attempts: attempts, outcome: Self.outcome(attempts, allowsUntried: allowsUntried))
  }

  /// A refusal counts even with `allowsUntried`.
  static func outcome(_ attempts: [CredentialAttempt], allowsUntried: Bool) -> Outcome {
    if attempts.contains(where: \.isRefused) { return .refused }
    return attempts.contains(where: \.isUndecided) && !allowsUntried ? .untried : .ready
  }

  /// Moves everything and adds the audit entry, in the caller's transaction.
  ///
  /// - Parameter load: repeats the comparison: its result may have changed since.
  package static func commit(
    _ database: Database, _ report: Report, sealer: any Sealer, by actor: String, address: String? = nil, now: Date,
    _ load: (Database) throws -> Renewal
  ) throws -> Renewal.Switched {
    let renewal = try load(database)
    let switched = try renewal.carryOut(database, sealer: sealer, by: actor, now: now)
    var detail = switched.audited.object ?? [:]
    detail["trials"] = JSONValue(written: report.attempts)
    try AuditEntry.add(
      database, by: actor, renewal.isRefill ? "certificate.refill" : "certificate.renew",
      "certificate \(renewal.old.id)", .object(detail), from: address, now: now)
    return switched
  }
}

extension CertificateSwitch.Report {
  /// Writes the members of the schema `Renewal` that describe the check.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("replaces", renewal.old.id)
    json.objects("findings", renewal.findings) { json, finding in
      json.member("level", finding.level.rawValue)
      json.member("code", finding.problem.code)
      json.member("message", finding.problem.text)
    }
    json.member("trials", attempts)
  }
}
