package import Store

/// One request to a push service with a certificate or key that is not in use yet, to a device that does not exist:
/// who is taken for a sender hears that the device token is bad, everybody else that he is none.
package struct CredentialTrial: Sendable {
  /// Where and in which environment.
  package let credential: Credential
  /// The app's topic.
  package let topic: String
  /// What is tried.
  package let details: TrackedCertificate.Details
  /// Its private key. A secret.
  package let material: [UInt8]

  /// Creates a trial.
  ///
  /// - Parameter bundleID: of the credential's app.
  package init(
    _ credential: Credential, bundleID: String, details: TrackedCertificate.Details, material: [UInt8]
  ) {
    self.credential = credential
    // A certificate for VoIP alone does not open the app's own topic.
    let isOwn = details.topics.isEmpty || details.topics.contains(bundleID)
    topic = isOwn ? bundleID : details.topics.first { $0.hasPrefix(bundleID + ".") } ?? bundleID
    self.details = details
    self.material = material
  }
}
