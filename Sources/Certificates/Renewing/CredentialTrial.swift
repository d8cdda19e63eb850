package import Store

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
  package init(
    _ credential: Credential, bundleID: String, details: TrackedCertificate.Details, material: [UInt8]
  ) {
    self.credential = credential
    // A VoIP-only certificate does not cover the app's own topic.
    let isOwn = details.topics.isEmpty || details.topics.contains(bundleID)
    topic = isOwn ? bundleID : details.topics.first { $0.hasPrefix(bundleID + ".") } ?? bundleID
    self.details = details
    self.material = material
  }
}
