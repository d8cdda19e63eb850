package import Certificates
package import Foundation
package import Providers
package import Model

/// The way to the devices of one app in one environment: a credential, and the provider that sends with it.
package struct Route: Sendable {
  /// The credential's row, for its health; 0: no credential is concerned.
  package let credentialID: Int64
  /// Devices that it reaches.
  package let platforms: Set<Platform>
  /// Sends.
  package let provider: any Provider
  package init(credentialID: Int64, platforms: Set<Platform>, provider: any Provider) {
    (self.credentialID, self.platforms, self.provider) = (credentialID, platforms, provider)
  }
}

/// Finds routes.
package protocol RouteFinder: Sendable {
  /// The way to the devices of an app.
  ///
  /// - Parameter report: where the results of every push go; the same on every call. Called on a thread that must not
  ///   wait.
  /// - Throws: ``NoRoute``, with the reason in words.
  func route(
    app: Int64, environment: Environment, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route

  /// Closes the connections of credentials that were changed since.
  func refresh() async throws

  /// Tries whether the service takes a certificate or key; see ``CredentialTrial``.
  func attempt(_ trial: CredentialTrial) async -> ProviderVerdict

  /// How it goes with a credential; nil: nothing is known, because nothing was sent with it since the start.
  func health(credential: Int64, at now: Date) -> ProviderHealth?
}

extension RouteFinder {
  /// Nothing: there are no connections.
  package func refresh() async throws {}
  /// Nothing is known.
  package func attempt(_ trial: CredentialTrial) async -> ProviderVerdict {
    .undecided(reason: "This cannot be tested here.")
  }
  /// Nothing is known.
  package func health(credential: Int64, at now: Date) -> ProviderHealth? { nil }
}

/// Why an app's pushes cannot be sent in an environment.
package struct NoRoute: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  package let description: String

  /// The same, as the outcome of each device.
  package let reason: OwnReason
  package init(_ description: String, _ reason: OwnReason = .credentialUnusable) {
    self.description = description
    self.reason = reason
  }
}
