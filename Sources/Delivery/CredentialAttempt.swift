import Model
package import Store

/// What came of a trial with one credential.
package struct CredentialAttempt: Sendable, Hashable {
  /// The credential.
  package let credential: Credential
  /// Of its app.
  package let bundleID: String
  /// What the service said.
  package let verdict: CredentialTrial.Verdict

  /// Tries a certificate or key with every credential that is to go over to it, one after the other.
  ///
  /// - Parameters:
  ///   - credentials: their row ids.
  ///   - material: the private key that is tried. A secret.
  ///   - attempt: makes one trial.
  package static func all(
    _ store: Store, credentials ids: [Int64], details: TrackedCertificate.Details, material: [UInt8],
    attempt: @Sendable (CredentialTrial) async -> CredentialTrial.Verdict
  ) async throws -> [CredentialAttempt] {
    let credentials = try await store.read { database in
      try ids.compactMap { id -> (Credential, String)? in
        guard let credential = try Credential.find(database, id: id) else { return nil }
        return (credential, try App.get(database, id: credential.appID).bundleID)
      }
    }
    var attempts: [CredentialAttempt] = []
    for (credential, bundleID) in credentials {
      let trial = CredentialTrial(credential, bundleID: bundleID, details: details, material: material)
      attempts.append(
        CredentialAttempt(credential: credential, bundleID: bundleID, verdict: await attempt(trial)))
    }
    return attempts
  }
}
