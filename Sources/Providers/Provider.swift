package import Foundation
package import HTTP2
package import Model
internal import OpenSSL
package import Reactor

/// A push service used with one credential over its own connections.
///
/// Devices come in batches and results go back in ``SendReport``s, each for as many devices as are at hand. The
/// provider chooses how many devices a request names, and its pace: waiting requests are bounded by the window of the
/// pushes; a pause required by the service is an open circuit in ``health(at:)``.
package protocol Provider: AnyObject, Sendable {
  /// Encodes the common part of a push's requests.
  func prepare(_ push: ProviderPush) -> any PreparedPush

  /// Reports the waiting requests of a push as not sent (`Cancelled`). Requests in flight still get their results.
  func cancel(push: Int64)

  /// Finishes requests in flight, and continues on new connections.
  func reconnect()

  /// Reports waiting requests as not sent (`Interrupted`), and closes when those in flight have their results.
  func stop()

  /// Calls `then` if nothing is in flight.
  func ifIdle(_ then: @escaping @Sendable () -> Void)

  /// Sends one request that reaches no device and shows whether the service accepts the credential; its result is
  /// reported for push 0.
  func probe(topic: String)

  /// Asks the service whether it would take a push to these devices, with requests that reach nobody; their results are
  /// reported for push 0.
  ///
  /// - Parameter devices: at most 1000; none for a topic. A service that names one device in a request takes the first.
  /// - Returns: the number of requests; 0: the service has no such call.
  func validate(_ push: ProviderPush, _ devices: [ProviderDevice]) -> Int

  var state: ProviderState { get }

  /// The present limits and their reasons, which callers of ``PreparedPush/send(_:noting:)`` respect.
  func health(at now: Date) -> ProviderHealth
}

extension Provider {
  /// 0, as for APNs.
  package func validate(_ push: ProviderPush, _ devices: [ProviderDevice]) -> Int { 0 }
}

/// A push encoded by a provider.
package protocol PreparedPush: Sendable {
  /// Sends to each device. Every device comes back in exactly one ``SendReport``.
  ///
  /// - Parameter notes: learns which devices leave, by their index in `devices`, before they do.
  func send(_ devices: [ProviderDevice], noting notes: (any DepartureNotes)?)
}

package struct ProviderPush: Sendable {
  /// Comes back with the results.
  package let id: Int64
  /// The public ID; part of the payload.
  package let uid: String
  /// Part of the payload, for receipts; nil: the app cannot report.
  package var signature: String?
  /// Each device's request ID derives from it.
  package let seed: UInt64
  package let draft: PushDraft
  /// The time to live counts from here for devices that say nothing else.
  package let sentAt: Date
  package init(id: Int64, uid: String, signature: String? = nil, seed: UInt64, draft: PushDraft, sentAt: Date) {
    (self.id, self.uid, self.seed, self.draft, self.sentAt) = (id, uid, seed, draft, sentAt)
    self.signature = signature
  }

  /// For a service that takes the time to live in seconds from its request on: what is left of it. Nil: the draft's own
  /// holds, which is none, or 0 for a single attempt, whenever it is made.
  ///
  /// - Parameter first: when the devices were first handed over.
  func timeLeft(at now: Date, since first: Date) -> Int? {
    guard let end = draft.expiration(sentAt: first), end.timeIntervalSince1970 != 0 else { return nil }
    return max(0, Int(end.timeIntervalSince(now).rounded(.up)))
  }
}

package struct ProviderDevice: Sendable, Hashable {
  /// Comes back with the result.
  package let id: Int64
  /// Device token or registration ID.
  package let token: DeviceToken
  package let platform: Platform
  /// The number on the app's icon before the push, for one that counts on.
  package let badge: Int
  /// Which of ``PushDraft/variants`` it gets.
  package let variant: Int
  /// When it was first handed over: its time to live counts from then. Nil: when the push was sent.
  package let firstAt: Date?
  package init(
    id: Int64, token: DeviceToken, platform: Platform = .ios, badge: Int = 0, variant: Int = 0, firstAt: Date? = nil
  ) {
    (self.id, self.token, self.platform, self.badge, self.variant) = (id, token, platform, badge, variant)
    self.firstAt = firstAt
  }
}

