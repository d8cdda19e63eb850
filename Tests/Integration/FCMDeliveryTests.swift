import Certificates
import Delivery
import Foundation
import HTTP2
import JSON
import Logging
import Model
import OpenSSL
import Providers
import Reactor
import Store
import Synchronization
import TestSupport
import Testing

/// An FCM with its token service: one project, one key.
private final class FCMServer: ServerHandler {
  let key: PublicKey
  let tokens = Mutex<[String]>([])

  init(key: PublicKey) { self.key = key }

  func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    switch request.path {
    case "/token":
      let assertion = String(decoding: request.body, as: UTF8.self).split(separator: "=").last.map(String.init) ?? ""
      let isSigned = (try? JSONWebToken(assertion))?.isSigned(by: key) ?? false  // anything else is refused
      responder.respond(
        isSigned
          ? Self.answer(200, ["access_token": "ya29.x", "expires_in": 3599])
          : Self.answer(400, ["error": "invalid_grant", "error_description": "Invalid JWT Signature."]))
    case "/v1/projects/shop-1a2b3/messages:send":
      guard request.fields["authorization"] == "Bearer ya29.x" else { return responder.respond(Self.answer(401, [:])) }
      let message = (try? JSONValue(parsing: request.body))?["message"] ?? .null  // anything else has no token
      if let token = message["token"]?.string { tokens.withLock { $0.append(token) } }
      responder.respond(Self.answer(200, ["name": "projects/shop-1a2b3/messages/1"]))
    default: responder.respond(ServerResponse(status: 404))
    }
  }

  private static func answer(_ status: Int, _ json: JSONValue) -> ServerResponse {
    ServerResponse(status: status, body: json.bytes)
  }
}

@Suite("From a service account's file to Android devices", .timeLimit(.minutes(2)))
struct FCMDeliveryTests {
  private static func json(_ key: PrivateKey, port: UInt16) -> JSONValue {
    [
      "type": "service_account", "project_id": "shop-1a2b3", "private_key_id": "0123456789abcdef",
      "client_email": "push@shop-1a2b3.iam.gserviceaccount.com", "private_key": .string(key.pkcs8PEM),
      "token_uri": .string("https://localhost:\(port)/token"),
    ]
  }

  private static func file(_ key: PrivateKey, port: UInt16) throws -> CertificateFile {
    try CertificateFile.inspect(data: json(key, port: port).data(), fileName: "shop.json", password: nil)
  }

  private struct World {
    let fcm: FCMServer
    let port: UInt16
    let key: PrivateKey
    let authority: Certificate
    let loop: EventLoop
    let pool: BlockingPool
  }

