import Foundation
import HTTP2
import JSON
import OpenSSL
import Model
import Reactor
import Synchronization

@testable import Simulator

/// A simulator that runs on free ports for the time of one test, with one phone in each environment.
struct SimulatorScene {
  static let topic = "com.example.shop"
  static let team = "TEAM000001"
  static let keyID = "KEY0000001"

  let simulator: PushSimulator
  let key: PrivateKey
  let phone: SimulatedPhone
  let productionPhone: SimulatedPhone
  let clientLoop: EventLoop
  let resolver: BlockingPool

  var book: PhoneBook { simulator.phones }

  /// `authorization` with a new token.
  ///
  /// - Parameter key: nil for the one that the simulator knows.
  func bearer(_ key: PrivateKey? = nil) throws -> String {
    let token = try JSONWebToken.sign(
      .es256, key: key ?? self.key, header: [("kid", .string(Self.keyID))],
      claims: [("iss", .string(Self.team)), ("iat", .integer(Int64(Date().timeIntervalSince1970)))])
    return "bearer \(token)"
  }

  /// A client of one server; its requests carry a provider token unless a certificate is given.
  func client(
    _ environment: Model.Environment = .development, identity: TLSIdentity? = nil,
    _ configuration: ClientGroupConfiguration = SimulatorClient.configuration()
  ) throws -> SimulatorClient {
    guard let endpoint = simulator.endpoint(SimulatedServer(environment)) else { throw PushSimulatorError.isRunning }
    let tls = try TLSContext.client(trust: endpoint.trust, identity: identity, alpn: ["h2"])
    return SimulatorClient(
      loop: clientLoop, endpoint: .init(host: endpoint.host, port: endpoint.port, tls: tls),
      configuration: configuration, resolver: resolver,
      authorization: identity == nil ? try bearer() : nil)
  }

  /// Runs a simulator for the time of `body`.
  static func run(
    _ change: (inout PushSimulator.Configuration) throws -> Void = { _ in },
    _ body: (SimulatorScene) async throws -> Void
  ) async throws {
    let key = try PrivateKey.generateP256()
    var configuration = PushSimulator.Configuration()
    configuration.knownKeys = [keyID: APNsKey(team: team, publicKey: key.publicKey)]
    configuration.stopTimeout = .milliseconds(200)
    try change(&configuration)
    let simulator = try PushSimulator(configuration: configuration)
    try await simulator.start()
    let book = simulator.phones
    let (loop, resolver) = (try EventLoop(name: "client"), BlockingPool(name: "resolver", threads: 1))
    let result: Result<Void, any Error>
    do {
      let scene = SimulatorScene(
        simulator: simulator, key: key,
        phone: try book.add(NewPhone(name: "Ada", environment: .development, topic: topic)),
        productionPhone: try book.add(NewPhone(name: "Alan", environment: .production, topic: topic)),
        clientLoop: loop, resolver: resolver)
      result = .success(try await body(scene))
    } catch {
      result = .failure(error)
    }
    await simulator.stop()
    loop.stop()
    resolver.stop()
    try result.get()
  }
}

/// An HTTP/2 client whose answers a test can wait for.
final class SimulatorClient: ClientGroupHandler, Sendable {
  struct Reply: Sendable, Equatable {
    var status: Int
    var reason: String?
    var timestamp: Int64?
    var apnsID: String?
    var uniqueID: String?
    var contentType: String?
  }

  struct Ended: Sendable {
    var replies: [Int64: Reply] = [:]
    var unknown: [Answer.Cause] = []
    var notProcessed = 0
    var total = 0
    var goAways: [GoAway] = []

    func count(_ status: Int) -> Int { replies.values.count { $0.status == status } }
  }

  private struct State {
    var group: ClientGroup?
    var ended = Ended()
    var waiting: (@Sendable (Ended) -> Bool, CheckedContinuation<Ended, Never>)?
  }

  private let state = Mutex(State())
  private let authorization: String?
  private let authority: String

