import Foundation
import HTTP2
import OpenSSL
import Model
import Reactor
import Synchronization

@testable import Providers

/// A server on a free port that answers as a closure says. The full stand-in for APNs is the Simulator's.
final class ScriptedAPNs: ServerHandler {
  typealias Script = @Sendable (ServerRequest, ServerResponder, _ number: Int) -> Void

  struct Seen {
    var requests = 0
    var opened = 0
    var ids: [String: Int] = [:]
    var authorizations: [String] = []
    var certificates: [[UInt8]?] = []
    var mostStreamsBeforeFirstAnswer = 0
  }

  let seen = Mutex(Seen())
  private let script: Script

  init(_ script: @escaping Script) { self.script = script }

  func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    let number = seen.withLock { seen in
      seen.requests += 1
      seen.ids[request.fields["apns-id"] ?? "", default: 0] += 1
      if let authorization = request.fields["authorization"], seen.authorizations.last != authorization {
        seen.authorizations.append(authorization)
      }
      return seen.requests
    }
    script(request, responder, number)
  }

  func opened(_ connection: ServerConnection) {
    seen.withLock {
      $0.opened += 1
      $0.certificates.append(connection.clientCertificate)
    }
  }

  static func answer(_ status: Int, _ reason: String? = nil, _ fields: [HeaderField] = []) -> ServerResponse {
    ServerResponse(status: status, fields: fields, body: reason.map { Array("{\"reason\":\"\($0)\"}".utf8) } ?? [])
  }
}

/// A clock that a test moves.
final class ManualClock: Sendable {
  private let time: Mutex<Date>

  init(_ date: Date = Date(timeIntervalSince1970: 1_800_000_000)) { time = Mutex(date) }

  var now: Date { time.withLock { $0 } }
  func advance(minutes: Double) { time.withLock { $0 += minutes * 60 } }
}

/// A provider whose reports a test can wait for.
final class TestProvider: Sendable {
  struct Results: Sendable {
    var results: [Int64: SendResult] = [:]
    /// Devices that were reported more than once.
    var repeated: [Int64] = []
    var states: [ProviderState] = []
    /// What the service called its messages, by device.
    var names: [Int64: String] = [:]
    /// What came, by device, where it was kept.
    var answers: [Int64: ReceivedAnswer] = [:]

    func count(_ result: SendResult) -> Int { results.values.count { $0 == result } }
  }

  private struct State {
    var results = Results()
    var waiting: [(@Sendable (Results) -> Bool, CheckedContinuation<Results, Never>)] = []
  }

  private let state = Mutex(State())
  private let box = Mutex<(any Provider)?>(nil)
  var provider: any Provider { box.withLock { $0 }.unsafelyUnwrapped }

  convenience init(
    _ running: RunningAPNs, _ credentials: APNsCredentials, port: UInt16? = nil, clock: ManualClock = ManualClock(),
    configuration: ClientGroupConfiguration = .init()
  ) throws {
    try self.init(running, clock: clock, configuration: configuration) { tools, trust in
      try APNsProvider(
        credentials, endpoint: .custom(host: "localhost", port: port ?? running.port, trust: trust), tools)
    }
  }

  init(
    _ running: RunningAPNs, clock: ManualClock = ManualClock(), configuration: ClientGroupConfiguration = .init(),
    make: (ProviderTools, _ trust: [UInt8]) throws -> any Provider
  ) throws {
    var configuration = configuration
    configuration.maximumConnections = 2
    configuration.reconnectDelay = .milliseconds(10)
    configuration.maximumReconnectDelay = .milliseconds(50)
    let trust = Array(running.authority.certificate.pem.utf8)
    let tools = ProviderTools(
      loop: running.clientLoop, resolver: running.resolver, connections: configuration, clock: { clock.now },
      report: { [weak self] report in
        self?.change { results in
          results.names.merge(report.names) { $1 }
          results.answers.merge(report.answers) { $1 }
          for (device, result) in report.results {
            if results.results.updateValue(result, forKey: device) != nil { results.repeated.append(device) }
          }
        }
      },
      stateChanged: { [weak self] state in self?.change { $0.states.append(state) } })
    let provider = try make(tools, trust)
    box.withLock { $0 = provider }
    running.providers.withLock { $0.append(provider) }
  }

  func wait(until enough: @escaping @Sendable (Results) -> Bool) async -> Results {
    await withCheckedContinuation { continuation in
      let present: Results? = state.withLock { state in
        if enough(state.results) { return state.results }
        state.waiting.append((enough, continuation))
        return nil
      }
      if let present { continuation.resume(returning: present) }
    }
  }

