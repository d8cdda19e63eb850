package import JSON
package import Model
package import Providers
package import Store
import Text

/// The result of a trial with one credential.
package struct CredentialAttempt: Sendable, Hashable {
  package let credential: Credential
  /// The bundle ID of the credential's app.
  package let bundleID: String
  /// The push service's answer.
  package let verdict: ProviderVerdict

  package init(credential: Credential, bundleID: String, verdict: ProviderVerdict) {
    (self.credential, self.bundleID, self.verdict) = (credential, bundleID, verdict)
  }

  /// Tries a service account or JPush keys that are about to be bound: with Google and JPush a dry run shows at once what
  /// is wrong. A key or certificate of Apple's is not tried here.
  ///
  /// - Returns: nil if nothing was tried.
  package static func binding(
    _ credential: Credential, _ app: App, store: Store, attempt: @Sendable (CredentialTrial) async -> ProviderVerdict
  ) async throws -> CredentialAttempt? {
    guard credential.provider != .apns, credential.place != .simulator, let id = credential.certificateID else {
      return nil
    }
    let sealer = store.sealer
    let (details, material) = try await store.read { database in
      (
        try TrackedCertificate.get(database, id: id).details,
        try TrackedCertificate.material(database, id: id, sealer: sealer)
      )
    }
    let trial = CredentialTrial(credential, bundleID: app.bundleID, details: details, material: material)
    return CredentialAttempt(credential: credential, bundleID: app.bundleID, verdict: await attempt(trial))
  }

  /// Why it is not bound: it was refused. One that could not be tried is bound.
  package var refusal: Problem? { isRefused ? problem(at: "certificate") : nil }

  /// Tries a certificate or key with each credential that would move to it, one after the other.
  ///
  /// - Parameters:
  ///   - credentials: their row IDs.
  ///   - material: the private key to try. A secret.
  ///   - attempt: makes one trial.
  package static func all(
    _ store: Store, credentials ids: [Int64], details: TrackedCertificate.Details, material: [UInt8],
    attempt: @Sendable (CredentialTrial) async -> ProviderVerdict
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
      attempts.append(CredentialAttempt(credential: credential, bundleID: bundleID, verdict: await attempt(trial)))
    }
    return attempts
  }
}

extension CredentialAttempt: JSONObject {
  /// The verdict as a word, with the push service's answer or the reason.
  package var result: (word: String, answer: String) {
    switch verdict {
    case .taken(let answer): ("taken", answer)
    case .refused(let reason): ("refused", reason)
    case .undecided(let reason): ("undecided", reason)
    }
  }

  /// The schema `Trial`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("app", bundleID)
    json.member("environment", credential.environment.rawValue)
    json.member("endpoint", credential.endpoint)
    json.member("result", result.word)
    json.member("answer", result.answer)
  }
}

extension CredentialAttempt {
  var isRefused: Bool { if case .refused = verdict { true } else { false } }
  package var isUndecided: Bool { if case .undecided = verdict { true } else { false } }

  /// Why nothing should move to the file; nil if the push service accepted it.
  ///
  /// - Parameter field: the field that the problem names.
  package func problem(at field: String = "file") -> Problem? {
    let arguments = ["app": bundleID, "environment": credential.environment.rawValue, "endpoint": credential.endpoint]
    switch verdict {
    case .taken: return nil
    case .refused(let reason):
      return Problem(
        field, code: "trial.refused",
        "The push service refused it for {app} in {environment}: {reason}. {remedy}",
        arguments.merging(["reason": reason.withoutFullStop, "remedy": Reason.of(reason).remedy]) { $1 })
    case .undecided(let reason):
      return Problem(
        "untried", code: "trial.undecided",
        "The test for {app} in {environment} ({endpoint}) could not run: {reason}. Try again, or switch without a test.",
        arguments.merging(["reason": reason.withoutFullStop]) { $1 })
    }
  }
}

/// One request to a push service with a certificate or key that is not in use yet. With APNs it goes to a device that
/// does not exist: an accepted sender is told that the device token is bad, any other that it may not send. With FCM it
/// is only validated.
package struct CredentialTrial: Sendable {
  /// Contains the endpoint and the environment.
  package let credential: Credential
  /// The app's topic, or a topic below it if the certificate covers only that.
  package let topic: String
  /// The certificate or key to try.
  package let details: TrackedCertificate.Details
  /// Its private key. A secret.
  package let material: [UInt8]

  /// - Parameter bundleID: the bundle ID of the credential's app.
  package init(_ credential: Credential, bundleID: String, details: TrackedCertificate.Details, material: [UInt8]) {
    self.credential = credential
    // A VoIP-only certificate does not cover the app's own topic.
    let isOwn = details.topics.isEmpty || details.topics.contains(bundleID)
    topic = isOwn ? bundleID : details.topics.first { $0.hasPrefix(bundleID + ".") } ?? bundleID
    (self.details, self.material) = (details, material)
  }
}
