/// What has to be done about an answer of APNs (Apple, "Handling notification responses from APNs";
/// docs/protocols.md §1.6).
enum APNsReason: Sendable, Hashable {
  /// This device, or this request: final.
  case final
  /// Not now: the same request may be sent again.
  case retry
  /// The provider token is too old: a new one, and once more.
  case renewToken
  /// Nothing can be sent with this credential until somebody changes it.
  case stop

  init(status: Int, reason: String) {
    switch (status, reason) {
    case (403, "ExpiredProviderToken"): self = .renewToken
    // BadCertificate, BadCertificateEnvironment, InvalidProviderToken, MissingProviderToken, Forbidden,
    // UnrelatedKeyIdInToken, BadEnvironmentKeyIdInToken, in the wild BadEnvironmentKeyInToken, and what may come.
    case (403, _): self = .stop
    case (400, "IdleTimeout"): self = .retry
    case (429, _), (500..., _): self = .retry
    default: self = .final
    }
  }
}
