/// Reasons of APNs that are handled in a way of their own; all of them stand in `Reason+APNs.swift`.
package enum APNsCode: String, Sendable, CaseIterable {
  case badTopic = "BadTopic"
  case expiredProviderToken = "ExpiredProviderToken"
  case idleTimeout = "IdleTimeout"
  case missingTopic = "MissingTopic"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case topicDisallowed = "TopicDisallowed"

  /// Whether it says that the sender may not use the topic.
  var isAboutTopic: Bool {
    switch self {
    case .badTopic, .missingTopic, .topicDisallowed: true
    case .expiredProviderToken, .idleTimeout, .tooManyProviderTokenUpdates: false
    }
  }
}

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
    switch (status, APNsCode(rawValue: reason)) {
    case (403, .expiredProviderToken): self = .renewToken
    // BadCertificate, BadCertificateEnvironment, InvalidProviderToken, MissingProviderToken, Forbidden,
    // UnrelatedKeyIdInToken, BadEnvironmentKeyIdInToken, in the wild BadEnvironmentKeyInToken, and what may come.
    case (403, _): self = .stop
    case (400, .idleTimeout): self = .retry
    case (429, _), (500..., _): self = .retry
    default: self = .final
    }
  }
}
