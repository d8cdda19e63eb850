package import Foundation
package import HTTP2
package import Model
package import Reactor
/// A push service, used with one credential over connections of its own.
///
/// Devices come in batches and results go back in ``SendReport``s, both for as many devices as there are at hand. How
/// many devices one request names is the provider's own matter, and so is its pace: what it may not send yet waits in
/// it, bounded by the window of the pushes; a wait that the service asks for is an open circuit in ``health(at:)``.
package protocol Provider: AnyObject, Sendable {
  /// Encodes what is the same for all devices of a push.
  func prepare(_ push: ProviderPush) -> any PreparedPush

  /// Reports what has not left of a push as not sent (`Cancelled`). What is in flight still gets its result.
  func cancel(push: Int64)

  /// Finishes what is in flight, and goes on over new connections.
  func reconnect()

  /// Reports what waits as not sent (`Interrupted`), and closes when what is in flight has its results.
  func stop()

  /// Calls `then` if nothing is in flight.
  func ifIdle(_ then: @escaping @Sendable () -> Void)

  /// Sends one request that reaches no device and shows whether the service takes the credential; its result is
  /// reported for push 0.
  func probe(topic: String)

  /// How it stands with its service.
  var state: ProviderState { get }

  /// What is held back at a time, and why. Whoever sends keeps to it.
  func health(at now: Date) -> ProviderHealth
}

/// A push as a provider encodes it.
package protocol PreparedPush: Sendable {
  /// Sends to each of the devices. Every device comes back in exactly one ``SendReport``, whether requests name one
  /// device or a thousand.
  ///
  /// - Parameter notes: is told which devices leave, by their place in `devices`; none leaves without it.
  func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?)
}

/// A push as it is given to a provider.
package struct ProviderPush: Sendable {
  /// Comes back with the results.
  package let id: Int64
  /// Public id; part of the payload.
  package let uid: String
  /// The id of each device's request is made from it, the same each time.
  package let seed: UInt64
  /// What is to be sent.
  package let draft: PushDraft
  /// The moment from which the time to live counts.
  package let sentAt: Date
  package init(id: Int64, uid: String, seed: UInt64, draft: PushDraft, sentAt: Date) {
    (self.id, self.uid, self.seed, self.draft, self.sentAt) = (id, uid, seed, draft, sentAt)
  }
}

/// A device as a provider knows it.
package struct ProviderDevice: Sendable, Hashable {
  /// Comes back with the result.
  package let id: Int64
  /// Device token, or registration id.
  package let token: DeviceToken
  package init(id: Int64, token: DeviceToken) { (self.id, self.token) = (id, token) }
}

/// Makes providers of one kind.
package protocol ProviderMaker: Sendable {
  /// What the service can do.
  var capabilities: ProviderCapabilities { get }

  /// Makes a provider for a credential; it connects with the first batch.
  ///
  /// - Throws: what is wrong with the account, in words for people.
  func make(_ account: ProviderAccount, _ tools: ProviderTools) throws -> any Provider

  /// What a result of ``Provider/probe(topic:)`` says of the credential.
  func verdict(_ result: SendResult) -> ProviderVerdict
}

/// What a push service can do.
package struct ProviderCapabilities: Sendable, Hashable {
  /// Its name.
  package let kind: ProviderKind
  /// Devices that it reaches.
  package let platforms: Set<Platform>
  /// Environments that it has.
  package let environments: Set<Environment>

  /// Creates them.
  package init(kind: ProviderKind, platforms: Set<Platform>, environments: Set<Environment>) {
    (self.kind, self.platforms, self.environments) = (kind, platforms, environments)
  }
}

/// Where a push service is.
package enum ProviderEndpoint: Sendable, Hashable {
  /// The service's own server for the environment.
  case service
  /// Another server: the simulator, or a proxy. `trust` holds certificates in PEM form; nil: the system's.
  case custom(host: String, port: UInt16, trust: [UInt8]?)
}

/// What a service knows a sender by.
package struct ProviderAccount: Sendable {
  /// Of the certificate or key, for messages.
  package var name: String
  /// Development or production.
  package var environment: Environment
  /// Where the service is.
  package var endpoint: ProviderEndpoint
  /// The private key. A secret. Nil: none, as for the simulator, which takes any.
  package var secret: [UInt8]?
  /// The certificate chain; nil: it is a key.
  package var publicPEM: String?
  /// The key's id.
  package var keyID: String?
  /// The team's id.
  package var teamID: String?
  /// Topics that a certificate is for; empty if they are not known.
  package var topics: [String] = []

  /// Creates an account without a key.
  package init(name: String, environment: Environment, endpoint: ProviderEndpoint) {
    (self.name, self.environment, self.endpoint) = (name, environment, endpoint)
  }
}

/// What every provider needs.
package struct ProviderTools: Sendable {
  /// Several providers may share one.
  package var loop: EventLoop
  /// Where host names are looked up.
  package var resolver: BlockingPool
  /// Limits and time-outs of the connections.
  package var connections: ClientGroupConfiguration
  /// The time.
  package var clock: @Sendable () -> Date
  /// Takes results, on the loop's thread: hand them over and return.
  package var report: @Sendable (SendReport) -> Void
  /// Hears of each change, on the loop's thread.
  package var stateChanged: @Sendable (ProviderState) -> Void

  /// Creates them.
  package init(
    loop: EventLoop, resolver: BlockingPool, connections: ClientGroupConfiguration = ClientGroupConfiguration(),
    clock: @escaping @Sendable () -> Date = { Date() }, report: @escaping @Sendable (SendReport) -> Void,
    stateChanged: @escaping @Sendable (ProviderState) -> Void = { _ in }
  ) {
    (self.loop, self.resolver, self.connections, self.clock) = (loop, resolver, connections, clock)
    (self.report, self.stateChanged) = (report, stateChanged)
  }
}

/// What a service thinks of a credential.
package enum ProviderVerdict: Sendable, Hashable {
  /// It takes pushes of this sender; its answer was about the device.
  case taken(answer: String)
  /// It takes none.
  case refused(reason: String)
  /// Nobody can tell: out of reach, or busy.
  case undecided(reason: String)
}

/// A credential that cannot be used, in words for people.
package struct ProviderProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// The providers that there are.
package enum ProviderList {
  /// A new provider is a folder beside `APNs`, and a line here.
  package static let all: [any ProviderMaker] = [
    APNsMaker()
  ]
}
