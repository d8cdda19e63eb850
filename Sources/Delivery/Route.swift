package import Certificates
package import Foundation
package import JSON
import Logging
package import Model
package import Providers
package import Store
import Synchronization

/// The path to an app's devices of one service in one environment: a credential and the provider that sends with it.
package struct Route: Sendable {
  /// The credential's row ID, for its health; 0 without a credential.
  package let credentialID: Int64
  package let provider: any Provider
  package init(credentialID: Int64, provider: any Provider) {
    (self.credentialID, self.provider) = (credentialID, provider)
  }
}

package protocol RouteFinder: Sendable {
  /// The route to an app's devices that one service reaches.
  ///
  /// - Parameter report: receives the results of every push; must be the same on every call. Called on a thread that
  ///   must not block.
  /// - Throws: ``NoRoute``, with the reason as text.
  func route(
    app: Int64, environment: Environment, provider: ProviderKind, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route

  /// Closes the connections of credentials that have changed.
  func refresh() async throws

  /// Tests whether the push service accepts a certificate or key; see ``CredentialTrial``.
  func attempt(_ trial: CredentialTrial) async -> ProviderVerdict

  /// Asks a push service whether it would take a push, without sending it; see ``Provider/validate(_:_:)``.
  ///
  /// - Returns: the first result that is not an acceptance, or the last; nil: the service cannot be asked.
  /// - Throws: ``NoRoute``, `ProviderProblem`, `TLSError`.
  func validate(
    _ push: ProviderPush, _ devices: [ProviderDevice], app: Int64, environment: Environment, provider: ProviderKind
  ) async throws -> SendResult?

  /// Makes one request about an app's broadcast channels; see ``ChannelKeeper``.
  ///
  /// - Throws: `ServiceRefusal`, ``NoRoute``.
  func ask(_ request: ChannelRequest, app: App, environment: Environment) async throws -> ChannelReply

  /// Makes one call to JPush with an app's keys; see ``JPushKeeper``.
  ///
  /// - Returns: JPush's answer; null for an empty one.
  /// - Throws: `ServiceRefusal`, ``NoRoute``, `ProviderProblem`.
  func ask(_ operation: JPushOperation, app: Int64, environment: Environment) async throws -> JSONValue

  /// Subscribes tokens of an app to topics of FCM, or unsubscribes them; see ``TopicKeeper``.
  ///
  /// - Returns: for each batch, a result for each of its tokens.
  /// - Throws: ``NoRoute``, `ProviderProblem`, `CancellationError`.
  func change(_ batches: [TopicBatch], app: Int64, environment: Environment) async throws -> [[TopicResult]]

  /// A credential's health; nil if nothing was sent with it since the start.
  func health(credential: Int64, at now: Date) -> ProviderHealth?
}

extension RouteFinder {
  /// Does nothing: there are no connections.
  package func refresh() async throws {}
  /// Always undecided.
  package func attempt(_ trial: CredentialTrial) async -> ProviderVerdict {
    .undecided(reason: "This cannot be tested here.")
  }
  /// Always nil.
  package func validate(
    _ push: ProviderPush, _ devices: [ProviderDevice], app: Int64, environment: Environment, provider: ProviderKind
  ) async throws -> SendResult? { nil }
  /// Always refused: there is no credential.
  package func ask(_ request: ChannelRequest, app: App, environment: Environment) async throws -> ChannelReply {
    throw NoRoute("Channels cannot be managed here.", .noCredential)
  }
  /// Always refused: there is no credential.
  package func ask(_ operation: JPushOperation, app: Int64, environment: Environment) async throws -> JSONValue {
    throw NoRoute("JPush cannot be asked here.", .noCredential)
  }
  /// Always refused: there is no credential.
  package func change(_ batches: [TopicBatch], app: Int64, environment: Environment) async throws -> [[TopicResult]] {
    throw NoRoute("Topics cannot be managed here.", .noCredential)
  }
  /// Always nil.
  package func health(credential: Int64, at now: Date) -> ProviderHealth? { nil }
}

/// Why an app's pushes cannot be sent in an environment.
package struct NoRoute: Error, Sendable, Hashable, CustomStringConvertible {
  /// The problem and the remedy.
  package let description: String

  /// The same reason, as the outcome of each device.
  package let reason: OwnReason
  package init(_ description: String, _ reason: OwnReason = .credentialUnusable) {
    (self.description, self.reason) = (description, reason)
  }
}

/// Logs state changes only: one line when a provider fails, one when it recovers.
final class RouteLog: Sendable {
  private let credential: Credential
  private let log: Logger?
  /// The last logged failure; nil after a recovery.
  private let told = Mutex<String?>(nil)

  init(_ credential: Credential, _ log: Logger?) { (self.credential, self.log) = (credential, log) }

  func note(_ state: ProviderState) {
    switch state {
    case .idle, .connecting: break
    case .ready:
      guard told.withLock({ $0.take() }) != nil else { return }
      log?.notice("push service available again", ["credential": credential.id, "endpoint": credential.endpoint])
    case .failing(let failure):
      let isNew = told.withLock { told in
        defer { told = failure.reason }
        return told != failure.reason
      }
      guard isNew else { return }
      log?.warning(
        failure.kind == .credential ? "push service refused the credential" : "push service unreachable",
        ["credential": credential.id, "endpoint": credential.endpoint, "reason": failure.reason])
    }
  }
}
