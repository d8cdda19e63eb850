package import Model

/// A token registration by an app. The caller has validated it.
package struct Registration: Sendable, Hashable {
  package var token: DeviceToken
  package var environment: Environment
  package var platform: Platform
  /// The service that reaches it; nil: the platform's own. JPush's token is its registration ID.
  package var provider: ProviderKind?
  package var alias: Change<String?> = .keep
  package var tags: Change<[String]> = .keep
  /// The installation's ID; another device of the app that had it loses it.
  package var registrationID: Change<String?> = .keep
  /// The display name.
  package var name: Change<String?> = .keep
  package var details = DeviceDetails.Changes()

  /// Creates a registration without other changes.
  package init(token: DeviceToken, environment: Environment, platform: Platform) {
    (self.token, self.environment, self.platform) = (token, environment, platform)
  }

  /// A token that nobody registered, as a device that a push for these platforms may go to.
  package init(unregistered token: DeviceToken, platforms: Set<Platform>, environment: Environment) {
    let isAndroid =
      platforms.contains(.android) && (token.isFirebase || token.isRegistrationID || !platforms.contains(.ios))
    self.init(token: token, environment: environment, platform: isAndroid ? .android : .ios)
    if token.isRegistrationID {
      (provider, registrationID) = (.jpush, .set(token.text))
    } else if token.isFirebase {
      provider = .fcm
    }
  }

  package var reach: Reach { Reach(platform, provider ?? platform.ownProvider) }
}

package enum RegistrationResult: Sendable, Hashable {
  /// A new device.
  case added(Int64)
  /// A device known by this token; now active.
  case updated(Int64)
  /// Nothing was changed.
  case rejected(Problem)

  /// Nil if rejected.
  package var deviceID: Int64? {
    switch self {
    case .added(let id), .updated(let id): id
    case .rejected: nil
    }
  }
}

/// Limits across devices or over time.
package struct DeviceLimits: Sendable, Hashable {
  /// Devices of an app per alias; nil: unlimited. JPush: 10 (docs/protocols.md §4.4).
  package var devicesPerAlias: Int?
  /// Tags per device. JPush: 1000.
  package var tagsPerDevice: Int

  package init(devicesPerAlias: Int? = nil, tagsPerDevice: Int = 1000) {
    (self.devicesPerAlias, self.tagsPerDevice) = (devicesPerAlias, tagsPerDevice)
  }
}

/// A possible change of a value.
package enum Change<Value: Sendable>: Sendable {
  case keep
  case set(Value)

  /// The resulting value.
  func applied(to old: Value) -> Value {
    switch self {
    case .keep: old
    case .set(let new): new
    }
  }
}

extension Change: Equatable where Value: Equatable {}
extension Change: Hashable where Value: Hashable {}

extension Change<[String]> {
  /// The resulting tags of a device.
  func applied(toTags old: Set<String>) -> Set<String> {
    switch self {
    case .keep: old
    case .set(let tags): Set(tags)
    }
  }
}
