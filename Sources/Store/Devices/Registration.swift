public import Push

/// An app that tells its token. Checked by the caller (token, alias rule, tag rule); kept as it is.
public struct Registration: Sendable {
  /// The token.
  public var token: DeviceToken
  /// The token's environment.
  public var environment: Environment
  /// What the device runs.
  public var platform: Platform
  /// The user.
  public var alias: Change<String?> = .keep
  /// The tags.
  public var tags: TagChange = .keep
  /// The installation's id; another device of the app that had it loses it.
  public var registrationID: Change<String?> = .keep
  /// What people call the device.
  public var name: Change<String?> = .keep

  /// Creates a registration that changes nothing else.
  public init(token: DeviceToken, environment: Environment, platform: Platform) {
    self.token = token
    self.environment = environment
    self.platform = platform
  }
}
