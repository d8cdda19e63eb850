public import OpenSSL
public import Model

/// A signing key (`.p8`) of the simulated developer account.
public struct APNsKey: Sendable, Hashable {
  /// The team id, 10 characters: what `iss` of a token must say; nil: any team.
  public var team: String?
  /// The half of the key that Apple keeps.
  public var publicKey: PublicKey
  /// The only environment in which it may be used; nil: both.
  public var environment: Environment?
  /// The only bundle ids to which it may push; nil: all of the team.
  public var bundleIDs: Set<String>?

  /// Creates a key; without restrictions it is what Apple calls team-scoped.
  public init(
    team: String?, publicKey: PublicKey, environment: Environment? = nil, bundleIDs: Set<String>? = nil
  ) {
    self.team = team
    self.publicKey = publicKey
    self.environment = environment
    self.bundleIDs = bundleIDs
  }
}
