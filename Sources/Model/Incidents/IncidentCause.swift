/// The classes of causes. Each ends in its own way, so that an incident never ends by chance.
package enum IncidentKind: String, Sendable, CaseIterable {
  /// The credential is missing, unusable or refused. Ends when the provider accepts a push that was sent later for the
  /// same app and environment, and a missing one as soon as it is assigned.
  case credential
  /// The provider cannot be reached or cannot do its work. Ends like ``credential``.
  case service
  /// The provider refused what was sent. Ends when it accepts a retry of one of the pushes, or a later run of the
  /// schedule of one of them: other pushes prove nothing.
  case request
  /// Tokens were refused, and their devices are parked. Ends when none of them is parked any more.
  case parked
  /// Many devices are unregistered: opens by number, see ``IncidentLimit``, and ends when they are fewer.
  case unregistered
}

/// What made devices miss a push, as incidents are grouped.
package struct IncidentCause: Sendable, Hashable {
  package let kind: IncidentKind
  /// A code of the catalog of reasons, without remarks.
  package let reason: String

  /// Whether the app has no credential: ends as soon as one is assigned.
  package var isMissingCredential: Bool { kind == .credential && reason == OwnReason.noCredential.rawValue }

  package init(_ kind: IncidentKind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }

  /// The cause of an outcome; nil if the outcome is not a failure: accepted, canceled by a person, a dry run, an interruption of
  /// this server, a device that was parked before or is gone.
  package init?(_ outcome: OutcomeKind, reason word: String?) {
    guard outcome != .accepted, let word else { return nil }
    let head = Reason.head(word)
    switch OwnReason(rawValue: head) {
    case .cancelled, .deviceInactive, .dryRun, .interrupted, .quarantined: return nil
    case .expired where word != head:
      // The time ran out while the provider gave another reason: that one is the cause.
      self.init(outcome, reason: Reason.said(in: word))
      return
    case .expired, .timedOut, .connectionLost, .unreadableAnswer:
      self.init(.service, head)
      return
    default: break
    }
    if outcome == .deadToken {
      self.init(.unregistered, Reason.unregistered(like: word) ?? head)
    } else if Reason.parking.contains(word) {
      self.init(.parked, word)
    } else {
      self.init(Self.kind(Reason.of(word)), head)
    }
  }

  private static func kind(_ reason: Reason) -> IncidentKind {
    switch reason.retry {
    case .afterCredential, .resignOnce: .credential
    case .never where reason.status == 403: .credential
    case .later, .newConnection, .perDevice: .service
    case .never: .request
    }
  }

  /// The cause of a wait: only what keeps everybody from the provider, because a slow answer to one device is no
  /// incident.
  package static func holdUp(_ word: String) -> IncidentCause? {
    switch OwnReason(rawValue: Reason.head(word)) {
    case .untrusted, .timedOut, .connectionLost, .unreadableAnswer: break
    default: guard Reason.of(word).retry == .later else { return nil }
    }
    return IncidentCause(.service, Reason.head(word))
  }
}

extension Reason {
  /// Reasons that park a token. APNs': it may be valid in the other environment. FCM's: it is not one of Firebase's.
  package static let parking: Set<String> = Set(ProviderKind.allCases.compactMap(parking(_:)))

  /// The reason that parks a provider's tokens; nil: none does.
  package static func parking(_ provider: ProviderKind) -> String? {
    switch provider {
    case .apns: APNsCode.badDeviceToken.rawValue
    case .fcm: FCMCode.invalidArgument.rawValue
    case .jpush: nil
    }
  }

  /// The usual reason of a provider for an unregistered device; nil: it has none.
  package static func unregistered(_ provider: ProviderKind) -> String? {
    switch provider {
    case .apns: APNsCode.unregistered.rawValue
    case .fcm: FCMCode.unregistered.rawValue
    case .jpush: nil
    }
  }

  fileprivate static func unregistered(like code: String) -> String? {
    switch of(code).source {
    case .apns: unregistered(.apns)
    case .fcm: unregistered(.fcm)
    default: nil
    }
  }
}

/// When devices that cannot be reached are many.
package enum IncidentLimit {
  /// Fewer devices are no incident, whatever their share.
  package static let devices = 20
  /// Of all devices of the app, environment and provider.
  package static let share = 0.2

  package static func isMany(_ count: Int, of all: Int) -> Bool {
    count >= devices && Double(count) > Double(all) * share
  }

  /// Whether an incident that a person closed has grown enough to reopen: a fifth more devices, and at least 20.
  package static func hasGrown(_ count: Int, since before: Int) -> Bool { count >= before + max(devices, before / 5) }
}
