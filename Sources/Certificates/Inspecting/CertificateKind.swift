package import Store

/// The kinds of stored and watched items. The raw values are used in the database and in JSON.
package enum CertificateKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// A TLS client certificate for APNs.
  case apnsCertificate = "apns_certificate"
  /// A TLS client certificate for APNs that sends PushKit's VoIP notifications.
  case voipCertificate = "voip_certificate"
  /// Other certificates issued by Apple: signing; passes, websites and device management, which send to their own topic.
  case appleCertificate = "apple_certificate"
  /// A `.p8` key for APNs; does not expire.
  case apnsKey = "apns_key"
  case provisioningProfile = "provisioning_profile"
  /// A Google service account, for FCM; its key does not expire.
  case fcmServiceAccount = "fcm_service_account"
  /// App key and master secret of JPush; do not expire.
  case jpushKeyPair = "jpush_key_pair"
  /// A certificate that Apple did not issue.
  case tlsCertificate = "tls_certificate"
  /// The certificate that a watched host presents; there is no file.
  case host

  /// A plain secret, valid until it is revoked.
  package var neverExpires: Bool {
    switch self {
    case .apnsKey, .fcmServiceAccount, .jpushKeyPair: true
    case .apnsCertificate, .voipCertificate, .appleCertificate, .provisioningProfile, .tlsCertificate, .host: false
    }
  }

  /// The filter of a list that shows this kind alone.
  package var filter: ExpiryList.Filter.Kind { self == .host ? .host : .file(rawValue) }
}
