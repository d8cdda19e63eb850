package import Model

/// An app that tells its token. Checked by the caller (token, alias rule, tag rule); kept as it is.
package struct Registration: Sendable {
  /// The token.
  package var token: DeviceToken
  /// The token's environment.
  package var environment: Environment
  /// What the device runs.
  package var platform: Platform
  /// The user.
  package var alias: Change<String?> = .keep
  /// The tags.
  package var tags: Change<[String]> = .keep
  /// The installation's id; another device of the app that had it loses it.
  package var registrationID: Change<String?> = .keep
  /// What people call the device.
  package var name: Change<String?> = .keep

  /// Creates a registration that changes nothing else.
  package init(token: DeviceToken, environment: Environment, platform: Platform) {
    self.token = token
    self.environment = environment
    self.platform = platform
  }
}

/// What became of a registration.
package enum RegistrationResult: Sendable, Hashable {
  /// A device that was not known.
  case added(Int64)
  /// A device that was known by this token; now active, whatever it was.
  case updated(Int64)
  /// Nothing was changed.
  case rejected(Problem)

  /// The device, nil if rejected.
  package var deviceID: Int64? {
    switch self {
    case .added(let id), .updated(let id): id
    case .rejected: nil
    }
  }
}

/// Limits that hold over several devices, or over what a device had before.
package struct DeviceLimits: Sendable, Hashable {
  /// How many devices of an app one alias may have; nil: any number. JPush: 10 (docs/protocols.md §4.4).
  package var devicesPerAlias: Int?
  /// How many tags one device may have. JPush: 1000.
  package var tagsPerDevice: Int

  /// Creates limits.
  package init(devicesPerAlias: Int? = nil, tagsPerDevice: Int = 1000) {
    self.devicesPerAlias = devicesPerAlias
    self.tagsPerDevice = tagsPerDevice
  }
}

/// Whether a value is to be changed.
package enum Change<Value: Sendable>: Sendable {
  /// As it was.
  case keep
  /// To this.
  case set(Value)

  /// What the value becomes.
  func applied(to old: Value) -> Value {
    switch self {
    case .keep: old
    case .set(let new): new
    }
  }
}

extension Change<[String]> {
  /// What the tags of a device become.
  func applied(toTags old: Set<String>) -> Set<String> {
    switch self {
    case .keep: old
    case .set(let tags): Set(tags)
    }
  }
}
