public import Foundation
public import HTTP2
public import Providers
public import Push
public import Store

/// The way to the devices of one app in one environment: a credential, and the provider's connections behind it.
public protocol Route: Sendable {
  /// The credential's row, for its health.
  var credentialID: Int64 { get }

  /// Sends to each of `members`; every one comes back in exactly one report.
  func send(_ push: RoutedPush, to members: [AudienceMember])

  /// The same, and `notes` is told who leaves, by the place in `members`: nobody leaves without it.
  func send(_ push: RoutedPush, to members: [AudienceMember], noting notes: (any DepartureNotes)?)

  /// Gives up what has not left yet; it comes back as not sent.
  func cancel(push: Int64)

  /// Finishes what is in flight, and goes on over new connections.
  func reconnect()

  /// How the provider stands with its service.
  var state: ProviderState { get }

  /// What is held back at a time, and why.
  func health(at now: Date) -> ProviderHealth
}

extension Route {
  /// Notes all of them at once, where it cannot be known more exactly.
  public func send(_ push: RoutedPush, to members: [AudienceMember], noting notes: (any DepartureNotes)?) {
    for (index, member) in members.enumerated() { notes?.left(index, id: member.id) }
    send(push, to: members)
  }
  /// Nothing: there are no connections.
  public func reconnect() {}
  /// Ready.
  public var state: ProviderState { .ready }
  /// Nothing is held back.
  public func health(at now: Date) -> ProviderHealth { ProviderHealth() }
}

/// What goes along a route, the same for all devices.
public struct RoutedPush: Sendable {
  /// The push's row id.
  public let id: Int64
  /// For the `apns-id` of each device.
  public let seed: UInt64
  /// Headers and payload.
  public let request: APNsRequest

  /// Creates one.
  public init(id: Int64, seed: UInt64, request: APNsRequest) {
    self.id = id
    self.seed = seed
    self.request = request
  }
}

/// Finds routes.
public protocol RouteFinder: Sendable {
  /// The way to the iOS devices of an app.
  ///
  /// - Parameter report: where the results of every push go; the same on every call. Called on a thread that must not
  ///   wait.
  /// - Throws: ``NoRoute``, with the reason in words.
  func route(
    app: Int64, environment: Environment, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> any Route

  /// Closes the connections of credentials that were changed since.
  func refresh() async throws

  /// Tries whether the service takes a certificate or key; see ``CredentialTrial``.
  func attempt(_ trial: CredentialTrial) async -> CredentialTrial.Verdict

  /// How it goes with a credential; nil: nothing is known, because nothing was sent with it since the start.
  func health(credential: Int64, at now: Date) -> ProviderHealth?
}

extension RouteFinder {
  /// Nothing: there are no connections.
  public func refresh() async throws {}
  /// Nothing is known.
  public func attempt(_ trial: CredentialTrial) async -> CredentialTrial.Verdict {
    .undecided(reason: "There is nothing to try it with here.")
  }
  /// Nothing is known.
  public func health(credential: Int64, at now: Date) -> ProviderHealth? { nil }
}

/// Why an app's pushes cannot be sent in an environment.
public struct NoRoute: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  public let description: String

  /// The same, as the outcome of each device.
  public let reason: OwnReason

  /// Creates one.
  public init(_ description: String, _ reason: OwnReason = .credentialUnusable) {
    self.description = description
    self.reason = reason
  }
}

/// The way of a dry run: sends nothing, and says so for each device.
struct DryRoute: Route {
  let report: @Sendable (SendReport) -> Void
  /// No credential's health is concerned.
  let credentialID: Int64 = 0

  func send(_ push: RoutedPush, to members: [AudienceMember]) {
    report(SendReport(push: push.id, results: members.map { ($0.id, .notSent(reason: OwnReason.dryRun.rawValue)) }))
  }

  func cancel(push: Int64) {}
}
