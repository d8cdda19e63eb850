import Calendar
import Foundation
import HTTP2
import JSON
import Model
import OpenSSL
import Reactor
import Synchronization
import Testing

@testable import Providers

/// An FCM with its token service, on one port.
final class ScriptedFCM: Sendable {
  struct Seen {
    var assertions: [String] = []
    var tokenRequests: [String] = []
    var messages: [JSONValue] = []
    var paths: Set<String> = []
    var authorizations: [String] = []
  }

  let seen = Mutex(Seen())

  /// - Parameters:
  ///   - token: the answer to the request for the first token, the second and so on; nil: a token of an hour.
  ///   - answer: to a message with a device token and an authorization; nil: accepted.
  func script(
    token: @escaping @Sendable (_ number: Int) -> ServerResponse? = { _ in nil },
    answer: @escaping @Sendable (_ token: String, _ authorization: String) -> ServerResponse? = { _, _ in nil }
  ) -> ScriptedAPNs {
    ScriptedAPNs { [self] request, responder, _ in
      if request.fields[":path"] == "/token" {
        let number = seen.withLock { seen in
          let body = String(decoding: request.body, as: UTF8.self)
          seen.tokenRequests.append("\(request.fields["content-type"] ?? "") \(body)")
          seen.assertions.append(String(body.split(separator: "=").last ?? ""))
          return seen.assertions.count
        }
        return responder.respond(
          token(number)
            ?? ServerResponse(
              status: 200,
              body: Array(#"{"access_token":"ya29.\#(number)","expires_in":3599,"token_type":"Bearer"}"#.utf8)))
      }
      let message = (try? JSONValue(parsing: request.body)) ?? .null
      let authorization = request.fields["authorization"] ?? ""
      seen.withLock { seen in
        seen.paths.insert(request.fields[":path"] ?? "")
        seen.messages.append(message)
        if seen.authorizations.last != authorization { seen.authorizations.append(authorization) }
      }
      responder.respond(
        answer(message["message"]?["token"]?.string ?? "", authorization)
          ?? ServerResponse(
            status: 200, fields: [HeaderField("content-type", "application/json")],
            body: Array(#"{"name":"projects/shop-1a2b3/messages/0:1500415314455276%31bd1c9631bd1c96"}"#.utf8)))
    }
  }

  static func error(_ status: Int, _ code: String, _ fields: [HeaderField] = []) -> ServerResponse {
    ServerResponse(
      status: status, fields: fields,
      body: Array(
        #"{"error":{"details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}]}}"#
          .utf8))
  }
}

extension TestProvider {
  static let key = Result { try PrivateKey.generateRSA() }

  convenience init(fcm running: RunningAPNs, clock: ManualClock = ManualClock()) throws {
    let account = ServiceAccount(
      projectID: "shop-1a2b3", clientEmail: "push@shop-1a2b3.iam.gserviceaccount.com", privateKeyID: "kid1",
      tokenURI: "https://localhost:\(running.port)/token", key: try Self.key.get())
    try self.init(running, clock: clock) { tools, trust in
      try FCMProvider(account, endpoint: FCMEndpoint(host: "localhost", port: running.port, trust: trust), tools)
    }
  }

  static func token(_ device: Int64) -> String { "device-\(device):APA91bHun4MxP5egoKMwt2KZFBaFUH" }

  /// Sends an Android push to devices and waits until each has a result.
  func sendFCM(
    _ devices: Range<Int64>, badges: [Int64: Int] = [:], iPhones: Set<Int64> = [],
    change: (inout PushDraft) -> Void = { _ in }
  ) async -> Results {
    startFCM(devices, badges: badges, iPhones: iPhones, change: change)
    return await wait { results in devices.allSatisfy { results.results[$0] != nil } }
  }

  /// Begins to send a push, to Android devices unless others are said.
  func startFCM(
    _ devices: Range<Int64>, badges: [Int64: Int] = [:], iPhones: Set<Int64> = [],
    change: (inout PushDraft) -> Void = { _ in }
  ) {
    var draft = PushDraft(
      app: "com.example.app", environment: .production, platforms: [.android], audience: .all,
      notification: Notification())
    draft.notification.title = "Hello"
    change(&draft)
    let push = ProviderPush(
      id: 1, uid: "u1", seed: 7, draft: draft, sentAt: Date(timeIntervalSince1970: 1_800_000_000))
    provider.prepare(push).send(
      devices.map {
        ProviderDevice(
          id: $0, token: DeviceToken(bytes: Array(Self.token($0).utf8)),
          platform: iPhones.contains($0) ? .ios : .android,
          badge: badges[$0] ?? 0)
      }, noting: nil)
  }
}

@Suite("FCM provider", .timeLimit(.minutes(1)))
struct FCMProviderTests {
  @Test("an iPhone gets APNs' payload and headers in the block apns, with its own counted badge; Android its own part")
  func iPhones() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let client = try TestProvider(fcm: running)
      let results = await client.sendFCM(0..<4, badges: [1: 8, 3: 4], iPhones: [0, 1]) { draft in
        draft.platforms = Set(Platform.allCases)
        draft.notification.badge = .add(1)
        draft.notification.extras = ["order": 7]
        draft.options.collapseID = "lunch"
        draft.options.timeToLive = 60
      }
      #expect(results.count(.outcome(.accepted)) == 4)
      let messages = fcm.seen.withLock { $0.messages }
      for (device, badge) in [(0, 1), (1, 9)] as [(Int64, Int64)] {
        let token = JSONValue.string(TestProvider.token(device))
        #expect(
          messages.first { $0["message"]?["token"] == token } == [
            "message": [
              "token": token,
              "apns": [
                "headers": [
                  "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "1800000060",
                  "apns-collapse-id": "lunch",
                ],
                "payload": [
                  "aps": ["alert": ["title": "Hello"], "badge": .integer(badge)], "order": 7, "sbid": "u1",
                ],
              ],
            ]
          ])
      }
      for (device, badge) in [(2, 1), (3, 5)] as [(Int64, Int64)] {
        let message = messages.first { $0["message"]?["token"] == .string(TestProvider.token(device)) }?["message"]
        #expect(message?["android"]?["notification"]?["notification_count"] == .integer(badge))
        #expect(message?["apns"] == nil)
      }
    }
  }

  @Test("an APNs key that is wrong at Firebase concerns its iPhones alone: Android goes on")
  func thirdParty() async throws {
    let fcm = ScriptedFCM()
    let refusal = ScriptedFCM.error(401, "THIRD_PARTY_AUTH_ERROR")
    let script = fcm.script(answer: { token, _ in token == TestProvider.token(0) ? refusal : nil })
    try await withAPNs(script) { running in
      let client = try TestProvider(fcm: running)
      let results = await client.sendFCM(0..<3, iPhones: [0]) {
        $0.platforms = Set(Platform.allCases)
      }
      #expect(results.count(.outcome(.accepted)) == 2)
      #expect(
        results.results[0]
          == .outcome(.rejected(status: 401, reason: "THIRD_PARTY_AUTH_ERROR", tokenInvalidSince: nil)))
      #expect(fcm.seen.withLock { $0.assertions.count } == 1, "no new access token for it")
    }
  }

  @Test("a badge that is counted differs by device, beside its token")
  func badge() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let client = try TestProvider(fcm: running)
      let results = await client.sendFCM(0..<4, badges: [1: 8, 2: 99_998, 3: 99_999]) { draft in
        draft.notification.badge = .add(2)
        draft.options.collapseID = "lunch"
        draft.notification.extras = ["n": "\"notification_count\":1"]
      }
      #expect(results.count(.outcome(.accepted)) == 4)
      let messages = fcm.seen.withLock { $0.messages }
      for (device, number) in [(0, 2), (1, 10), (2, 99_999), (3, 99_999)] as [(Int64, Int64)] {
        let message = messages.first { $0["message"]?["token"] == .string(TestProvider.token(device)) }
        #expect(
          message?["message"]?["android"] == [
            "priority": "HIGH", "collapse_key": "lunch",
            "notification": ["tag": "lunch", "notification_count": .integer(number)],
          ])
        #expect(message?["message"]?["data"]?["n"] == "\"notification_count\":1")
      }
    }
  }

  @Test(
    "the token address of a service account's file leads nowhere that webhooks may not go",
    arguments: [
      ("metadata.example", "169.254.169.254", "link-local or metadata address"),
      ("intern.example", "127.0.0.1", "not an allowed target"),
    ])
  func tokenAddress(host: String, address: String, words: String) async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let client = try TestProvider(running, clock: ManualClock()) { tools, trust in
        var tools = tools
        tools.connections.connection.lookUp = { name, port in
          name == host
            ? [SocketAddress(host: address, port: port)].compactMap { $0 } : try Socket.resolve(host: name, port: port)
        }
        tools.connections.connection.proxies.targets = try TargetList(["*.corp.example"])
        let account = ServiceAccount(
          projectID: "shop-1a2b3", clientEmail: "push@shop-1a2b3.iam.gserviceaccount.com", privateKeyID: "kid1",
          tokenURI: "https://\(host):\(running.port)/token", key: try TestProvider.key.get())
        return try FCMProvider(
          account, endpoint: FCMEndpoint(host: "localhost", port: running.port, trust: trust), tools)
      }
      @Sendable func reasons(_ results: TestProvider.Results) -> [String] {
        results.states.compactMap { if case .failing(let failure) = $0 { failure.reason } else { nil } }
      }
      client.startFCM(0..<1)
      let reason = reasons(await client.wait { !reasons($0).isEmpty }).first ?? ""
      #expect(reason.contains(words) && reason.contains(host), "\(reason)")
      #expect(fcm.seen.withLock { $0.tokenRequests.isEmpty && $0.messages.isEmpty })
    }
  }

  @Test("the names of the first 200 messages of a push are told")
  func names() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let client = try TestProvider(fcm: running)
      let results = await client.sendFCM(0..<250)
      #expect(results.count(.outcome(.accepted)) == 250)
      #expect(results.names.keys.sorted() == Array(0..<200))
      #expect(Set(results.names.values) == ["projects/shop-1a2b3/messages/0:1500415314455276%31bd1c9631bd1c96"])
    }
  }

  @Test("one signed request for a token, then messages with Google's path and body")
  func shape() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let client = try TestProvider(fcm: running)
      let results = await client.sendFCM(0..<2) { draft in
        draft.options.timeToLive = 60
        draft.options.collapseID = "lunch"
        draft.notification.extras = ["order": 7]
      }
      #expect(results.results == [0: .outcome(.accepted), 1: .outcome(.accepted)])
      let seen = fcm.seen.withLock { $0 }
      #expect(seen.paths == ["/v1/projects/shop-1a2b3/messages:send"])
      #expect(seen.authorizations == ["Bearer ya29.1"])
      #expect(
        seen.messages.first { $0["message"]?["token"] == .string(TestProvider.token(1)) } == [
          "message": [
            "token": .string(TestProvider.token(1)), "notification": ["title": "Hello"],
            "data": ["order": "7", "sbid": "u1"],
            "android": [
              "priority": "HIGH", "ttl": "60s", "collapse_key": "lunch", "notification": ["tag": "lunch"],
            ],
          ]
        ])
      #expect(seen.tokenRequests.count == 1)
      #expect(
        seen.tokenRequests.first?.hasPrefix(
          "application/x-www-form-urlencoded grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        ) == true)
      let assertion = try JSONWebToken(try #require(seen.assertions.first))
      #expect(assertion.isSigned(by: try TestProvider.key.get().publicKey))
      #expect(assertion.algorithm == "RS256" && assertion.keyID == "kid1")
      #expect(assertion.issuer == "push@shop-1a2b3.iam.gserviceaccount.com")
      #expect(assertion.issuedAt == 1_800_000_000 && assertion.expiresAt == 1_800_003_600)
      let claims = try #require(seen.assertions.first?.split(separator: ".").dropFirst().first)
      let json = try JSONValue(parsing: try #require(Base64URL.decode(claims)))
      // The audience is Google's wherever the token URI points (docs/protocols.md §3.1).
      #expect(json["aud"] == "https://oauth2.googleapis.com/token")
      #expect(json["scope"] == "https://www.googleapis.com/auth/firebase.messaging")
    }
  }

  @Test("the time to live is what is left of it when a batch is sent")
  func timeToLive() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let clock = ManualClock()
      let client = try TestProvider(fcm: running, clock: clock)
      clock.advance(minutes: 2)
      _ = await client.sendFCM(0..<1) { $0.options.timeToLive = 300 }
      _ = await client.sendFCM(1..<2) { $0.options.timeToLive = 0 }
      let ttls = fcm.seen.withLock { $0.messages.map { $0["message"]?["android"]?["ttl"] } }
      #expect(ttls == ["180s", "0s"])
    }
  }

  @Test("one token for thousands of messages; a new one before it ends, and not before")
  func oneToken() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let clock = ManualClock()
      let client = try TestProvider(fcm: running, clock: clock)
      #expect(await client.sendFCM(0..<2000).count(.outcome(.accepted)) == 2000)
      clock.advance(minutes: 50)
      _ = await client.sendFCM(2000..<2100)
      #expect(fcm.seen.withLock { $0.assertions.count } == 1)
      // Five minutes before its end the next one is fetched, while the present one still sends.
      clock.advance(minutes: 6)
      var next: Int64 = 2100
      while fcm.seen.withLock({ $0.authorizations.count }) < 2 {
        #expect(await client.sendFCM(next..<next + 1).results[next] == .outcome(.accepted))
        next += 1
      }
      #expect(fcm.seen.withLock { $0.authorizations } == ["Bearer ya29.1", "Bearer ya29.2"])
      #expect(fcm.seen.withLock { $0.assertions.count } == 2)
      #expect(client.provider.health(at: clock.now).isWell)
    }
  }

  @Test(
    "the clocks of Google's services are compared with ours whenever they refuse something", arguments: [-90, 0, 600])
  func clocks(lead: Int) async throws {
    let clock = ManualClock()
    let date = HTTPDate.format(Int(clock.now.timeIntervalSince1970) + lead)
    let fields = [HeaderField("date", date)]
    let early = ServerResponse(
      status: 400, fields: fields,
      body: Array(#"{"error":"invalid_grant","error_description":"Invalid JWT: iat is in the future."}"#.utf8))
    try await withAPNs(ScriptedFCM().script(token: { $0 == 1 ? early : nil })) { running in
      let client = try TestProvider(fcm: running, clock: clock)
      #expect(client.provider.health(at: clock.now).clockLead == nil)
      _ = await client.sendFCM(0..<1)
      #expect(client.provider.health(at: clock.now).clockLead == lead, "the token service")
    }
    let refusal = ServerResponse(
      status: 400, fields: fields, body: Array(#"{"error":{"status":"INVALID_ARGUMENT"}}"#.utf8))
    try await withAPNs(ScriptedFCM().script(answer: { _, _ in refusal })) { running in
      let client = try TestProvider(fcm: running, clock: clock)
      _ = await client.sendFCM(0..<1)
      #expect(client.provider.health(at: clock.now).clockLead == lead, "FCM")
    }
  }

  @Test("a refused service account stops what waits with Google's reason, and is tried again later")
  func refusedAccount() async throws {
    let fcm = ScriptedFCM()
    let refusal = ServerResponse(
      status: 400, body: Array(#"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#.utf8))
    try await withAPNs(fcm.script(token: { $0 == 1 ? refusal : nil })) { running in
      let clock = ManualClock()
      let client = try TestProvider(fcm: running, clock: clock)
      let reason = "invalid_grant (Invalid JWT Signature.)"
      let results = await client.sendFCM(0..<100)
      #expect(results.count(.notSent(reason: reason)) == 100)
      #expect(fcm.seen.withLock { $0.messages.isEmpty })
      let failure = ProviderFailure(kind: .credential, reason: reason, since: clock.now)
      #expect(client.provider.state == .failing(failure))
      let circuit = client.provider.health(at: clock.now).circuit
      #expect(circuit == .open(reason: reason, since: clock.now, until: clock.now + CircuitBreaker.firstPause))
      #expect(await client.sendFCM(100..<200).count(.outcome(.accepted)) == 100)
      _ = await client.wait { $0.states.last == .ready }
      #expect(client.provider.health(at: clock.now).circuit == .closed)
    }
  }

  @Test("a token service that is down: requests wait for it, and it is named")
  func tokenServiceDown() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script(token: { $0 == 1 ? ServerResponse(status: 503) : nil })) { running in
      let client = try TestProvider(fcm: running)
      let results = await client.sendFCM(0..<10)
      #expect(results.count(.outcome(.accepted)) == 10)
      let troubles = results.states.compactMap { state -> ProviderFailure? in
        if case .failing(let failure) = state { failure } else { nil }
      }
      #expect(troubles.map(\.reason) == ["the token service localhost:\(running.port) answers 503"])
      #expect(troubles.allSatisfy { $0.kind == .connection })
    }
  }

  @Test("a token that FCM no longer takes is replaced once for all, and nothing is lost")
  func expiredToken() async throws {
    let fcm = ScriptedFCM()
    let script = fcm.script(answer: { _, authorization in
      authorization == "Bearer ya29.2" ? nil : ServerResponse(status: 401)
    })
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(fcm: running, clock: clock)
      // The first token is young: a new one would be refused too.
      #expect(
        await client.sendFCM(0..<1).results[0]
          == .outcome(.rejected(status: 401, reason: "UNAUTHENTICATED", tokenInvalidSince: nil)))
      #expect(fcm.seen.withLock { $0.assertions.count } == 1)
      clock.advance(minutes: 2)
      let results = await client.sendFCM(1..<501)
      #expect(results.count(.outcome(.accepted)) == 500)
      #expect(results.repeated.isEmpty)
      #expect(fcm.seen.withLock { $0.assertions.count } == 2)
    }
  }

  @Test("refusals are results, each device its own; the credential stays good")
  func refusals() async throws {
    let fcm = ScriptedFCM()
    let answers: [Int64: ServerResponse] = [
      1: ScriptedFCM.error(404, "UNREGISTERED"), 2: ScriptedFCM.error(403, "SENDER_ID_MISMATCH"),
      3: ScriptedFCM.error(429, "QUOTA_EXCEEDED", [HeaderField("retry-after", "90")]),
      4: ScriptedFCM.error(503, "UNAVAILABLE"),
    ]
    let script = fcm.script(answer: { token, _ in
      answers.first { TestProvider.token($0.key) == token }?.value
    })
    try await withAPNs(script) { running in
      let clock = ManualClock()
      let client = try TestProvider(fcm: running, clock: clock)
      let results = await client.sendFCM(0..<5).results
      let expected: [Int64: SendResult] = [
        0: .outcome(.accepted),
        1: .outcome(.rejected(status: 404, reason: "UNREGISTERED", tokenInvalidSince: nil)),
        2: .outcome(.rejected(status: 403, reason: "SENDER_ID_MISMATCH", tokenInvalidSince: nil)),
        3: .retry(RetryCause(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: .seconds(90))),
        4: .retry(RetryCause(status: 503, reason: "UNAVAILABLE")),
      ]
      #expect(results == expected)
      #expect(client.provider.health(at: clock.now).circuit == .closed)
    }
  }

  @Test("a probe is only validated")
  func probe() async throws {
    let fcm = ScriptedFCM()
    try await withAPNs(fcm.script()) { running in
      let client = try TestProvider(fcm: running)
      client.provider.probe(topic: "com.example.app")
      let results = await client.wait { !$0.results.isEmpty }
      #expect(results.results == [0: .outcome(.accepted)])
      #expect(fcm.seen.withLock { $0.messages.map { $0["validate_only"] } } == [true])
    }
  }
}
