/// What sort of thing is kept and watched. The raw values stand in the database and in JSON.
package enum CertificateKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// A certificate that opens a connection to APNs.
  case apnsCertificate = "apns_certificate"
  /// A certificate that opens a connection to APNs for PushKit's VoIP notifications.
  case voipCertificate = "voip_certificate"
  /// Another certificate of Apple: signing, passes, websites, device management.
  case appleCertificate = "apple_certificate"
  /// A `.p8` key for APNs; it does not expire.
  case apnsKey = "apns_key"
  /// A provisioning profile, which an app is built with.
  case provisioningProfile = "provisioning_profile"
  /// A service account of Google's, with which FCM is called; its key does not expire.
  case fcmServiceAccount = "fcm_service_account"
  /// App key and master secret of JPush; they do not expire.
  case jpushKeyPair = "jpush_key_pair"
  /// A certificate of somebody else, as of a host.
  case tlsCertificate = "tls_certificate"
  /// The certificate that a host shows at an address; there is no file.
  case host

  /// Whether it is a secret alone, which lasts until somebody revokes it.
  package var neverExpires: Bool {
    switch self {
    case .apnsKey, .fcmServiceAccount, .jpushKeyPair: true
    case .apnsCertificate, .voipCertificate, .appleCertificate, .provisioningProfile, .tlsCertificate, .host: false
    }
  }
}