  static func configuration(requestTimeout: Duration = .seconds(30)) -> ClientGroupConfiguration {
    var configuration = ClientGroupConfiguration()
    configuration.maximumConnections = 1
    configuration.reconnectDelay = .milliseconds(10)
    configuration.maximumReconnectDelay = .milliseconds(50)
    configuration.interval = .milliseconds(10)
    configuration.connection.requestTimeout = requestTimeout
    configuration.connection.provesFirst = true
    configuration.connection.keepsFieldsOfSuccess = true
    return configuration
  }

  init(
    loop: EventLoop, endpoint: Endpoint, configuration: ClientGroupConfiguration, resolver: BlockingPool,
    authorization: String?
  ) {
    self.authorization = authorization
    authority = endpoint.authority
    let group = ClientGroup(
      loop: loop, endpoint: endpoint, configuration: configuration, resolver: resolver, handler: self)
    state.withLock { $0.group = group }
  }

  /// Sends to each token in turn, and waits for all answers so far.
  @discardableResult
  func send(
    _ tokens: [DeviceToken], topic: String = SimulatorScene.topic, fields: [HeaderField] = [],
    body: String = #"{"aps":{"alert":"Hello"}}"#, authorization: String? = nil
  ) async throws -> Ended {
    let group = try group()
    var common = [HeaderField("apns-topic", topic), HeaderField("apns-push-type", "alert")] + fields
    if let authorization = authorization ?? self.authorization {
      common.append(HeaderField("authorization", authorization))
    }
    let template = RequestTemplate(authority: authority, fields: common, variableNames: ["apns-id"])
    var builder = RequestBatchBuilder(template: template, body: Array(body.utf8), capacity: tokens.count)
    let before = state.withLock { $0.ended.total }
    for (number, token) in tokens.enumerated() {
      builder.append(
        id: Int64(before + number), path: "/3/device/\(token.hexadecimal)", values: [UUID().uuidString.lowercased()])
    }
    group.submit(builder.build())
    return await wait { $0.total >= before + tokens.count }
  }

  func wait(until enough: @escaping @Sendable (Ended) -> Bool) async -> Ended {
    await withCheckedContinuation { continuation in
      let present: Ended? = state.withLock { state in
        if enough(state.ended) { return state.ended }
        state.waiting = (enough, continuation)
        return nil
      }
      if let present { continuation.resume(returning: present) }
    }
  }

  private func group() throws -> ClientGroup {
    guard let group = state.withLock({ $0.group }) else { throw PushSimulatorError.isRunning }
    return group
  }

  /// Ends the group before its loop ends.
  func stop() async throws {
    let group = try group()
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      group.onLoop { group in
        group.stop()
        continuation.resume()
      }
    }
  }

  private func change(_ body: (inout Ended) -> Void) {
    let ready = state.withLock { state -> (CheckedContinuation<Ended, Never>, Ended)? in
      body(&state.ended)
      guard let (enough, continuation) = state.waiting, enough(state.ended) else { return nil }
      state.waiting = nil
      return (continuation, state.ended)
    }
    ready.map { $0.resume(returning: $1) }
  }

  func group(_ group: ClientGroup, ended answers: [Answer]) {
    change { ended in
      for answer in answers {
        ended.total += 1
        switch answer.result {
        case .answered(let status, let detail): ended.replies[answer.id] = Reply(status, detail)
        case .notProcessed: ended.notProcessed += 1
        case .unknown(let cause): ended.unknown.append(cause)
        }
      }
    }
  }

  func group(_ group: ClientGroup, changed state: ClientGroup.State) {}
  func group(_ group: ClientGroup, heard goAway: GoAway) { change { $0.goAways.append(goAway) } }
  func groupWillSend(_ group: ClientGroup) {}
}

extension SimulatorClient.Reply {
  init(_ status: Int, _ detail: Answer.Detail?) {
    self.status = status
    apnsID = detail?.fields["apns-id"]
    uniqueID = detail?.fields["apns-unique-id"]
    contentType = detail?.fields["content-type"]
    // A body that is no JSON has no reason, which the test then misses.
    let json = try? JSONValue(parsing: Data(detail?.body ?? []))
    reason = json?["reason"]?.string
    timestamp = json?["timestamp"]?.integer
  }
}