  private static func run(_ body: (World) async throws -> Void) async throws {
    let now = Date()
    let authority = try CertificateAuthority(
      subject: [.commonName("Authority")], notBefore: now - 3600, notAfter: now + 86_400)
    let (certificate, serverKey) = try authority.issueServer(
      names: ["localhost"], notBefore: now - 3600, notAfter: now + 3600)
    let tls = try TLSContext.server(identity: TLSIdentity(chain: [certificate], key: serverKey), alpn: ["h2"])
    let (serverLoop, loop) = (try EventLoop(name: "server"), try EventLoop(name: "client"))
    let pool = BlockingPool(name: "resolver", threads: 1)
    let key = try PrivateKey.generateRSA()
    let fcm = FCMServer(key: key.publicKey)
    var settings = ServerSettings()
    settings.stopTimeout = .milliseconds(200)
    let server = HTTP2Server(loop: serverLoop, tls: tls, settings: settings, handler: fcm)
    let port = try await server.start(on: try #require(SocketAddress(host: "127.0.0.1", port: 0))).port
    let result: Result<Void, any Error>
    do {
      let world = World(
        fcm: fcm, port: port, key: key, authority: authority.certificate, loop: loop, pool: pool)
      result = .success(try await body(world))
    } catch {
      result = .failure(error)
    }
    await server.stop()
    serverLoop.stop()
    loop.stop()
    pool.stop()
    try result.get()
  }

  @Test("the command line tries a service account before it uses it")
  func command() async throws {
    try await Self.run { world in
      try await CommandRunner.with { box in
        try Data(world.authority.pem.utf8).write(to: URL(fileURLWithPath: box.folder + "/ca.pem"))
        for (name, key) in [("good", world.key), ("wrong", try PrivateKey.generateRSA())] {
          let file = Self.json(key, port: world.port).data()
          try file.write(to: URL(fileURLWithPath: box.folder + "/\(name).json"))
        }
        await box.run("apps", "add", "com.example.shop", "--name", "Shop")
        func add(_ name: String) async -> CommandResult {
          await box.run(
            "certificates", "add", "\(box.folder)/\(name).json", "--app", "com.example.shop", "--use-for", "production",
            "--endpoint", "localhost:\(world.port)", "--trust", "\(box.folder)/ca.pem")
        }
        let refused = await add("wrong")
        #expect(refused.code == 1)
        #expect(refused.errors.contains("invalid_grant (Invalid JWT Signature.)"), "\(refused)")
        let taken = await add("good")
        #expect(taken.code == 0, "\(taken)")
        let list = await box.run("certificates", "list")
        #expect(list.output.contains("fcm_service_account"))
        #expect(list.output.contains("com.example.shop/production"))
        #expect(!list.output.contains("wrong"))
      }
    }
  }

  @Test("a file is tried, bound, and sends; one with another key is refused with Google's words")
  func chain() async throws {
    try await Self.run { world in try await chain(world) }
  }

  private func chain(_ world: World) async throws {
    let (fcm, port, key, authority, now) = (world.fcm, world.port, world.key, world.authority, Date())
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder.path + "/test.sqlite", sealer: SealingKey(), now: now)
    let routes = CredentialRoutes(store: store, loop: world.loop, resolver: world.pool)

    let good = try Self.file(key, port: port)
    let wrong = try Self.file(try PrivateKey.generateRSA(), port: port)
    let sealer = store.sealer
    let (app, kept, other) = try await store.write { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: now)
      let phones = (0..<50).map { number in
        Registration(
          token: DeviceToken(bytes: Array("phone-\(number):APA91bHun4MxP5egoKMwt2KZFBaFUH".utf8)),
          environment: .production, platform: .android)
      }
      _ = try Device.register(database, app: app.id, phones, now: now)
      let labels = CertificateTracker.Labels(fileName: "shop.json", appID: app.id)
      return (
        app, try CertificateTracker.keep(database, good, labels, sealer: sealer, by: "test", now: now),
        try CertificateTracker.keep(database, wrong, labels, sealer: sealer, by: "test", now: now)
      )
    }
    func wanted(_ certificate: TrackedCertificate) -> Credential {
      Credential(
        app: app.id, provider: .fcm, environment: .production, certificate: certificate.id,
        endpoint: "localhost:\(port)", trustPEM: authority.pem)
    }
    let refused = try await CredentialAttempt.binding(wanted(other), app, store: store, attempt: routes.attempt)
    #expect(refused?.verdict == .refused(reason: "invalid_grant (Invalid JWT Signature.)"))
    #expect(refused?.refusal?.code == "trial.refused")
    let taken = try await CredentialAttempt.binding(wanted(kept), app, store: store, attempt: routes.attempt)
    #expect(taken?.verdict == .taken(answer: "200"))
    #expect(fcm.tokens.withLock { $0.isEmpty }, "a trial reaches nobody")

    let draft: JSONValue = [
      "app": "com.example.shop", "environment": "production", "audience": "all", "notification": ["title": "Hello"],
    ]
    let push = try await store.write { database in
      try Credential.bind(
        database, app: app.id, provider: .fcm, environment: .production, certificate: kept.id,
        endpoint: "localhost:\(port)", trustPEM: authority.pem, now: now)
      let new = NewPush(
        uid: UUID().uuidString, seed: 42, appID: app.id, environment: .production, draftJSON: draft.text(),
        source: .api, createdBy: "test")
      return try Push.create(database, new, now: now)
    }
    let engine = DeliveryEngine(store: store, routes: routes, log: Logger(label: "test", sink: MemorySink()))
    await engine.runOnly(push.id)
    #expect(try await store.read { try Push.get($0, id: push.id) }.counts == OutcomeCounts(accepted: 50))
    #expect(fcm.tokens.withLock { Set($0).count } == 50)
    let names = try await store.read { try Delivery.names($0, push: push.id) }
    #expect(names.count == 50 && Set(names.values) == ["projects/shop-1a2b3/messages/1"])

    routes.stop()
    store.close()
  }
}
