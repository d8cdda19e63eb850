package import OpenSSL
package import Model

/// A signing key (`.p8`) of the simulated developer account.
package struct APNsKey: Sendable, Hashable {
  /// The team id, 10 characters: what `iss` of a token must say; nil: any team.
  package var team: String?
  /// The half of the key that Apple keeps.
  package var publicKey: PublicKey
  /// The only environment in which it may be used; nil: both.
  package var environment: Environment?
  /// The only bundle ids to which it may push; nil: all of the team.
  package var bundleIDs: Set<String>?

  /// Creates a key; without restrictions it is what Apple calls team-scoped.
  package init(
    team: String?, publicKey: PublicKey, environment: Environment? = nil, bundleIDs: Set<String>? = nil
  ) {
    self.team = team
    self.publicKey = publicKey
    self.environment = environment
    self.bundleIDs = bundleIDs
  }
}