/// Creates providers of one kind.
package protocol ProviderMaker: Sendable {
  var kind: ProviderKind { get }

  /// Creates a provider for a credential; it connects with the first batch.
  ///
  /// - Throws: an error about the account, with a text for people.
  func make(_ account: ProviderAccount, _ tools: ProviderTools) throws -> any Provider

  /// The meaning of ``Provider/probe(topic:)``'s result.
  func verdict(_ result: SendResult) -> ProviderVerdict
}

/// The address of a push service.
package enum ProviderEndpoint: Sendable, Hashable {
  /// The service's own server for the environment.
  case service
  /// Another server: the simulator, or a proxy. `trust` holds PEM certificates; nil: the system's.
  case custom(host: String, port: UInt16, trust: [UInt8]?)
}

/// A sender's credential at a service.
package struct ProviderAccount: Sendable {
  /// The name of the certificate or key, for messages.
  package var name: String
  package var environment: Environment
  package var endpoint: ProviderEndpoint
  /// Whether the endpoint is the built-in simulator.
  package var isSimulator = false
  /// The private key, a secret. Nil: none, for the simulator, which accepts any.
  package var secret: [UInt8]?
  /// The certificate chain; nil for a key.
  package var publicPEM: String?
  package var keyID: String?
  package var teamID: String?
  /// Topics of a certificate; empty if unknown.
  package var topics: [String] = []

  package init(name: String, environment: Environment, endpoint: ProviderEndpoint) {
    (self.name, self.environment, self.endpoint) = (name, environment, endpoint)
  }
}

/// Shared resources of all providers.
package struct ProviderTools: Sendable {
  /// Several providers may share one.
  package var loop: EventLoop
  /// Looks up host names.
  package var resolver: BlockingPool
  /// Limits and time-outs of the connections.
  package var connections: ClientGroupConfiguration
  package var clock: @Sendable () -> Date
  /// Receives results on the loop's thread: must return at once.
  package var report: @Sendable (SendReport) -> Void
  /// Called for each change on the loop's thread.
  package var stateChanged: @Sendable (ProviderState) -> Void

  package init(
    loop: EventLoop, resolver: BlockingPool, connections: ClientGroupConfiguration = ClientGroupConfiguration(),
    clock: @escaping @Sendable () -> Date = { Date() }, report: @escaping @Sendable (SendReport) -> Void,
    stateChanged: @escaping @Sendable (ProviderState) -> Void = { _ in }
  ) {
    (self.loop, self.resolver, self.connections, self.clock) = (loop, resolver, connections, clock)
    (self.report, self.stateChanged) = (report, stateChanged)
  }

  /// Whom a connection trusts.
  ///
  /// - Parameter own: the endpoint's own certificates, in PEM form; nil: what every outgoing connection trusts.
  func trust(_ own: [UInt8]?) -> TLSTrust {
    own.map { .pem($0) } ?? .system(and: connections.connection.proxies.trustFile)
  }
}

/// A service's verdict on a credential.
package enum ProviderVerdict: Sendable, Hashable {
  /// Accepted; the answer was about the device.
  case taken(answer: String)
  case refused(reason: String)
  /// Unknown: the service is unreachable or busy.
  case undecided(reason: String)
}

/// An unusable credential, with a text for people.
package struct ProviderProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what to do.
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// What a push service refuses besides a push: a change of a channel, or a question to JPush.
package struct ServiceRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// HTTP; 0 without an answer.
  package let status: Int
  /// The service's reason, or ours.
  package let reason: String

  package init(status: Int, reason: String) { (self.status, self.reason) = (status, reason) }

  package var description: String {
    let known = Reason.of(reason)
    return known.isKnown ? "\(reason): \(known.cause) \(known.remedy)" : "\(status) \(reason)"
  }
}

/// All providers.
package enum ProviderList {
  /// Add a new provider here, and a folder beside `APNs`.
  package static let all: [any ProviderMaker] = [APNsMaker(), FCMMaker(), JPushMaker()]
}