  private func change(_ body: (inout Results) -> Void) {
    let ready = state.withLock { state in
      body(&state.results)
      let ready = state.waiting.filter { $0.0(state.results) }
      state.waiting.removeAll { $0.0(state.results) }
      return ready.map { ($0.1, state.results) }
    }
    for (continuation, results) in ready { continuation.resume(returning: results) }
  }

  func submit(_ devices: Range<Int64>, push: Int64 = 1, request: APNsRequest = .hello) {
    var batch = APNsBatchBuilder(push: push, request: request, capacity: devices.count)
    for device in devices {
      let token = DeviceToken(bytes: (0..<32).map { UInt8(truncatingIfNeeded: device >> (8 * ($0 % 4))) })
      batch.append(device: device, token: token, id: APNsID(seed: 0x1234_5678_9abc_def0, device: device))
    }
    (provider as? APNsProvider)?.submit(batch.build())
  }

  /// Sends to devices and waits until each has a result.
  func send(_ devices: Range<Int64>, request: APNsRequest = .hello) async -> Results {
    submit(devices, request: request)
    return await wait { results in devices.allSatisfy { results.results[$0] != nil } }
  }
}

extension APNsRequest {
  static var hello: APNsRequest {
    var notification = Notification()
    notification.title = "Hello"
    var draft = PushDraft(
      app: "com.example.app", environment: .development, platforms: [.ios], audience: .all, notification: notification)
    draft.options.timeToLive = 3600
    draft.options.collapseID = "lunch"
    return APNsRequest(APNsPayload(draft), sentAt: Date(timeIntervalSince1970: 1_800_000_000))
  }
}

final class RunningAPNs: Sendable {
  let port: UInt16
  let authority: CertificateAuthority
  let clientLoop: EventLoop
  let resolver: BlockingPool
  /// Stopped at the end.
  let providers = Mutex<[any Provider]>([])

  init(port: UInt16, authority: CertificateAuthority, clientLoop: EventLoop, resolver: BlockingPool) {
    self.port = port
    self.authority = authority
    self.clientLoop = clientLoop
    self.resolver = resolver
  }

  func token() throws -> APNsCredentials {
    .token(key: try PrivateKey.generateP256(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
  }

  /// A client certificate, from this authority or from a stranger.
  func certificate(stranger: Bool = false) throws -> APNsCredentials {
    let issuer = stranger ? try Self.makeAuthority() : authority
    let (certificate, key) = try issuer.issue(
      CertificateBlueprint(
        subject: [.commonName("Apple Push Services: com.example.app")], notBefore: Date(timeIntervalSinceNow: -3600),
        notAfter: Date(timeIntervalSinceNow: 3600)))
    return .certificate(identity: TLSIdentity(chain: [certificate], key: key), topics: ["com.example.app"])
  }

  static func makeAuthority() throws -> CertificateAuthority {
    try CertificateAuthority(
      subject: [.commonName("Authority")], notBefore: Date(timeIntervalSinceNow: -3600),
      notAfter: Date(timeIntervalSinceNow: 86_400))
  }
}

/// Runs a scripted APNs for the time of `body`.
func withAPNs(
  _ script: ScriptedAPNs, requiresCertificate: Bool = false, streams: UInt32 = 1000,
  _ body: (RunningAPNs) async throws -> Void
) async throws {
  let authority = try RunningAPNs.makeAuthority()
  let (certificate, key) = try authority.issueServer(
    names: ["localhost"], notBefore: Date(timeIntervalSinceNow: -3600), notAfter: Date(timeIntervalSinceNow: 3600))
  let tls = try TLSContext.server(
    identity: TLSIdentity(chain: [certificate], key: key), alpn: ["h2"],
    clientCertificate: requiresCertificate
      ? .required(.pem(Array(authority.certificate.pem.utf8))) : .requestedNotRequired)
  let (serverLoop, clientLoop) = (try EventLoop(name: "server"), try EventLoop(name: "client"))
  let resolver = BlockingPool(name: "resolver", threads: 1)
  var settings = ServerSettings()
  settings.stopTimeout = .milliseconds(200)
  settings.maximumStreams = streams
  let server = HTTP2Server(loop: serverLoop, tls: tls, settings: settings, handler: script)
  let bound = try await server.start(on: SocketAddress(host: "127.0.0.1", port: 0).unsafelyUnwrapped)
  let running = RunningAPNs(port: bound.port, authority: authority, clientLoop: clientLoop, resolver: resolver)
  let result: Result<Void, any Error>
  do { result = .success(try await body(running)) } catch { result = .failure(error) }
  running.providers.withLock { $0 }.forEach { $0.stop() }
  await server.stop()
  serverLoop.stop()
  clientLoop.stop()
  resolver.stop()
  try result.get()
}
